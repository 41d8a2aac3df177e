/**
 * The calls in flight, whatever carries them: who makes them, how many each may make, and how to end those that wait,
 * when their caller's credential is worth nothing any more or the relay stops.
 */

import type { Surroundings } from "@handfast/engine";
import type { Caller } from "../identity/caller.ts";
import type { RelayLimits } from "../limits.ts";
import { Problem } from "../problem.ts";
import { Tally } from "../tally.ts";

export type WhyEnded = "revoked" | "stopping" | "draining";

/** Whether the relay is alive, and what those who hold leases must say in time: a crowd does not keep these out. */
export const vital: ReadonlySet<string> = new Set([
  "healthz",
  "readyz",
  "metrics",
  "ack",
  "heartbeat",
  "checkpoint",
  "complete",
  "fail",
  "reject",
  "release",
]);

/** What whoever holds a lease says of it is taken to the last, also by a node that takes no new work. */
export const of_leases: ReadonlySet<string> = new Set([
  "ack",
  "heartbeat",
  "write_chunk",
  "checkpoint",
  "ask",
  "complete",
  "fail",
  "reject",
  "release",
]);

/** A call that can be told to wait no longer. */
interface Endable {
  end(why: WhyEnded): void;
}

export class InFlight {
  readonly #limits: RelayLimits;
  readonly #surroundings: Surroundings;
  readonly #taken = new Set<Place>();
  readonly #calls = new Tally();
  readonly #vital_calls = new Tally();
  readonly #waits = new Tally();
  readonly #streams = new Tally();
  readonly #whenIdle: (() => void)[] = [];
  #stopping = false;
  #draining = false;

  constructor(limits: RelayLimits, surroundings: Surroundings) {
    this.#limits = limits;
    this.#surroundings = surroundings;
  }

  /** Whoever waits is sent away: for good, or to another node. */
  get ending(): boolean {
    return this.#stopping || this.#draining;
  }

  get draining(): boolean {
    return this.#draining;
  }

  /** How many calls of agents are in flight: those of operators, and whether it is alive, keep no node from being drained. */
  get ofAgents(): number {
    let count = 0;
    for (const { is_counted, is_operators } of this.#taken) if (is_counted && !is_operators) count += 1;
    return count;
  }

  /** The call is told when it should wait no longer. Throws where the relay has too many calls in flight. */
  open(is_vital: boolean, call: Endable): Place {
    this.#checkRoom(is_vital);
    const place = new Place(call, is_vital);
    this.#taken.add(place);
    if (this.#stopping) call.end("stopping");
    return place;
  }

  /** Throws where the caller has too many already. */
  belongs(place: Place, { name, role }: Pick<Caller, "name" | "role">): void {
    place.caller = name;
    place.is_operators = role === "operator";
    this.#count(place.is_vital ? this.#vital_calls : this.#calls, name, "calls");
    place.is_counted = true;
  }

  /** It will wait: of those a caller has fewer. To be told after whom it belongs to. */
  waits(place: Place): void {
    this.#count(this.#waits, place.caller, "waits");
    place.is_waiting = true;
  }

  leave(place: Place): void {
    const { caller, is_vital, is_counted, is_waiting } = place;
    if (is_counted) (is_vital ? this.#vital_calls : this.#calls).uncount(caller);
    if (is_waiting) this.#waits.uncount(caller);
    this.#taken.delete(place);
    place.call = ended;
    if (this.#taken.size === 0) for (const idle of this.#whenIdle.splice(0)) idle();
  }

  #checkRoom(is_vital: boolean): void {
    const { requests_in_flight, requests_in_flight_vital } = this.#limits;
    if (this.#taken.size < (is_vital ? requests_in_flight_vital : requests_in_flight)) return;
    const detail = "The relay has as many calls in flight as it takes; try again in a moment.";
    throw new Problem(429, "busy", detail, {}, 1);
  }

  #count(tally: Tally, caller: string, what: "calls" | "waits"): void {
    const most = what === "calls" ? this.#limits.calls_per_caller : this.#limits.waits_per_caller;
    if (tally.of(caller) < most) return tally.count(caller);
    const which = what === "calls" ? "calls in flight" : "calls that wait";
    throw new Problem(429, `too_many_${what}`, `You have ${most} ${which}; let some of them end first.`, {}, 1);
  }

  /** Counts an open stream; returns how to count it off. */
  stream(caller: string): () => void {
    const own = this.#streams.of(caller);
    if (this.#streams.total >= this.#limits.sse_streams || own >= this.#limits.sse_streams_per_agent) {
      throw new Problem(429, "too_many_streams", `You have ${own} event streams open; close some, or poll.`, {}, 5);
    }
    return this.#streams.add(caller);
  }

  /** A credential of this caller is worth nothing any more: what waits on it ends. */
  revoke(caller: string): void {
    for (const place of this.#taken) if (place.caller === caller) place.call.end("revoked");
  }

  stop(): void {
    this.#stopping = true;
    for (const place of this.#taken) place.call.end("stopping");
  }

  /** What waits ends now. What comes from here on is its operation's to refuse, or to finish. */
  drain(): void {
    this.#draining = true;
    for (const place of this.#taken) place.call.end("draining");
  }

  resume(): void {
    this.#draining = false;
  }

  /** Resolves when no call is in flight any more, or after so long. */
  async idle(most_ms: number): Promise<void> {
    if (this.#taken.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#whenIdle.push(resolve);
    const cancel = this.#surroundings.schedule(most_ms, resolve);
    await promise.finally(cancel);
  }
}

/** What a place is left with: tables that it stood in outlive it (see `Passing`), and must not lead to the call. */
const ended: Endable = { end: () => {} };

/** One call, from its arrival to its answer. What it counts among is InFlight's to say. */
export class Place {
  call: Endable;
  readonly is_vital: boolean;
  caller = "";
  is_counted = false;
  is_operators = false;
  is_waiting = false;

  constructor(call: Endable, is_vital: boolean) {
    this.call = call;
    this.is_vital = is_vital;
  }
}
