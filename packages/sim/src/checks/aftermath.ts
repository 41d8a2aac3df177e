/** What may happen after the end, each at most once: taken, redriven or discarded, routed, and at last purged, in its time. */

import type { CoreLimits, HandoffEvent, State, Time } from "@handfast/core";
import type { RelayTimes } from "../world/relay-times.ts";
import { timer_slack_ms } from "./clock-witness.ts";
import { ensure } from "./violation.ts";

type AfterEvent = Extract<HandoffEvent, { type: "taken" | "redriven" | "discarded" | "routed" | "purged" }>;

const endStates: ReadonlySet<State> = new Set(["completed", "failed", "rejected", "canceled", "expired"]);
const deadStates: ReadonlySet<State> = new Set(["failed", "rejected", "expired"]);

export class Aftermath {
  readonly #id: string;
  readonly #limits: CoreLimits;
  readonly #times: RelayTimes;
  readonly #happened = new Map<AfterEvent["type"], Time>();

  constructor(id: string, limits: CoreLimits, times: RelayTimes) {
    this.#id = id;
    this.#limits = limits;
    this.#times = times;
  }

  get taken(): boolean {
    return this.#happened.has("taken");
  }

  get purged_at(): Time | null {
    return this.#happened.get("purged") ?? null;
  }

  /** Redriven or discarded: nobody needs to look at it any more. */
  get settled_at(): Time | null {
    return this.#happened.get("redriven") ?? this.#happened.get("discarded") ?? null;
  }

  add(event: AfterEvent, state: State, ended_at: Time): void {
    const dead = deadStates.has(state);
    this.#ensure(
      endStates.has(state),
      "nothing live is taken, redriven, routed or removed",
      () => `${event.type} while ${state}`,
    );
    this.#ensure(this.purged_at === null, "what is purged is gone", () => `${event.type} after its purge`);
    switch (event.type) {
      case "taken":
        this.#ensure(!this.taken, "an outcome is taken once", () => "taken again");
        break;
      case "redriven":
      case "discarded":
        this.#ensure(dead && this.settled_at === null, "a dead letter is settled once", () => event.type);
        break;
      case "routed":
        this.#ensure(dead && !this.#happened.has("routed"), "a dead letter is routed once", () => event.to);
        break;
      case "purged":
        this.#purged(event.at, ended_at, dead);
        break;
      default:
        throw new Error(`unreachable event ${JSON.stringify(event satisfies never)}`);
    }
    this.#happened.set(event.type, event.at);
  }

  #purged(at: Time, ended_at: Time, dead: boolean): void {
    const { keep_taken_ms, keep_untaken_ms } = this.#limits;
    const taken_at = this.#happened.get("taken");
    const wanted = taken_at === undefined || (dead && this.settled_at === null);
    const due = wanted
      ? ended_at + Math.max(keep_untaken_ms, keep_taken_ms)
      : Math.max(taken_at, this.settled_at ?? 0) + keep_taken_ms;
    const invariant = wanted ? "untaken outcomes and open dead letters stay" : "what was taken is kept for a while";
    this.#ensure(at >= due, invariant, () => `purged at ${at}, to be kept until ${due}`);
    const late_ms = at - due - timer_slack_ms;
    this.#ensure(
      late_ms <= 0 || late_ms <= this.#times.awayWithin(due, at),
      "what is over is removed in time",
      () => `purged at ${at}, due at ${due}`,
    );
  }

  #ensure(holds: boolean, invariant: Parameters<typeof ensure>[1], message: () => string): void {
    ensure(holds, invariant, this.#id, message);
  }
}
