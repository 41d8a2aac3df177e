/** Reads of single things. */

import type { Handoff, Ready, Tie } from "@handfast/core";
import { type Body, type BodyKind, bodyOf, parseState, readyOf, type Store } from "@handfast/engine";
import { Rows, textArray } from "./arrays.ts";
import type { Asks } from "./connection.ts";
import { number, type Row, text } from "./rows.ts";
import { findReady, findServed } from "./sql/dispatch.ts";
import { findBodies, findBody, findOwnBody, loadHandoffs, nameShape } from "./sql/handoff.ts";
import { findKeys, findPurged, keyShape } from "./sql/key.ts";
import { talkOf } from "./standing.ts";

export async function readHandoffs(
  asks: Asks,
  namespace: string,
  ids: readonly string[],
): Promise<readonly (Handoff | null)[]> {
  const found: (Handoff | null)[] = ids.map(() => null);
  if (ids.length === 0) return found;
  for (const row of await asks.ask(loadHandoffs, namespace, textArray(ids))) {
    found[number(row, "place") - 1] = handoffOf(row);
  }
  return found;
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

export async function readPurged(
  asks: Asks,
  asked: readonly { readonly namespace: string; readonly id: string }[],
): Promise<readonly boolean[]> {
  const rows = new Rows(nameShape);
  for (const { namespace, id } of asked) rows.add({ namespace, id });
  const found = asked.map(() => false);
  for (const row of await asks.ask(findPurged, ...rows.parameters())) found[number(row, "place") - 1] = true;
  return found;
}

export async function readBody(asks: Asks, namespace: string, id: string, kind: BodyKind, nth: number) {
  const is_own = kind === "handoff" && nth === 0;
  const [row] = is_own
    ? await asks.ask(findOwnBody, namespace, id)
    : await asks.ask(findBody, namespace, id, kind, nth);
  return row === undefined ? null : bodyOf(row);
}

export async function readBodies(asks: Asks, namespace: string, id: string): Promise<readonly Body[]> {
  const [own, others] = await Promise.all([asks.ask(findOwnBody, namespace, id), asks.ask(findBodies, namespace, id)]);
  return [...own, ...others].map(bodyOf);
}

export async function readCandidates(
  asks: Asks,
  { namespace, queues, agent, limit }: Parameters<Store["candidates"]>[0],
): Promise<readonly Ready[]> {
  if (queues.length === 0) return [];
  return (await asks.ask(findReady, namespace, textArray([...new Set(queues)]), agent, limit)).map(readyOf);
}

export async function readLastServed(asks: Asks, namespace: string, tie: Tie): Promise<string | null> {
  const [row] =
    tie.kind === "sticky_order"
      ? await asks.ask(findServed, namespace, "served_lane", tie.lane)
      : await asks.ask(findServed, namespace, "served_talk", talkOf(tie.conversation_id, tie.capability));
  return row === undefined ? null : text(row, "last_agent");
}
