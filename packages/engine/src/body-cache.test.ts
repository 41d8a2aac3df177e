import { expect, test } from "vitest";
import { BodyCache } from "./body-cache.ts";
import type { Body } from "./store.ts";

const body = (payload: Uint8Array): Body => ({ kind: "handoff", number: 0, document: null, proof: null, payload });

test("a small payload that is kept holds no slab it was cut from", () => {
  const cache = new BodyCache(1_000_000);
  const payload = Buffer.from("a few bytes of a slab");
  expect(payload.buffer.byteLength).toBeGreaterThan(payload.byteLength);
  cache.add("default", "a", body(payload));
  const kept = cache.get("default", "a", "handoff", 0)?.payload;
  expect(kept?.buffer.byteLength).toBe(payload.byteLength);
  expect(Buffer.from(kept ?? []).toString()).toBe("a few bytes of a slab");
});

test("a payload with memory of its own is not copied", () => {
  const cache = new BodyCache(1_000_000);
  const payload = new Uint8Array(1_000);
  cache.add("default", "a", body(payload));
  expect(cache.get("default", "a", "handoff", 0)?.payload).toBe(payload);
});

test("the oldest go first when there is no more room", () => {
  const cache = new BodyCache(2_500);
  for (const id of ["a", "b", "c"]) cache.add("default", id, body(new Uint8Array(1_000)));
  const kept = ["a", "b", "c"].map((id) => cache.get("default", id, "handoff", 0) !== undefined);
  expect(kept).toEqual([false, true, true]);
});
