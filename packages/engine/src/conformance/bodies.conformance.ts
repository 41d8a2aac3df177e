/** What a store keeps beside a handoff: bytes as they were written, and who refers to which artifact. */

import { describe, expect, test } from "vitest";
import { accept, change, sampleBody, sampleHandoff } from "../store.samples.ts";
import { ns, type TestedStore } from "../testing/tested-store.ts";

export function describeBodies(tested: TestedStore): void {
  const { commitOne } = tested;

  describe("bodies", () => {
    test("bytes come back exactly, also those that are no text", async () => {
      const payload = Uint8Array.from({ length: 256 }, (_, byte) => byte);
      const document = '{"text":"äöü 😀 \\u0000"}\n ';
      const body = { kind: "handoff", number: 0, document, proof: null, payload } as const;
      await commitOne(accept(sampleHandoff("a"), { bodies: [body] }));
      expect(await tested.store.body(ns, "a", "handoff", 0)).toEqual(body);
    });

    test("nothing is not the same as empty", async () => {
      const nothing = { kind: "ack", number: 1, document: null, proof: null, payload: null } as const;
      const empty = { kind: "outcome", number: 1, document: "", proof: null, payload: new Uint8Array(0) } as const;
      await commitOne(accept(sampleHandoff("a"), { bodies: [nothing, empty] }));
      expect(await tested.store.bodies(ns, "a")).toEqual([nothing, empty]);
    });

    test("a megabyte goes through", async () => {
      const payload = new Uint8Array(1_048_576).fill(7);
      await commitOne(accept(sampleHandoff("a"), { bodies: [{ ...sampleBody("handoff", 0), payload }] }));
      const body = await tested.store.body(ns, "a", "handoff", 0);
      expect(Buffer.compare(body?.payload ?? new Uint8Array(), payload)).toBe(0);
    });

    test("a body never changes: the first of its kind and number stays", async () => {
      const a = await commitOne(accept(sampleHandoff("a"), { bodies: [sampleBody("outcome", 1, "first")] }));
      await commitOne(change(a, {}, { bodies: [sampleBody("outcome", 1, "second"), sampleBody("outcome", 2)] }));
      expect(await tested.store.body(ns, "a", "outcome", 1)).toEqual(sampleBody("outcome", 1, "first"));
      expect(await tested.store.body(ns, "a", "outcome", 2)).toEqual(sampleBody("outcome", 2));
      expect(await tested.store.body(ns, "a", "outcome", 3)).toBeNull();
    });

    test("of checkpoints only the newest is kept", async () => {
      const a = await commitOne(accept(sampleHandoff("a"), { bodies: [sampleBody("handoff", 0)] }));
      const b = await commitOne(change(a, {}, { bodies: [sampleBody("checkpoint", 1)] }));
      await commitOne(change(b, {}, { bodies: [sampleBody("checkpoint", 2)] }));
      expect(await tested.store.body(ns, "a", "checkpoint", 1)).toBeNull();
      expect(await tested.store.bodies(ns, "a")).toEqual([sampleBody("handoff", 0), sampleBody("checkpoint", 2)]);
    });

    test("handoffs that refer to an artifact are found, each once", async () => {
      const a = await commitOne(accept(sampleHandoff("a"), { artifacts: ["f00"] }));
      await commitOne(accept(sampleHandoff("b"), { artifacts: ["f00", "ba5"] }));
      await commitOne(change(a, {}, { artifacts: ["f00"] }));
      expect(await tested.store.referrers(ns, "f00", 10)).toEqual(["a", "b"]);
      expect(await tested.store.referrers(ns, "f00", 1)).toHaveLength(1);
      expect(await tested.store.referrers(ns, "0ff", 10)).toEqual([]);
    });
  });
}
