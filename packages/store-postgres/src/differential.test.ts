/** The same random life on two stores: whatever they can be asked, they answer the same. */

import { openSqliteStore } from "@handfast/store-sqlite";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Step, steps } from "../../core/src/testing/steps.ts";
import { openPostgresStore } from "./mod.ts";
import { everything } from "./testing/everything.ts";
import { RandomLife } from "./testing/random-life.ts";
import { startServer, type TestServer } from "./testing/server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const day = 86_400_000;
const lives = [1, 2, 3].map((seed) => ({ seed, life: withWork(fc.sample(steps, { seed, numRuns: 12 }).flat()) }));

/** Before each look for work there is some: at random alone, workers would mostly find none. */
function withWork(life: readonly Step[]): readonly Step[] {
  const submits = life.filter((step) => step.op === "submit");
  let given = 0;
  return life.flatMap((step) => {
    const work = step.op === "deliver" ? submits[given++ % submits.length] : undefined;
    return work === undefined ? [step] : [{ ...work, parent: null }, step];
  });
}

test.each(lives)(
  "a random life ($seed) is the same on SQLite and on PostgreSQL, to its last event",
  async ({ life }) => {
    const database = await server.createDatabase();
    const one = new RandomLife(await openSqliteStore({ memory: true }));
    const other = new RandomLife(await openPostgresStore(server.url(database), { may_lose: true }));
    const both = async (act: (run: RandomLife) => Promise<void>) => {
      for (const run of [one, other]) await act(run);
      const now = one.surroundings.now();
      expect(other.surroundings.now()).toBe(now);
      const said = await everything(one.store, now);
      expect(await everything(other.store, now)).toEqual(said);
      return said;
    };
    const lived = await both((run) => run.live(life));
    expect(lived.handoffs.length).toBeGreaterThan(20);
    expect(other.answers).toEqual(one.answers);
    // Everything ends, and later is forgotten.
    const ended = await both((run) => run.surroundings.advance(500_000));
    const forgotten = await both(async ({ surroundings }) => {
      await surroundings.stall(31 * day);
      await surroundings.advance(5 * 60_000);
    });
    expect(forgotten.events.length).toBeLessThan(ended.events.length);
    for (const run of [one, other]) {
      await run.stop();
      await run.store.close();
    }
  },
);
