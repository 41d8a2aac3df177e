/**
 * The operator's token in the data directory of a relay on this machine: found, not given for the relay that is called. So it goes only
 * to the one whose data directory that is, which states the key that lies beside the token. It does not prove that it has it: this keeps
 * a secret from a relay that was named by mistake, and from other programs on a port, not from one that poses as this relay.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { AboutRelay } from "@handfast/protocol/wire";
import type { ClientSettings } from "./client-settings.ts";

export interface FoundToken {
  readonly token: string;
  /** Public half of the key of the relay that takes it. */
  readonly relay_key: string;
}

/** The first is the relay's own; of nodes on one database, which keeps theirs, there is the public half only. */
const key_files = ["relay-key.json", "relay-key.public.json"];
const answer_ms = 2_000;
const again_ms = 100;

/** Null: none is here, or it does not say whose. Whoever may read these files is the relay's operator. */
export function findToken({ url, isNamed, data }: ClientSettings): FoundToken | null {
  if (isNamed || !isLoopback(url)) return null;
  const token = textOf(join(data, "operator-token"))?.trim();
  const [relay_key] = key_files.flatMap((file) => keyIn(textOf(join(data, file))) ?? []);
  return token === undefined || token === "" || relay_key === undefined ? null : { token, relay_key };
}

export interface Asked {
  readonly url: string;
  readonly patience_ms: number;
  readonly signal?: AbortSignal | undefined;
}

/** Whether the relay that is called is the token's: one look, where one answers. A relay that is just starting is waited for. */
export async function isTakenBy({ relay_key }: FoundToken, { url, patience_ms, signal }: Asked): Promise<boolean> {
  const since = performance.now();
  for (;;) {
    try {
      return (await statedKey(url, signal)) === relay_key;
    } catch (error) {
      signal?.throwIfAborted();
      if (performance.now() - since + again_ms > patience_ms) {
        const { RelayUnreachable } = await import("@handfast/client");
        throw new RelayUnreachable(url, patience_ms, error);
      }
    }
    await pause(again_ms, undefined, { signal });
  }
}

/** Undefined: what answers is no relay. Throws where nothing does, or only for now. */
async function statedKey(url: string, signal: AbortSignal | undefined): Promise<string | undefined> {
  const base = url.replace(/^ws/, "http").replace(/\/+$/, "");
  const timeout = AbortSignal.timeout(answer_ms);
  const response = await fetch(`${base}/.well-known/handfast`, {
    redirect: "manual",
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
  });
  const text = await response.text();
  if (response.status >= 500 || response.status === 429) throw new Error(`it answered ${response.status}`);
  return response.ok ? keyIn(text, (about) => (about as Partial<AboutRelay>).relay_key) : undefined;
}

function keyIn(text: string | undefined, jwkIn = (value: object): unknown => value): string | undefined {
  try {
    const value: unknown = JSON.parse(text ?? "null");
    const jwk = typeof value === "object" && value !== null ? jwkIn(value) : null;
    const x = typeof jwk === "object" && jwk !== null && "x" in jwk ? jwk.x : null;
    return typeof x === "string" ? x : undefined;
  } catch {
    return undefined;
  }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function isLoopback(url: string): boolean {
  const host = URL.parse(url)?.hostname ?? "";
  return host === "localhost" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
}
