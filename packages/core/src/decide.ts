/**
 * The state machine: one handoff, one command, what is known besides, and the time; out comes what changes.
 *
 * Pure: no clock, no randomness, no I/O. The engine, the simulator and the specification's vectors run this function.
 */

import * as after from "./after.ts";
import { answer, ask } from "./ask.ts";
import { Change, refusal } from "./change.ts";
import { settle } from "./clocks.ts";
import type { Command, Context, Decision } from "./command.ts";
import { deliver, exclude, unblock } from "./deliver.ts";
import type { Handoff, Time } from "./handoff.ts";
import { ack, beat, checkpoint, release } from "./hold.ts";
import { complete, fail, reject } from "./outcome.ts";
import { submit } from "./submit.ts";

export function decide(handoff: Handoff | null, command: Command, context: Context, now: Time): Decision {
  if (command.type === "submit") return submit(handoff, command, context, now);
  if (handoff === null) return unknown;
  const change = new Change(handoff, handoff, context, now);
  settle(change);
  return apply(change, command);
}

function apply(change: Change, command: Exclude<Command, { type: "submit" }>): Decision {
  switch (command.type) {
    case "deliver":
      return deliver(change, command);
    case "ack":
      return ack(change, command);
    case "beat":
      return beat(change, command);
    case "checkpoint":
      return checkpoint(change, command);
    case "ask":
      return ask(change, command);
    case "answer":
      return answer(change, command);
    case "complete":
      return complete(change, command);
    case "fail":
      return fail(change, command);
    case "reject":
      return reject(change, command);
    case "release":
      return release(change, command);
    case "cancel":
      return after.cancel(change, command);
    case "take":
      return after.take(change, command);
    case "redrive":
      return after.redrive(change, command);
    case "discard":
      return after.discard(change, command);
    case "tick":
      return after.tick(change);
    case "exclude":
      return exclude(change, command);
    case "unblock":
      return unblock(change);
    case "adopt":
      return after.adopt(change);
    case "charge":
      return after.chargeFromBelow(change, command);
    case "swept":
      return after.swept(change);
    case "routed":
      return after.routed(change, command);
    default:
      throw new Error(`unreachable command ${JSON.stringify(command satisfies never)}`);
  }
}

const unknown: Decision = {
  next: null,
  events: [],
  refusal: refusal(404, "unknown_handoff", "there is no such handoff"),
  follow: [],
  durable: false,
  keep: null,
  purge: false,
};
