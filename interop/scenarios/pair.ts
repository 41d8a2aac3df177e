/** What one sender and one worker do together while both live. */

import { deepStrictEqual, equal } from "node:assert/strict";
import type { SenderSeat } from "../cast/row.ts";
import { type Ended, holding_note, type SendCommand, type TaskInput } from "../protocol.ts";
import type { Holds } from "./holds.ts";
import type { Operator } from "./operator.ts";

export interface Pair {
  readonly sender: SenderSeat;
  /** The name that the worker puts under its outputs. */
  readonly worker: string;
  /** What only this worker offers. */
  readonly capability: string;
  readonly holds: Holds;
  readonly operator: Operator;
  /** A deadline that is missed soon, though the worker has begun by then. */
  readonly missed_after_ms: number;
  /** Whether both can sign. */
  readonly signed: { readonly sender: boolean; readonly worker: boolean };
}

const timeout_ms = 120_000;
const scattered = 10;

let tags = 0;

function nextTag(): string {
  tags += 1;
  return `t${tags}`;
}

export async function plain(pair: Pair): Promise<void> {
  const { tag } = await send(pair, { text: "plain" });
  completedBy(pair, await pair.sender.heard(tag, "outcome"), "PLAIN");
  // The type of the input is what the suite must break here, not the compiler's to allow.
  const unfit = { text: 5 } as unknown as TaskInput;
  const refused_tag = nextTag();
  pair.sender.tell({ send: { tag: refused_tag, capability: pair.capability, input: unfit, timeout_ms } });
  equal(await pair.sender.heard(refused_tag, "refused"), 422);
}

export async function scatter({ sender, worker, capability, operator }: Pair): Promise<void> {
  const tag = nextTag();
  const texts = Array.from({ length: scattered }, (_, nth) => `part ${nth}`);
  sender.tell({ scatter: { tag, capability, inputs: texts.map((text) => ({ text })) } });
  const outputs = await sender.heard(tag, "scattered");
  deepStrictEqual(
    outputs,
    texts.map((text) => ({ text: text.toUpperCase(), by: worker })),
  );
  const together = await operator.correlated(tag);
  deepStrictEqual(
    together.map((handoff) => handoff.capability),
    texts.map(() => capability),
    "not all were sent under the one correlation",
  );
}

export async function progress(pair: Pair): Promise<void> {
  const { tag, hold } = await sendHeld(pair);
  pair.sender.tell({ watch: { tag } });
  equal((await pair.sender.heard(tag, "progress")).note, holding_note);
  hold.go();
  completedBy(pair, await pair.sender.heard(tag, "outcome"), "HELD");
}

export async function question(pair: Pair): Promise<void> {
  const { tag } = await send(pair, { text: "ask", mode: "ask" }, { answer: "please" });
  completedBy(pair, await pair.sender.heard(tag, "outcome"), "ASK", { answer: "please" });
}

export async function cancel(pair: Pair): Promise<void> {
  const { tag, id, hold } = await sendHeld(pair);
  pair.sender.tell({ cancel: { tag } });
  equal(await pair.sender.heard(tag, "canceled"), "canceled");
  equal((await pair.operator.handoff(id)).code, 410);
  await hold.stopped();
}

export async function deadline(pair: Pair): Promise<void> {
  const { tag, id, hold } = await sendHeld(pair, { timeout_ms: pair.missed_after_ms });
  const outcome = await pair.sender.heard(tag, "outcome");
  deepStrictEqual({ status: outcome.status, code: outcome.code }, { status: "expired", code: 408 });
  hold.go();
  const redriven = await pair.operator.redrive(id);
  const ended = await pair.operator.ended(redriven);
  deepStrictEqual(ended.outcome?.output, { text: "HELD", by: pair.worker });
}

export async function signatures(pair: Pair): Promise<void> {
  const { tag } = await send(pair, { text: "signed" });
  completedBy(pair, await pair.sender.heard(tag, "outcome"), "SIGNED");
  pair.sender.tell({ verify: { tag } });
  const evidence = (signs: boolean) => (signs ? "signed" : "attested");
  deepStrictEqual(await pair.sender.heard(tag, "proven"), {
    handoff: evidence(pair.signed.sender),
    ack: evidence(pair.signed.worker),
    outcome: evidence(pair.signed.worker),
  });
}

async function send(pair: Pair, input: TaskInput, more: Partial<SendCommand> = {}) {
  const tag = nextTag();
  const { sender, capability } = pair;
  sender.tell({ send: { tag, capability, input, timeout_ms, ...more } });
  return { tag, id: await sender.heard(tag, "sent") };
}

/** Sends a piece of work that begins, and then waits for a word. */
export async function sendHeld(pair: Pair, more: Partial<SendCommand> = {}) {
  const hold = pair.holds.make();
  const sent = await send(pair, { text: "held", mode: "hold", hold: hold.path }, more);
  await hold.begun();
  return { ...sent, hold };
}

/** With just this output: what a framework adds to it, or leaves out, is a fault. */
export function completedBy(
  { worker }: Pick<Pair, "worker">,
  outcome: Ended,
  text: string,
  more: { readonly answer?: string } = {},
): void {
  equal(outcome.status, "completed", `it ended as ${outcome.status}, ${outcome.code}`);
  deepStrictEqual(outcome.output, { text, by: worker, ...more });
}
