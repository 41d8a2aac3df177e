/**
 * One lease from its delivery to its outcome: who sent it is checked, it is acknowledged, and only when the relay has
 * confirmed that does the handler run. An ack that comes too late is dropped in silence: nothing was started.
 */

import type { LeaseView } from "@handfast/protocol/wire";
import { acknowledge, reject } from "../acts.ts";
import { HandoffError } from "../errors.ts";
import type { Offered } from "./capabilities.ts";
import { type Enclosed, openContext } from "./context.ts";
import { type Ending, endingOfReturned, endingOfThrown, failed, isVerdict } from "./ending.ts";
import { messageOf, outcomeError, storyOf } from "./faults.ts";
import type { Handlers } from "./handlers.ts";
import type { Held } from "./held.ts";
import { serveLimits as limits } from "./limits.ts";
import { release, report } from "./report.ts";
import type { Serving } from "./serving.ts";

export async function work(serving: Serving, held: Held): Promise<void> {
  const { id, fence, lease_ms, kind } = held.lease;
  if (kind === "notice") {
    const taken = await take(serving, held);
    return taken === null ? undefined : runNotice(serving, held, taken);
  }
  const beaten = { id, fence, worker: held.worker, lease_ms };
  // Before the ack, so that a handler that blocks at once finds it beating.
  serving.beats.hold(beaten);
  try {
    const taken = await take(serving, held);
    if (taken === null) return;
    const { ending, enclosed } = await run(serving, held, taken);
    if (ending !== null && !held.isLeft) await report(serving, held, { ending, enclosed });
  } finally {
    serving.beats.drop(beaten);
  }
}

interface Taken {
  readonly offered: Offered;
  readonly input: unknown;
}

async function take(serving: Serving, held: Held): Promise<Taken | null> {
  const { base, handlers } = serving;
  const { lease, worker } = held;
  const handler = handlerFor(handlers, lease);
  if (handler === null) return noHandler(serving, held);
  if (lease.demands === "signed" && !base.signs) {
    const message = `Handoff ${lease.id} demands signed receipts, and ${base.agent} has only a token. Connect with a key.`;
    base.warn({ reason: "signature_demanded", message, handoff: lease.id });
    return null;
  }
  try {
    const { input } = await base.trust.check(lease);
    const options = { signal: held.signal, patience_ms: held.deadline_ms() };
    held.hear(await acknowledge(base, lease, worker, options));
    return { offered: handler, input: handler.text ? asText(input) : input };
  } catch (error) {
    return notTaken(serving, held, error);
  }
}

/** Codes of an ack that came too late, or for a lease that this worker has given up meanwhile. */
const too_late: ReadonlySet<number> = new Set([404, 408, 410, 412]);

async function notTaken(serving: Serving, held: Held, error: unknown): Promise<null> {
  if (held.isOver) return null;
  if (held.signal.aborted) {
    // The worker stops. The ack may have been heard or not: given back it is right in both cases.
    await release(serving, held.lease);
    return null;
  }
  const from_relay = error instanceof HandoffError && error.problem !== null;
  if (from_relay && too_late.has(error.code)) return null;
  if (error instanceof HandoffError && !from_relay) {
    serving.base.warn({ reason: error.reason, message: error.message, handoff: held.lease.id });
    return refuse(serving, held, error.reason, error.message);
  }
  const message = `Handoff ${held.lease.id} was not started: ${messageOf(error)}`;
  serving.base.warn({ reason: "not_acknowledged", message, handoff: held.lease.id });
  return null;
}

async function refuse(
  { base, gone }: Serving,
  { lease, worker }: Held,
  reason: string,
  message: string,
): Promise<null> {
  const options = { signal: gone, patience_ms: lease.ack_ms };
  // Where even this is not heard, the ack clock gives it to another worker.
  await reject(base, lease, worker, { error: outcomeError(reason, message) }, options).catch(() => {});
  return null;
}

/** One that names only the agent goes to the only handler there is. */
function handlerFor(handlers: Handlers, { capability }: LeaseView): Offered | null {
  if (capability !== null) return handlers.find(capability);
  const [only, ...more] = handlers.names;
  return only === undefined || more.length > 0 ? null : handlers.find(only);
}

