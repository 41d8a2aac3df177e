/** The counts of contracts on several nodes: each counts what all did, one writes, and what one drops the others forget. */

import type { HandoffEvent } from "@handfast/core";
import type { Store } from "@handfast/engine";
import { openPostgresStore } from "@handfast/store-postgres";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { accept, end, sampleHandoff, startOfTime, unit } from "../../../engine/src/store.samples.ts";
import { PatientSurroundings } from "../../../store-postgres/src/testing/patient-surroundings.ts";
import { startServer, type TestServer } from "../../../store-postgres/src/testing/server.ts";
import { limits } from "../limits.ts";
import { Tally } from "./tally.ts";

const namespace = "default";
let server: TestServer;
let url: string;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

class Place {
  readonly store: Store;
  readonly faults: unknown[] = [];
  writes = 0;
  #tally: Tally | null = null;
  #scheduled: (() => void)[] = [];
  #pos = 0;
  readonly #surroundings = new PatientSurroundings(startOfTime);

  private constructor(store: Store) {
    this.store = this.#surroundings.watched(store);
  }

  static async open(): Promise<Place> {
    const place = new Place(await openPostgresStore(url, { may_lose: true, shared: true }));
    const { store } = place;
    place.#tally = await Tally.open({
      namespace,
      store,
      limits,
      put: async (records) => {
        const is_written = (await store.commit([{ writes: [], records }]))[0] === "ok";
        if (is_written) place.writes += 1;
        return is_written;
      },
      schedule: (_, task) => {
        place.#scheduled.push(task);
        return () => {
          place.#scheduled = place.#scheduled.filter((other) => other !== task);
        };
      },
      onUnwritten: (error) => place.faults.push(error),
    });
    opened.push(place);
    return place;
  }

  get tally(): Tally {
    if (this.#tally === null) throw new Error("it is not open yet");
    return this.#tally;
  }

  /** What its follower would tell; the beginning of it again, since nobody knows how far it had come. */
  async follow(): Promise<void> {
    for (const { pos, json } of (await this.store.sharing?.follow(Math.max(0, this.#pos - 2), 1_000)) ?? []) {
      this.tally.apply([JSON.parse(json)], pos);
      this.#pos = pos;
    }
  }

  /** The time for its next write or look has come. */
  async turn(): Promise<void> {
    for (const task of this.#scheduled.splice(0)) task();
    await this.#surroundings.rest();
  }
}

const opened: Place[] = [];
let made = 0;
beforeEach(async () => {
  url = server.url(await server.createDatabase());
  const store = await openPostgresStore(url, { may_lose: true, shared: true });
  const record = { namespace, kind: "contract", key: "c", expected_version: 0, value: {} };
  await store.commit([{ writes: [], records: [record] }]);
  await store.close();
});
afterEach(async () => {
  const places = opened.splice(0);
  for (const { store } of places) await store.close();
  expect(places.flatMap(({ faults }) => faults)).toEqual([]);
});

async function kept({ store }: Place, id: string): Promise<void> {
  made += 1;
  const accepted = accept(sampleHandoff(`h${made}`));
  const over = end(accepted.next, "completed", 200);
  const contract = { id, verdict: "fulfilled", why: null };
  const events = over.events.map((event) => ({ ...event, contract }) as HandoffEvent);
  await store.commit([unit(accepted)]);
  await store.commit([unit({ ...over, events })]);
}

const fulfilled = (places: readonly Place[], id = "c") => places.map(({ tally }) => tally.of(id).fulfilled);

it("each end counts once on every node, one writes, and another goes on when it is gone", async () => {
  const [one, other] = [await Place.open(), await Place.open()];
  for (let round = 0; round < 3; round += 1) {
    await kept(one, "c");
    await kept(other, "c");
    for (const place of [one, other]) await place.follow();
    await one.turn();
    await other.turn();
  }
  expect(fulfilled([one, other])).toEqual([6, 6]);
  expect([one.writes, other.writes]).toEqual([3, 0]);

  // The first one is gone: nobody turns it any more.
  for (let round = 0; round < 3; round += 1) {
    await kept(other, "c");
    await other.follow();
    await other.turn();
  }
  expect(other.writes).toBeGreaterThan(0);
  const third = await Place.open();
  expect(fulfilled([other, third])).toEqual([9, 9]);
});

it("a node that starts between two writes reads the rest from the log, and is told nothing twice", async () => {
  const one = await Place.open();
  await kept(one, "c");
  await one.follow();
  await one.turn();
  await kept(one, "c");
  const late = await Place.open();
  await kept(one, "c");
  await late.tally.reread();
  await late.follow();
  expect(fulfilled([late])).toEqual([3]);
});

it("what one node drops the others do not write again", async () => {
  const [one, other] = [await Place.open(), await Place.open()];
  await kept(one, "over");
  for (const place of [one, other]) await place.follow();
  await one.turn();
  await other.turn();
  const writes = one.tally.ending("over");
  expect(await one.store.commit([{ writes: [], records: writes }])).toEqual(["ok"]);
  one.tally.forgotten("over");
  for (let round = 0; round < 3; round += 1) {
    await kept(other, "c");
    await other.follow();
    await other.turn();
  }
  await one.follow();
  await one.turn();
  expect(other.writes).toBeGreaterThan(0);
  const records = await other.store.records(namespace, "contract_tally");
  expect(records.map(({ key }) => key).sort()).toEqual(["c", "mark"]);
});
