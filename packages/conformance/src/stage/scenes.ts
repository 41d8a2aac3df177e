/** How most checks begin: a handoff that was sent, delivered, acknowledged. */

import type { LeaseView, Receipt } from "@handfast/protocol/wire";
import type { Pair } from "./stage.ts";

export async function sent({ sender, capability }: Pair, more: object = {}): Promise<Receipt> {
  return sender.submit({ capability, input: { n: 1 }, ...more });
}

/** Sent, and offered to the worker. */
export async function delivered(pair: Pair, more: object = {}): Promise<LeaseView> {
  await sent(pair, more);
  return pair.worker.lease();
}

/** Sent, offered and acknowledged. */
export async function working(pair: Pair, more: object = {}): Promise<LeaseView> {
  const lease = await delivered(pair, more);
  await pair.worker.act("ack", lease);
  return lease;
}

/** Sent and completed. */
export async function completed(pair: Pair, more: object = {}, output: unknown = { done: true }): Promise<LeaseView> {
  const lease = await working(pair, more);
  await pair.worker.act("complete", lease, { output });
  return lease;
}

/** Sent, and failed for good: an open dead letter. */
export async function dead(pair: Pair, more: object = {}): Promise<LeaseView> {
  const lease = await working(pair, more);
  await pair.worker.act("fail", lease, { error: failure, retryable: false });
  return lease;
}

export const failure = { reason: "no_luck", message: "It did not work." };
