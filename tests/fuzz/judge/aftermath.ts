/**
 * The store after the run, read from disk while no relay runs: sound as a file, every handoff whole and ended, every
 * history without a gap, and everything in it that the relay ever confirmed.
 */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Handoff, type HandoffEvent, hasEnded } from "@handfast/core";
import type { Store } from "@handfast/engine";
import { databaseName, openSqliteStore } from "@handfast/store-sqlite";
import type { Ledger } from "./ledger.ts";

const namespace = "default";
const page = 500;
const ends: ReadonlySet<string> = new Set(["completed", "failed", "rejected", "canceled", "expired"]);
const most_faults = 20;

export interface Aftermath {
  readonly faults: readonly string[];
  readonly handoffs: number;
  readonly events: number;
  readonly states: Readonly<Record<string, number>>;
}

interface History {
  seq: number;
  end: string | null;
  end_fence: number | null;
  is_taken: boolean;
  is_purged: boolean;
  readonly correlation_id: string;
}

export async function examine(directory: string, ledger: Ledger): Promise<Aftermath> {
  const faults = fileFaults(join(directory, databaseName));
  const store = await openSqliteStore({ directory });
  try {
    const { histories, events } = await readHistories(store, faults);
    const { handoffs, states } = await readHandoffs(store, histories, faults);
    ledgerFaults(ledger, histories, faults);
    return { faults: faults.slice(0, most_faults), handoffs, events, states };
  } finally {
    await store.close();
  }
}

function fileFaults(path: string): string[] {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const found = database
      .prepare("PRAGMA integrity_check")
      .all()
      .map((row) => String(row["integrity_check"]));
    return found.length === 1 && found[0] === "ok" ? [] : found.map((what) => `integrity_check: ${what}`);
  } finally {
    database.close();
  }
}

async function readHistories(store: Store, faults: string[]) {
  const histories = new Map<string, History>();
  let after_pos = 0;
  let events = 0;
  for (;;) {
    const read = await store.events({ namespace, after_pos, limit: page });
    for (const { pos, json } of read.events) {
      if (pos <= after_pos) faults.push(`the log goes from ${after_pos} to ${pos}`);
      after_pos = pos;
      events += 1;
      const event = JSON.parse(json);
      // What is of no handoff has no history to fit into.
      if (event.handoff !== undefined) readEvent(histories, event, faults);
    }
    if (read.events.length < page) return { histories, events };
  }
}

function readEvent(histories: Map<string, History>, event: HandoffEvent, faults: string[]): void {
  const { handoff: id, seq, type, correlation_id } = event;
  const history = histories.get(id) ?? {
    seq: 0,
    end: null,
    end_fence: null,
    is_taken: false,
    is_purged: false,
    correlation_id,
  };
  histories.set(id, history);
  if (seq !== history.seq + 1) faults.push(`${id}: event ${seq} (${type}) follows ${history.seq}`);
  if (correlation_id !== history.correlation_id) faults.push(`${id}: the correlation changed to ${correlation_id}`);
  history.seq = seq;
  if (type === "taken") history.is_taken = true;
  if (type === "purged") history.is_purged = true;
  if (!ends.has(type)) return;
  if (history.end !== null) faults.push(`${id}: ${type} after it was ${history.end}`);
  history.end = type;
  history.end_fence = "fence" in event ? event.fence : null;
}

async function readHandoffs(store: Store, histories: ReadonlyMap<string, History>, faults: string[]) {
  const states: Record<string, number> = {};
  const present = new Set<string>();
  let handoffs = 0;
  let after: { after?: string } = {};
  for (;;) {
    const list = await store.list({ namespace, order: "oldest", limit: page, ...after });
    for (const handoff of list.handoffs) {
      handoffs += 1;
      const { state } = handoff.status;
      states[state] = (states[state] ?? 0) + 1;
      present.add(handoff.accepted.id);
      handoffFaults(handoff, histories.get(handoff.accepted.id), faults);
    }
    if (list.after === null) break;
    after = { after: list.after };
  }
  for (const [id, { is_purged }] of histories) {
    if (!present.has(id) && !is_purged) faults.push(`${id}: it has a history, and is not there`);
    if (present.has(id) && is_purged) faults.push(`${id}: it was purged, and is there`);
  }
  const counted = await store.counts(namespace);
  const differs = [...new Set([...Object.keys(states), ...Object.keys(counted)])].filter(
    (state) => (states[state] ?? 0) !== (counted[state] ?? 0),
  );
  if (differs.length > 0)
    faults.push(`the store counts ${JSON.stringify(counted)}, there are ${JSON.stringify(states)}`);
  const open = await store.openBySender();
  if (open.some((sender) => sender.open !== 0))
    faults.push(`the store counts open handoffs: ${JSON.stringify(open.slice(0, 5))}`);
  return { handoffs, states };
}

function handoffFaults(handoff: Handoff, history: History | undefined, faults: string[]): void {
  const { accepted, status, seq } = handoff;
  const { id } = accepted;
  if (history === undefined) return void faults.push(`${id}: it is there without a history`);
  if (seq !== history.seq) faults.push(`${id}: its last event is ${history.seq}, it says ${seq}`);
  if (accepted.correlation_id !== history.correlation_id) faults.push(`${id}: its events name another correlation`);
  if (!hasEnded(status)) return void faults.push(`${id}: it is ${status.state} still`);
  if (status.state !== history.end) faults.push(`${id}: it is ${status.state}, its history says ${history.end}`);
  if ((status.taken_at !== null) !== history.is_taken)
    faults.push(`${id}: it was taken, or its history says so, not both`);
  if (status.chores.children || status.chores.route) faults.push(`${id}: a chore is left`);
}

function ledgerFaults(
  { accepted, completed, taken }: Ledger,
  histories: ReadonlyMap<string, History>,
  faults: string[],
): void {
  for (const id of accepted) if (!histories.has(id)) faults.push(`${id}: it was accepted, and is lost`);
  for (const [id, fence] of completed) {
    const history = histories.get(id);
    if (history?.end !== "completed" || history.end_fence !== fence) {
      faults.push(
        `${id}: it was confirmed as completed under fence ${fence}, its history says ${history?.end} ${history?.end_fence}`,
      );
    }
  }
  for (const id of taken)
    if (histories.get(id)?.is_taken !== true) faults.push(`${id}: it was confirmed as taken, and is not`);
}

/** Whatever lies beside the relay's data was written where nothing should be. */
export function strayFiles(room: string): readonly string[] {
  return readdirSync(room)
    .filter((name) => name !== "data" && name !== "home")
    .map((name) => `the relay wrote ${name} beside its data`);
}
