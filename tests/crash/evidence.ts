/** What there is to judge by after a run: the relay's log and lists, and what every sender and worker wrote down. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import type { HandoffView, OutcomeView } from "@handfast/protocol/wire";
import { Caller } from "../support/caller.ts";
import type { RelayProcess } from "../support/relay-process.ts";
import { readJournal } from "./journal.ts";
import type { SenderLine, WorkerLine } from "./lines.ts";
import type { Party } from "./party.ts";

/** An event of the log, as far as it is looked at here. */
export interface LogEvent {
  readonly type: string;
  readonly handoff: string;
  readonly seq: number;
  readonly at: number;
  readonly correlation_id: string;
  readonly causation_id: string | null;
  readonly from: string;
  readonly fence?: number | null;
  readonly worker?: string | null;
  readonly why?: string;
  readonly number?: number;
}

interface LogLine {
  readonly pos: number;
  readonly event: LogEvent;
  /** Of an accept the input, of an end the output, as JSON. */
  readonly payload?: { readonly input?: unknown };
}

/** A handoff as the relay lists it, as far as it is looked at here. */
export interface ListedHandoff extends Pick<HandoffView, "id" | "idempotency_key" | "from" | "state" | "code"> {
  readonly outcome: Pick<OutcomeView, "fence" | "error"> | null;
  readonly limits: Pick<HandoffView["limits"], "lease_ms">;
}

interface SenderTold {
  readonly name: string;
  readonly lines: readonly SenderLine[];
}

export interface WorkerTold {
  readonly name: string;
  readonly killed_at: readonly number[];
  readonly lines: readonly WorkerLine[];
}

export interface Evidence {
  readonly log: readonly LogLine[];
  readonly handoffs: readonly ListedHandoff[];
  readonly dead_letters: readonly ListedHandoff[];
  readonly senders: readonly SenderTold[];
  readonly workers: readonly WorkerTold[];
  /** When the relay was there again, in milliseconds since 1970. */
  readonly relay_back_at: readonly number[];
}

export async function gatherEvidence(
  relay: RelayProcess,
  parties: readonly Party[],
  relay_back_at: readonly number[],
): Promise<Evidence> {
  const token = readFileSync(join(relay.directory, "operator-token"), "utf8").trim();
  const operator = Caller.withToken(relay.url, token);
  return {
    relay_back_at,
    log: await readLog(relay.url, token),
    handoffs: await readAll(operator, "/v1/handoffs?limit=500", "handoffs"),
    dead_letters: await readAll(operator, "/v1/dead-letters?limit=500&status=any", "dead_letters"),
    senders: parties.flatMap(({ role }) =>
      role.kind === "sender" ? [{ name: role.name, lines: readJournal<SenderLine>(role.settings.journal) }] : [],
    ),
    workers: parties.flatMap(({ role, killed_at }) =>
      role.kind === "worker"
        ? [{ name: role.name, killed_at, lines: readJournal<WorkerLine>(role.settings.journal) }]
        : [],
    ),
  };
}

async function readLog(url: string, token: string): Promise<readonly LogLine[]> {
  const response = await fetch(`${url}/v1/log?payloads=inline`, { headers: { authorization: `Bearer ${token}` } });
  if (!response.ok || response.body === null) throw new Error(`the log answered ${response.status}`);
  const lines: LogLine[] = [];
  for await (const line of createInterface({ input: Readable.fromWeb(response.body) })) lines.push(JSON.parse(line));
  return lines;
}

async function readAll(caller: Caller, path: string, member: string): Promise<readonly ListedHandoff[]> {
  const all: ListedHandoff[] = [];
  let cursor: unknown = null;
  do {
    const { status, body } = await caller.get(cursor === null ? path : `${path}&cursor=${cursor}`);
    const page = body[member];
    if (status !== 200 || !Array.isArray(page)) throw new Error(`${path} answered ${status}`);
    all.push(...page);
    cursor = body["cursor"];
  } while (cursor !== null);
  return all;
}
