/** Which keys are the same, and which are not. */

import { expect, test } from "vitest";
import { joined, Keys, shortKey } from "./keys.ts";

test("the same said again in another attempt has the same key, in whatever order its members come", () => {
  const [first, second] = [new Keys("run"), new Keys("run")];
  expect(first.next("pay", { sum: 5, to: { name: "Ada", city: "London" } })).toBe(
    second.next("pay", { to: { city: "London", name: "Ada" }, sum: 5 }),
  );
});

test("what is sent a second time has another key, also by a run that goes on from what was kept", () => {
  const keys = new Keys("run");
  const first = keys.next("pay", { sum: 5 });
  const later = new Keys("run", keys.counts);
  expect(keys.next("pay", { sum: 5 })).not.toBe(first);
  expect(later.next("pay", { sum: 5 })).not.toBe(first);
  expect(new Keys("another").next("pay", { sum: 5 })).not.toBe(first);
});

test("parts that hold a slash are not taken for others", () => {
  expect(joined("a", "b/c")).not.toBe(joined("a/b", "c"));
  expect(joined("a", "b%2Fc")).not.toBe(joined("a", "b/c"));
  expect(joined("chat", "c1", "call_0")).toBe("chat/c1/call_0");
});

test("a key that the relay would not take becomes one that it takes", () => {
  expect(shortKey("plain")).toBe("plain");
  for (const text of ["x".repeat(257), "line\nbreak", "\ud800", ""]) expect(shortKey(text)).toMatch(/^[0-9a-f]{64}$/);
});
