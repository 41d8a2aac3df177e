/** For tests: virtual time over a store that answers in its own time. Nothing moves on while it is being asked something. */

import { setImmediate } from "node:timers/promises";
import type { Store } from "@handfast/engine";
import { VirtualSurroundings } from "../../../engine/src/testing/virtual-surroundings.ts";

/** Turns of the loop without a question to the store after which nothing is under way. */
const quiet_turns = 6;

export class PatientSurroundings extends VirtualSurroundings {
  #asked = 0;

  /** The same store, whose answers are waited for. */
  watched(store: Store): Store {
    const counted = <Answer>(answer: Promise<Answer>): Promise<Answer> => {
      this.#asked += 1;
      return answer.finally(() => {
        this.#asked -= 1;
      });
    };
    return new Proxy(store, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        return (...given: unknown[]) => counted(value.apply(target, given));
      },
    });
  }

  override async rest(): Promise<void> {
    for (let quiet = 0; quiet < quiet_turns; quiet = this.#asked === 0 ? quiet + 1 : 0) await setImmediate();
  }
}
