/** Reads of single things. */

import { type Handoff, liveLease, type Ready, type Tie } from "@handfast/core";
import { type Body, type BodyKind, bodyOf, parseState, readyOf, type Store } from "@handfast/engine";
import { Rows, textArray } from "./arrays.ts";
import type { Asks, Parameter } from "./connection.ts";
import { number, type Row, text, textOrNull } from "./rows.ts";
import { findHeld, findServed, findServedOfSender, holderShape } from "./sql/dispatch.ts";
import { bodyNameShape, findBodies, findNamedBodies, findOwnBody, loadHandoffs, nameShape } from "./sql/handoff.ts";
import { findKeys, findPurged, keyShape } from "./sql/key.ts";
import { talkOf } from "./standing.ts";

export interface AskedHandoff {
  readonly namespace: string;
  readonly id: string;
}

export async function readHandoffs(asks: Asks, asked: readonly AskedHandoff[]): Promise<readonly (Handoff | null)[]> {
  const found: (Handoff | null)[] = asked.map(() => null);
  if (asked.length === 0) return found;
  const rows = new Rows(nameShape);
  for (const { namespace, id } of asked) rows.add({ namespace, id });
  for (const row of await asks.ask(loadHandoffs, ...rows.parameters())) {
    found[number(row, "place") - 1] = withBeat(handoffOf(row), row);
  }
  return found;
}

/** What the holder said since the last commit stands beside its lease. */
function withBeat(handoff: Handoff, row: Row): Handoff {
  const lease = liveLease(handoff);
  const { status } = handoff;
  if (lease === null || row["beat_fence"] !== lease.fence) return handoff;
  if (status.state !== "delivered" && status.state !== "working" && status.state !== "waiting") return handoff;
  const beat_at = number(row, "beat_at");
  if (beat_at < lease.beat_at) return handoff;
  const said = textOrNull(row, "progress");
  const progress = said === null ? handoff.progress : JSON.parse(said);
  return { ...handoff, status: { ...status, lease: { ...lease, beat_at } }, progress };
}

export function handoffOf(row: Row): Handoff {
  return { ...parseState(text(row, "json")), accepted: JSON.parse(text(row, "accepted")) };
}

export interface AskedKey {
  readonly namespace: string;
  readonly from: string;
  readonly key: string;
}

export async function readKeys(
  asks: Asks,
  asked: readonly AskedKey[],
): Promise<readonly ({ readonly id: string; readonly content: string } | null)[]> {
  const rows = new Rows(keyShape);
  for (const { namespace, from: sender, key } of asked) rows.add({ namespace, sender, key });
  const found: ({ readonly id: string; readonly content: string } | null)[] = asked.map(() => null);
  for (const row of await asks.ask(findKeys, ...rows.parameters())) {
    found[number(row, "place") - 1] = { id: text(row, "id"), content: text(row, "content") };
  }
  return found;
}

export interface AskedHolder {
  readonly namespace: string;
  readonly agent: string;
  readonly worker: string;
  /** Null: whatever the request. */
  readonly request_id: string | null;
}

/** What each of these workers holds. */
export async function readHeld(asks: Asks, asked: readonly AskedHolder[]): Promise<readonly (readonly string[])[]> {
  const rows = new Rows(holderShape);
  for (const { namespace, agent, worker, request_id } of asked) rows.add({ namespace, agent, worker, request_id });
  const found: string[][] = asked.map(() => []);
  for (const row of await asks.ask(findHeld, ...rows.parameters())) {
    found[number(row, "place") - 1]?.push(text(row, "id"));
  }
  return found;
}

export async function readPurged(asks: Asks, asked: readonly AskedHandoff[]): Promise<readonly boolean[]> {
  const rows = new Rows(nameShape);
  for (const { namespace, id } of asked) rows.add({ namespace, id });
  const found = asked.map(() => false);
  for (const row of await asks.ask(findPurged, ...rows.parameters())) found[number(row, "place") - 1] = true;
  return found;
}

export interface AskedBody extends AskedHandoff {
  readonly kind: BodyKind;
  readonly number: number;
}

export async function readNamedBodies(asks: Asks, asked: readonly AskedBody[]): Promise<readonly (Body | null)[]> {
  const rows = new Rows(bodyNameShape);
  for (const { namespace, id, kind, number } of asked) rows.add({ namespace, id, kind, number });
  const found: (Body | null)[] = asked.map(() => null);
  for (const row of await asks.ask(findNamedBodies, ...rows.parameters()))
    found[number(row, "place") - 1] = bodyOf(row);
  return found;
}

export async function readBodies(asks: Asks, namespace: string, id: string): Promise<readonly Body[]> {
  const [own, others] = await Promise.all([asks.ask(findOwnBody, namespace, id), asks.ask(findBodies, namespace, id)]);
  return [...own, ...others].map(bodyOf);
}

export async function readCandidates(
  asks: Asks,
  { namespace, queues, agent, limit }: Parameters<Store["candidates"]>[0],
  statement: string,
  ...more: readonly Parameter[]
): Promise<readonly Ready[]> {
  if (queues.length === 0) return [];
  return (await asks.ask(statement, namespace, textArray([...new Set(queues)]), agent, limit, ...more)).map(readyOf);
}

export async function readLastServed(asks: Asks, namespace: string, tie: Tie): Promise<string | null> {
  const [row] = await rowsOfServed(asks, namespace, tie);
  return row === undefined ? null : text(row, "last_agent");
}

function rowsOfServed(asks: Asks, namespace: string, tie: Tie) {
  if (tie.kind === "sticky_order") return asks.ask(findServed, namespace, "served_lane", tie.lane);
  const talk = talkOf(tie.conversation_id, tie.capability);
  return tie.from === null
    ? asks.ask(findServed, namespace, "served_talk", talk)
    : asks.ask(findServedOfSender, namespace, "served_talk", talk, tie.from);
}
