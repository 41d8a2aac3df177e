import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { idTime, isId, isName, isTextId, makeId, noName } from "./ids.ts";

const random = fc.uint8Array({ minLength: 10, maxLength: 10 });
const time = fc.integer({ min: 0, max: 2 ** 48 - 1 });

describe("ids", () => {
  it("are UUIDv7 that tell their time", () => {
    fc.assert(
      fc.property(time, random, (now_ms, bytes) => {
        const id = makeId(now_ms, bytes);
        expect(isId(id)).toBe(true);
        expect(idTime(id)).toBe(now_ms);
      }),
    );
  });

  it("sort by time", () => {
    fc.assert(
      fc.property(time, time, random, random, (a, b, bytesA, bytesB) => {
        fc.pre(a < b);
        expect(makeId(a, bytesA) < makeId(b, bytesB)).toBe(true);
      }),
    );
  });

  it("lay out time, version, variant and randomness as RFC 9562 says", () => {
    expect(makeId(0x0123456789ab, new Uint8Array(10).fill(0xff))).toBe("01234567-89ab-7fff-bfff-ffffffffffff");
    expect(makeId(0, new Uint8Array(10))).toBe("00000000-0000-7000-8000-000000000000");
  });

  it.each(["", "01234567-89AB-7fff-bfff-ffffffffffff", "01234567-89ab-4fff-bfff-ffffffffffff", 7, null])(
    "are not %j",
    (value) => {
      expect(isId(value)).toBe(false);
    },
  );

  it("are not made of a time or randomness that does not fit", () => {
    expect(() => makeId(-1, new Uint8Array(10))).toThrow(RangeError);
    expect(() => makeId(0.5, new Uint8Array(10))).toThrow(RangeError);
    expect(() => makeId(2 ** 48, new Uint8Array(10))).toThrow(RangeError);
    expect(() => makeId(0, new Uint8Array(9))).toThrow(RangeError);
    expect(() => idTime("x")).toThrow(RangeError);
  });
});

describe("names", () => {
  it.each(["a", "web_research", "Research-1.b", "9", "a".repeat(128)])("may be %s", (name) => {
    expect(isName(name)).toBe(true);
  });

  it.each(["", "-a", ".a", "_a", "a b", "a@b", "a/b", "é", "a\n", "a".repeat(129), 1])("are not %j", (name) => {
    expect(isName(name)).toBe(false);
  });
});

describe("free-form ids", () => {
  it.each(["x", "Zürich 🏔", " ", "🏔".repeat(256)])("may be %s", (id) => {
    expect(isTextId(id)).toBe(true);
  });

  it.each(["", "a\nb", "\u0000", "\u007f", "\u0085", "\ud800", "a\udc00", "x".repeat(257), 1])("are not %j", (id) => {
    expect(isTextId(id)).toBe(false);
  });
});

describe("what is no name", () => {
  it("is told with the character that only looks like one of a name's", () => {
    expect(noName("r\u0435search")).toMatch(/^is no name: it has "\u0435" \(U\+0435\), and a name is up to 128 of A-Z/);
    expect(noName("a\u{1f91d}")).toContain("(U+1F91D)");
    expect(noName("a\u200bb")).toContain("(U+200B)");
    expect(noName("a b")).toMatch(/^is no name: a name is up to 128/);
  });
});
