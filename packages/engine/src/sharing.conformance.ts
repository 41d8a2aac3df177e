/** What every store must do that several nodes share, besides `store.conformance.ts`: what one says, the others know. */

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { accept, sampleHandoff, startOfTime, unit } from "./store.samples.ts";
import type { Sharing, SignOfLife, Store } from "./store.ts";

export interface SharedStores {
  /** Two nodes' stores on the same empty place. */
  readonly one: Store;
  readonly other: Store;
  close(): Promise<void>;
}

export function describeSharing(name: string, open: () => Promise<SharedStores>): void {
  describe(`${name} shared by nodes`, () => {
    let stores: SharedStores;
    let one: Sharing;
    let other: Sharing;
    beforeEach(async () => {
      stores = await open();
      [one, other] = [sharingOf(stores.one), sharingOf(stores.other)];
    });
    afterEach(() => stores.close());

    describe("the log", () => {
      it("tells what each event was decided under, and nothing where that was not said", async () => {
        await stores.one.commit([{ ...unit(accept(sampleHandoff("h1"))), resumed_at: 17 }]);
        await stores.other.commit([unit(accept(sampleHandoff("h2")))]);
        const followed = await one.follow(0, 10);
        expect(followed.map(({ resumed_at }) => resumed_at)).toEqual([17, undefined]);
        const { events } = await stores.other.events({ namespace: "default", after_pos: 0, limit: 10 });
        expect(events).toEqual(followed.map(({ namespace: _, ...event }) => event));
      });
    });

    describe("signs of life", () => {
      const sign = (patch: Partial<SignOfLife> = {}): SignOfLife => {
        return { namespace: "default", agent: "bob", worker: "bob-1", at: startOfTime, asking: false, ...patch };
      };

      it("reach the other nodes: of each worker the newest", async () => {
        await one.hear([sign(), sign({ worker: null }), sign({ at: startOfTime + 5, asking: true })]);
        await other.hear([sign({ at: startOfTime + 3 }), sign({ worker: "bob-2", at: startOfTime + 4 })]);
        const { signs } = await one.heard(0);
        expect(signs).toHaveLength(3);
        expect(signs).toEqual(
          expect.arrayContaining([
            sign({ at: startOfTime + 5, asking: true }),
            sign({ worker: null }),
            sign({ worker: "bob-2", at: startOfTime + 4 }),
          ]),
        );
      });

      it("are read from where the last reading was, and none is missed between two readings", async () => {
        await one.hear([sign()]);
        const { read_at } = await other.heard(0);
        await one.hear([sign({ worker: "late" })]);
        const { signs } = await other.heard(read_at);
        expect(signs).toContainEqual(sign({ worker: "late" }));
        expect((await other.heard(read_at + 60_000)).signs).toEqual([]);
      });

      it("are forgotten after some minutes", async () => {
        await one.hear([sign(), sign({ worker: "young", at: startOfTime + 3_000_000 })]);
        await stores.one.prune(startOfTime + 3_000_000, 0, 10);
        expect((await other.heard(0)).signs.map(({ worker }) => worker)).toEqual(["young"]);
      });
    });
  });
}

function sharingOf(store: Store): Sharing {
  if (store.sharing === undefined) throw new Error("the store is not shared");
  return store.sharing;
}
