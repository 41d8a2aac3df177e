/** How a worker asks: the fetch given to its client notes which claims stand open, the relay is a real one. */

import { afterEach, beforeEach, expect, test } from "vitest";
import type { Client } from "../client.ts";
import { gate, Stage } from "./testing/stage.ts";

/** Claims that were begun and brought nothing yet, by their request, with their slots. */
class OpenClaims {
  readonly #open = new Map<string, number>();
  /** The slots of each claim, in the order they were begun. */
  readonly begun: number[] = [];
  #changed = () => {};

  readonly fetch: typeof fetch = async (input, init) => {
    if (!String(input).includes("/v1/claims")) return fetch(input, init);
    const { request_id, slots } = JSON.parse(String(init?.body));
    if (!this.#open.has(request_id)) {
      this.begun.push(slots);
      this.#open.set(request_id, slots);
      this.#changed();
    }
    const response = await fetch(input, init);
    const { leases } = JSON.parse(await response.clone().text());
    if (leases.length > 0) this.#open.delete(request_id);
    return response;
  };

  get slots(): readonly number[] {
    return [...this.#open.values()].sort((a, b) => b - a);
  }

  /** So many were begun, in all. */
  async until(count: number): Promise<void> {
    while (this.begun.length < count) {
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
  }
}

let stage: Stage;
let sender: Client;
let worker: Client;
let claims: OpenClaims;
beforeEach(async () => {
  stage = await Stage.open();
  claims = new OpenClaims();
  [sender, worker] = await Promise.all([stage.agent("sender"), stage.agent("worker", { fetch: claims.fetch })]);
});
afterEach(() => stage.close());

test("a worker that was given nothing yet asks for all its slots by one claim", async () => {
  await worker.serve({ work: () => null }, { concurrency: 10 });
  await claims.until(1);
  expect(claims.slots).toEqual([10]);
});

test("once it was given work a worker keeps two claims open, and never asks for more than it has free", async () => {
  const done = gate();
  const began = [gate(), gate()];
  await worker.serve(
    {
      work: async (nth: number) => {
        began[nth]?.resolve();
        await done.promise;
      },
    },
    { concurrency: 11 },
  );
  await sender.send("work", 0);
  await began[0]?.promise;
  await claims.until(3);
  expect(claims.slots).toEqual([5, 5]);
  await sender.send("work", 1);
  await began[1]?.promise;
  await claims.until(4);
  // Fewer than the open claim has, and still asked for.
  expect(claims.slots).toEqual([5, 4]);
  done.resolve();
});
