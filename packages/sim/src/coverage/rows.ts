/** What coverage is counted by: the states a handoff can be in, what can be asked, and what can go wrong meanwhile. */

import { type Command, type Handoff, hasEnded, type Time } from "@handfast/core";

/** The design's states, with those parts of `queued` and `waiting` that are decided differently; `none`, `gone`: no record. */
export const states = [
  "none",
  "queued",
  "delayed",
  "blocked",
  "delivered",
  "working",
  "waiting",
  "parked",
  "completed",
  "failed",
  "rejected",
  "canceled",
  "expired",
  "gone",
] as const;
export type CoveredState = (typeof states)[number];

/** Commands that actors give over the network. */
export const publicCommands = [
  "submit",
  "ack",
  "beat",
  "checkpoint",
  "ask",
  "answer",
  "complete",
  "fail",
  "reject",
  "release",
  "cancel",
  "take",
  "redrive",
  "discard",
] as const satisfies readonly Command["type"][];

/** Commands that only the relay gives. */
export const relayCommands = [
  "deliver",
  "exclude",
  "unblock",
  "adopt",
  "charge",
  "tick",
  "swept",
  "routed",
] as const satisfies readonly Command["type"][];

/** Calls that are no command on a handoff. */
export const otherCalls = ["claim", "follow", "list", "write", "read"] as const;

export const commands = [...publicCommands, ...relayCommands] as const satisfies readonly Command["type"][];
export const rows = [...publicCommands, ...otherCalls, ...relayCommands] as const;

/** Found in every other commit. */
export const commonCommands: ReadonlySet<Row> = new Set([
  "submit",
  "deliver",
  "ack",
  "beat",
  "complete",
  "take",
  "tick",
]);

export type CallName = (typeof publicCommands)[number] | (typeof otherCalls)[number];
export type Row = (typeof rows)[number];

export const faults = [
  "request lost",
  "answer lost",
  "copied",
  "overtaken",
  "slow",
  "cut off",
  "cut off inwards",
  "cut off outwards",
  "caller crash",
  "commit slow",
  "commit failed before",
  "commit failed after",
  "recovery failed",
  "relay crash",
  "after restart",
  "after stall",
  "after clock jump",
  "disk low",
] as const;
export type Fault = (typeof faults)[number];

/** `now` tells apart what may be delivered from what waits for its backoff. */
export function stateOf(handoff: Handoff | null, command: Command["type"], now: Time): CoveredState {
  if (handoff === null) return command === "submit" ? "none" : "gone";
  const { status } = handoff;
  if (hasEnded(status)) return status.state;
  if (status.state === "waiting") return status.lease === null ? "parked" : "waiting";
  if (status.state !== "queued") return status.state;
  if (status.blocked) return "blocked";
  return status.ready_at > now ? "delayed" : "queued";
}
