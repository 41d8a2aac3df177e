/** What may happen after the end, each at most once: taken, redriven or discarded, routed, and at last purged. */

import type { HandoffEvent, State } from "@handfast/core";
import { ensure } from "./violation.ts";

type AfterEvent = Extract<HandoffEvent, { type: "taken" | "redriven" | "discarded" | "routed" | "purged" }>;

const endStates: ReadonlySet<State> = new Set(["completed", "failed", "rejected", "canceled", "expired"]);
const deadStates: ReadonlySet<State> = new Set(["failed", "rejected", "expired"]);

export class Aftermath {
  readonly #id: string;
  readonly #happened = new Set<AfterEvent["type"]>();

  constructor(id: string) {
    this.#id = id;
  }

  get taken(): boolean {
    return this.#happened.has("taken");
  }

  get purged(): boolean {
    return this.#happened.has("purged");
  }

  add(event: AfterEvent, state: State): void {
    const settled = this.#happened.has("redriven") || this.#happened.has("discarded");
    const dead = deadStates.has(state);
    this.#ensure(
      endStates.has(state),
      "nothing live is taken, redriven, routed or removed",
      `${event.type} while ${state}`,
    );
    switch (event.type) {
      case "taken":
        this.#ensure(!this.#happened.has("taken"), "an outcome is taken once", "taken again");
        break;
      case "redriven":
      case "discarded":
        this.#ensure(dead && !settled, "a dead letter is settled once", event.type);
        break;
      case "routed":
        this.#ensure(dead && !this.#happened.has("routed"), "a dead letter is routed once", event.to);
        break;
      case "purged": {
        const wanted = !this.#happened.has("taken") || (dead && !settled);
        this.#ensure(!wanted, "untaken outcomes and open dead letters stay", `purged as ${state}`);
        break;
      }
      default:
        throw new Error(`unreachable event ${JSON.stringify(event satisfies never)}`);
    }
    this.#happened.add(event.type);
  }

  #ensure(holds: boolean, invariant: string, message: string): void {
    ensure(holds, invariant, this.#id, message);
  }
}
