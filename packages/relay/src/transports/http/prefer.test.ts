import { describe, expect, it } from "vitest";
import { limits } from "../../limits.ts";
import { isMinimal, waitOf } from "./prefer.ts";

describe("Prefer: wait", () => {
  it("is read in seconds, among other preferences, quoted or not", () => {
    expect(waitOf("wait=5")).toBe(5_000);
    expect(waitOf('respond-async, Wait = "7"; foo')).toBe(7_000);
    expect(waitOf(["respond-async", "wait=2"])).toBe(2_000);
  });

  it("waits not at all where nothing is asked", () => {
    expect(waitOf(undefined)).toBe(0);
    expect(waitOf("respond-async")).toBe(0);
  });

  it("is shortened to the longest wait there is", () => {
    expect(waitOf("wait=99999999")).toBe(limits.long_poll_ms);
  });

  it.each(["wait=-1", "wait=x", "wait", "wait=1.5"])("refuses %s", (header) => {
    expect(() => waitOf(header)).toThrow(/whole seconds/);
  });
});

describe("Prefer: return", () => {
  it("is read among other preferences, and only minimal asks for less", () => {
    expect(isMinimal("return=minimal")).toBe(true);
    expect(isMinimal('wait=5, Return="minimal"')).toBe(true);
    expect(isMinimal("return=representation")).toBe(false);
    expect(isMinimal("wait=5")).toBe(false);
    expect(isMinimal(undefined)).toBe(false);
  });
});
