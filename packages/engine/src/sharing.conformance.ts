/** What every store must do that several nodes share, besides `store.conformance.ts`: what one says, the others know. */

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { accept, sampleHandoff, startOfTime, unit } from "./store.samples.ts";
import type { NodeSign, Sharing, SignOfLife, Store, TextPiece } from "./store.ts";

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
        expect(events).toEqual(followed.map(({ namespace: _, told: __, ...event }) => event));
        for (const { json, told } of followed) if (told !== undefined) expect(told).toEqual(JSON.parse(json));
      });
    });

    describe("whoever follows the log", () => {
      const idsOf = (followed: readonly { readonly json: string }[]) =>
        followed.map(({ json }): string => JSON.parse(json).handoff);
      const write = (store: Store, ...ids: string[]) => store.commit(ids.map((id) => unit(accept(sampleHandoff(id)))));

      it("is told of all nodes' events in one order, its own among them, from any position on", async () => {
        await write(stores.one, "a", "b");
        await write(stores.other, "c");
        await write(stores.one, "d");
        await write(stores.other, "e", "f");
        const all = ["a", "b", "c", "d", "e", "f"];
        for (const node of [one, other]) {
          expect((await node.follow(0, 100)).map(({ pos }) => pos)).toEqual([1, 2, 3, 4, 5, 6]);
          for (let after = 0; after <= all.length; after += 1) {
            expect(idsOf(await node.follow(after, 100))).toEqual(all.slice(after));
          }
          // What was passed already is there still.
          expect(idsOf(await node.follow(0, 100))).toEqual(all);
        }
      });

      it("is told of nothing before what comes before it, however little it reads at a time", async () => {
        await write(stores.other, "a", "b", "c");
        await write(stores.one, "d");
        await write(stores.other, "e", "f");
        for (const node of [one, other]) {
          const told: string[] = [];
          for (let after = 0, more = true; more; ) {
            const followed = await node.follow(after, 2);
            told.push(...idsOf(followed));
            after = followed.at(-1)?.pos ?? after;
            more = followed.length > 0;
          }
          expect(told).toEqual(["a", "b", "c", "d", "e", "f"]);
        }
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

    describe("nodes", () => {
      const sign = (patch: Partial<NodeSign> = {}): NodeSign => {
        const figures = { connections: 0, calls: 0, claims: 0 };
        return { name: "n", version: "1", since: startOfTime, draining: false, ended: false, ...figures, ...patch };
      };
      const all = async () => (await one.nodes.all()).nodes;

      it("know each other by what each said last, in the order of their names", async () => {
        await other.nodes.sign(sign({ name: "n2", connections: 1 }));
        await one.nodes.sign(sign({ name: "n1" }));
        await other.nodes.sign(sign({ name: "n2", connections: 3, calls: 2, claims: 1, ended: true }));
        const { nodes, read_at } = await one.nodes.all();
        const [first, second] = nodes;
        expect(nodes).toHaveLength(2);
        expect(first).toMatchObject({ ...sign({ name: "n1" }), life: one.nodes.life, asked: false });
        expect(second).toMatchObject({ name: "n2", life: other.nodes.life, connections: 3, calls: 2, claims: 1 });
        expect(second?.ended).toBe(true);
        expect(Math.abs(read_at - (second?.heard_at ?? 0))).toBeLessThan(60_000);
      });

      it("hear when they next sign that they were asked to drain, or not any more", async () => {
        await other.nodes.sign(sign());
        await one.nodes.sign(sign());
        await one.nodes.ask([other.nodes.life], true);
        expect((await all()).map(({ asked, draining }) => [asked, draining])).toContainEqual([true, false]);
        expect(await one.nodes.sign(sign())).toBe(false);
        expect(await other.nodes.sign(sign())).toBe(true);
        await one.nodes.ask([other.nodes.life], false);
        expect(await other.nodes.sign(sign({ draining: true }))).toBe(false);
      });

      it("are forgotten after some minutes; one that comes back drains if it did", async () => {
        await other.nodes.sign(sign({ draining: true }));
        const { read_at } = await one.nodes.all();
        await stores.one.prune(read_at + 3_000_000, 0, 10);
        expect(await all()).toEqual([]);
        expect(await other.nodes.sign(sign({ draining: true }))).toBe(true);
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

    describe("bytes", () => {
      const letters = (text: string) => new Uint8Array(Buffer.from(text));
      const put = async (sharing: Sharing, upload: string, sha256: string, now: number) => {
        await sharing.bytes("default").write(upload, 0, letters("some "), now);
        await sharing.bytes("default").write(upload, 1, letters("bytes"), now);
        await sharing.bytes("default").keep(upload, sha256, 10, now);
      };
      const read = async (sharing: Sharing, sha256: string) => {
        const pieces = [
          await sharing.bytes("default").piece(sha256, 0),
          await sharing.bytes("default").piece(sha256, 1),
        ];
        return pieces.map((piece) => (piece === null ? null : Buffer.from(piece).toString()));
      };

      it("are there for every node once they are kept, and not before", async () => {
        await one.bytes("default").write("u1", 0, letters("some "), 1);
        expect(await other.bytes("default").size("a")).toBeNull();
        await one.bytes("default").write("u1", 1, letters("bytes"), 1);
        await one.bytes("default").keep("u1", "a", 10, 1);
        expect(await other.bytes("default").size("a")).toBe(10);
        expect(await read(other, "a")).toEqual(["some ", "bytes"]);
        expect(await other.bytes("default").piece("a", 2)).toBeNull();
        expect(await other.bytes("elsewhere").size("a")).toBeNull();
      });

      it("put up twice are there once, as young as the second time, and go with one removal", async () => {
        await put(one, "u1", "a", 1);
        await put(other, "u2", "a", 5);
        expect(await one.bytes("default").list("", 10)).toEqual([{ sha256: "a", kept_at: 5 }]);
        await one.bytes("default").remove("a", 5);
        expect(await read(other, "a")).toEqual(["some ", "bytes"]);
        await one.bytes("default").remove("a", 6);
        expect(await other.bytes("default").size("a")).toBeNull();
        await put(one, "u3", "a", 7);
        expect(await read(other, "a")).toEqual(["some ", "bytes"]);
      });

      it("that two nodes put up and remove at the same time are there whole, or not at all", async () => {
        for (let round = 0; round < 20; round += 1) {
          await put(one, `u${round}`, "a", 1);
          await Promise.all([
            put(one, `v${round}`, "a", 5),
            other.bytes("default").remove("a", 3),
            put(other, `w${round}`, "a", 5),
          ]);
          expect(await read(other, "a")).toEqual(["some ", "bytes"]);
          await one.bytes("default").remove("a", 9);
          expect(await read(one, "a")).toEqual([null, null]);
        }
      });

      it("that were dropped or whose writer died leave nothing", async () => {
        await one.bytes("default").write("dropped", 0, letters("x"), 1);
        await one.bytes("default").drop("dropped");
        await one.bytes("default").write("dropped", 0, letters("y"), 1);
        await one.bytes("default").write("young", 0, letters("young"), 9);
        await put(one, "kept", "a", 1);
        await other.bytes("default").sweep(5);
        // Its place is free again, that of the young one is not.
        await one.bytes("default").write("dropped", 0, letters("z"), 10);
        await expect(one.bytes("default").write("young", 0, letters("again"), 10)).rejects.toThrow();
        expect(await read(one, "a")).toEqual(["some ", "bytes"]);
      });
    });
  });
}

function sharingOf(store: Store): Sharing {
  if (store.sharing === undefined) throw new Error("the store is not shared");
  return store.sharing;
}
