/** Marks in a trace: a request that means nothing to the relay says where a step begins and where it has ended. */

import { Agent, get } from "node:http";
import type { TracedCall } from "../support/strace.ts";

/** On a connection of its own, so that its answers are not taken for a step's. */
export class Marks {
  readonly #url: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(url: string) {
    this.#url = url;
  }

  /** Does something between two marks. */
  async around<Result>(step: string, act: () => Promise<Result>): Promise<Result> {
    await this.#make(step, "begins");
    const result = await act();
    await this.#make(step, "ended");
    return result;
  }

  close(): void {
    this.#agent.destroy();
  }

  #make(step: string, what: "begins" | "ended"): Promise<void> {
    return new Promise((resolve, reject) => {
      const request = get(`${this.#url}${pathOf(step, what)}`, { agent: this.#agent }, (response) =>
        response.resume().on("end", resolve),
      );
      request.on("error", reject);
    });
  }
}

/** What was called from the answer to a step's first mark on until its second one came, but not for these marks. */
export function between(calls: readonly TracedCall[], step: string): readonly TracedCall[] {
  const first = placeOf(calls, step, "begins");
  const answer = calls.find(({ on, began }) => on === first.on && began > first.ended) ?? first;
  const last = placeOf(calls, step, "ended");
  return calls.filter(({ began, ended, on }) => began > answer.ended && ended < last.began && on !== first.on);
}

function placeOf(calls: readonly TracedCall[], step: string, what: "begins" | "ended"): TracedCall {
  const found = calls.find(({ name, said }) => name.startsWith("re") && said.includes(`GET ${pathOf(step, what)} `));
  if (found === undefined) throw new Error(`the trace does not show where the step ${step} ${what}`);
  return found;
}

function pathOf(step: string, what: string): string {
  return `/mark/${encodeURIComponent(step)}/${what}`;
}
