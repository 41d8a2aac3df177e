/** A connected agent's sending side, for tests: with a key of its own. */

import { toBase64url } from "@handfast/protocol";
import type { TestRelay } from "../../../../relay/src/testing/test-relay.ts";
import type { Base, Warning } from "../../base.ts";
import { connect } from "../../connect.ts";
import type { Duration } from "../../duration.ts";
import type { Sending } from "../api.ts";
import { sending } from "../sending.ts";

export interface OpenSender extends Sending {
  readonly base: Base;
  /** To connect as the same agent again. */
  readonly key: string;
  readonly warnings: readonly Warning[];
  close(): Promise<void>;
}

export interface OpenOptions {
  readonly key?: string;
  readonly transport?: "websocket" | "http";
  readonly patience?: Duration;
}

export async function openSender(relay: TestRelay, agent: string, options: OpenOptions = {}): Promise<OpenSender> {
  const { key = newKey(), transport = "websocket", patience = "30s" } = options;
  const warnings: Warning[] = [];
  const onWarning = (warning: Warning) => void warnings.push(warning);
  const client = await connect({ url: relay.url, agent, key, transport, patience, onWarning });
  const own = sending(client.base);
  const close = async () => {
    await own.settled();
    await client.close();
  };
  return { ...own, base: client.base, key, warnings, close };
}

function newKey(): string {
  return toBase64url(crypto.getRandomValues(new Uint8Array(32)));
}
