/** What every store must do that several nodes share, besides `store.conformance.ts`: what one says, the others know. */

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { accept, sampleHandoff, startOfTime, unit } from "./store.samples.ts";
import type { Sharing, SignOfLife, Store, TextPiece } from "./store.ts";

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

    describe("streamed output", () => {
      const piece = (offset: number, text: string, patch: Partial<TextPiece> = {}): TextPiece => {
        return { namespace: "default", id: "h1", fence: 1, offset, text, floor: 0, ...patch };
      };

      it("is read by every node from any offset on, whatever characters it was cut within", async () => {
        const [smile, rest] = ["\ud83d", '\ude00\u0000 "\\'];
        await one.appendText([piece(0, "He"), piece(0, "other", { id: "h2" })]);
        await one.appendText([piece(2, smile)]);
        await other.appendText([piece(3, rest)]);
        expect(await other.readText("default", "h1", 0)).toEqual({
          fence: 1,
          floor: 0,
          end: 3 + rest.length,
          pieces: [
            { offset: 0, text: "He" },
            { offset: 2, text: smile },
            { offset: 3, text: rest },
          ],
        });
        expect((await one.readText("default", "h1", 3))?.pieces).toEqual([{ offset: 3, text: rest }]);
        expect(await one.readText("default", "h1", 100)).toMatchObject({ end: 3 + rest.length, pieces: [] });
        expect(await one.readText("default", "unknown", 0)).toBeNull();
      });

      it("is of the newest attempt, and loses what lies before its floor", async () => {
        await one.appendText([piece(0, "first attempt")]);
        await other.appendText([piece(0, "abc", { fence: 2 })]);
        expect(await one.readText("default", "h1", 0)).toMatchObject({ fence: 2, end: 3 });
        await other.appendText([piece(3, "def", { fence: 2, floor: 3 })]);
        expect(await one.readText("default", "h1", 0)).toEqual({
          fence: 2,
          floor: 3,
          end: 6,
          pieces: [{ offset: 3, text: "def" }],
        });
      });

      it("tells the other nodes of which handoff there is more, and not the node itself", async () => {
        const heard = Promise.withResolvers<readonly string[]>();
        const own: string[] = [];
        one.listenToText((_, id) => own.push(id));
        other.listenToText((namespace, id) => heard.resolve([namespace, id]));
        // Whoever does not listen yet is told with a later piece.
        for (let offset = 0; ; offset += 1) {
          await one.appendText([piece(offset, "x")]);
          const told = await Promise.race([heard.promise, one.now()]);
          if (typeof told === "number") continue;
          expect(told).toEqual(["default", "h1"]);
          break;
        }
        expect(own).toEqual([]);
      });

      it("goes with time where its handoff is over, and stays while it is open", async () => {
        await stores.one.commit([unit(accept(sampleHandoff("h1")))]);
        await one.appendText([piece(0, "open"), piece(0, "over", { id: "h2" })]);
        const now = await one.now();
        await stores.other.prune(now + 300_000, 0, 10);
        expect(await one.readText("default", "h2", 0)).not.toBeNull();
        await stores.other.prune(now + 3_600_000, 0, 10);
        expect(await one.readText("default", "h2", 0)).toBeNull();
        expect(await one.readText("default", "h1", 0)).toMatchObject({ end: 4 });
      });
    });
  });
}

function sharingOf(store: Store): Sharing {
  if (store.sharing === undefined) throw new Error("the store is not shared");
  return store.sharing;
}