/**
 * A capability that this process does not know is in the manifest by another process of the agent, a newer one for
 * instance. To reject it would exclude that one too: it is left to the ack clock, which prefers another worker.
 */
async function noHandler(serving: Serving, held: Held): Promise<null> {
  const { base, handlers } = serving;
  const { id, capability } = held.lease;
  const names = handlers.names.join(", ");
  if (capability === null) {
    const message = `${base.agent} serves several capabilities (${names}): name one of them.`;
    return refuse(serving, held, "no_handler", message);
  }
  const message =
    `Handoff ${id} asks for ${capability}, which another process of ${base.agent} offers and this one does not ` +
    `(${names}). It is left to that one; let all workers of an agent serve the same capabilities.`;
  base.warn({ reason: "no_handler", message, handoff: id });
  return null;
}

function asText(input: unknown): string {
  if (typeof input === "string") return input;
  return input instanceof Uint8Array ? new TextDecoder().decode(input) : JSON.stringify(input);
}

/** It ended with its ack: what its handler does is told to nobody but the people here. */
async function runNotice(serving: Serving, held: Held, taken: Taken): Promise<void> {
  const { ending } = await run(serving, held, taken);
  if (ending?.kind !== "failed" && ending?.kind !== "rejected") return;
  const { message } = ending.kind === "failed" ? ending.failure.error : ending.error;
  const { id } = held.lease;
  serving.base.warn({
    reason: "notice_failed",
    message: `The handler of notice ${id} failed: ${message}`,
    handoff: id,
  });
}

interface Ran {
  /** Null: nothing is to be said of it. */
  readonly ending: Ending | null;
  readonly enclosed: Enclosed;
}

async function run(serving: Serving, held: Held, { offered, input }: Taken): Promise<Ran> {
  const { base } = serving;
  const open = openContext(base, serving.sending, held);
  const stopListening = listenForDeaf(serving, held, offered);
  let ending: Ending | null;
  try {
    const checked = offered.input === null ? { value: input } : await offered.input.check(input);
    ending =
      "fault" in checked
        ? failed(outcomeError("input_unfit", `The input does not fit: ${checked.fault}`), false)
        : await endingOfReturned(offered, await offered.handler(checked.value, open.context));
  } catch (thrown) {
    ending = held.isOver ? null : endingOfError(serving, held, offered, thrown);
  } finally {
    stopListening();
  }
  if (!held.isOver && open.isUnfinished) await open.finish();
  return { ending, enclosed: open.enclosed() };
}

/** A handler that was told to stop and threw is done with; any other error is news to the people here. */
function endingOfError(serving: Serving, held: Held, offered: Offered, thrown: unknown): Ending {
  const is_verdict = isVerdict(thrown);
  if (held.signal.aborted && !is_verdict) return { kind: "released" };
  if (!is_verdict) warnOfAccident(serving, held, offered, thrown);
  return endingOfThrown(thrown);
}

function warnOfAccident({ base }: Serving, { lease }: Held, { capability }: Offered, thrown: unknown): void {
  const message = `The handler of ${capability.name} threw on handoff ${lease.id}: ${storyOf(thrown)}`;
  base.warn({ reason: "handler_error", message, handoff: lease.id });
}

/** A handler that goes on though its lease is over holds a slot: somebody should know. */
function listenForDeaf({ base, gone }: Serving, held: Held, { capability }: Offered): () => void {
  let cancelTimer = () => {};
  const warn = () => {
    if (gone.aborted) return;
    const { id } = held.lease;
    const message =
      `The handler of ${capability.name} still runs on handoff ${id}, which is over, and holds a slot: ` +
      "hand ctx.signal to what it waits for.";
    base.warn({ reason: "handler_ignores_signal", message, handoff: id });
  };
  const listen = () => {
    cancelTimer = base.surroundings.after(limits.deaf_ms, warn);
  };
  held.signal.addEventListener("abort", listen, { once: true });
  return () => {
    held.signal.removeEventListener("abort", listen);
    cancelTimer();
  };
}
