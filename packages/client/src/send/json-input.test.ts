import { describe, expect, it } from "vitest";
import { UsageError } from "../errors.ts";
import { checkJson, checkText } from "./json-input.ts";

function cycle(): object {
  const ring: Record<string, unknown> = {};
  ring["self"] = ring;
  return ring;
}

class Shy extends String {
  override toString(): string {
    return "***";
  }
}

function deep(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

describe("what can be sent as JSON", () => {
  it.each([
    ["null", null],
    ["a member that is undefined, which is one that is not there", { a: undefined }],
    ["a date, which says itself how it is written", { at: new Date(0) }],
    ["an object twice in different places", ((shared) => [shared, shared])({})],
    [
      "an instance of a class of one's own",
      new (class Point {
        x = 1;
      })(),
    ],
    ["64 levels", deep(64)],
    ["a million bytes less the quotes", "x".repeat(999_998)],
  ])("takes %s", (_what, value) => expect(() => checkJson(value)).not.toThrow());
});

describe("what JSON.stringify would drop or change without a word", () => {
  it.each([
    ["a function", { run: () => 1 }, /at \/run it has a function/],
    ["undefined in an array", [1, undefined], /at \/1 it has undefined/],
    ["a symbol", [Symbol("x")], /a symbol/],
    ["a BigInt", { n: 1n }, /at \/n it has the BigInt 1/],
    ["a Number of a class", { n: new Number(Number.NaN) }, /at \/n it has a Number/],
    ["a String of a class", { n: new Shy("mine") }, /at \/n it has a Shy/],
    ["a BigInt of a class", { n: Object(1n) }, /at \/n it has a BigInt/],
    ["NaN", { n: Number.NaN }, /NaN/],
    ["an infinite number", [Number.POSITIVE_INFINITY], /Infinity/],
    ["a number beyond 2^53", { n: 2 ** 60 }, /beyond 2\^53/],
    ["a cycle", cycle(), /at \/self it has an object that contains itself/],
    ["a Map", { m: new Map([[1, 2]]) }, /at \/m it has a Map/],
    ["a Set", new Set([1]), /a Set/],
    ["a promise that was not awaited", { later: Promise.resolve(1) }, /a Promise/],
    ["bytes", { file: new Uint8Array(3) }, /at \/file it has bytes/],
    ["half a surrogate pair", { s: "\ud800" }, /surrogate/],
    ["a member named __proto__", JSON.parse('{"__proto__": 1}'), /__proto__/],
    ["a path with its slashes escaped", { "a/b": [() => 1] }, /at \/a~1b\/0/],
    ["65 levels", deep(65), /deeper than 64/],
    ["more than a million bytes", "x".repeat(999_999), /1000001 bytes/],
    ["more than a million bytes by escapes", "\u0001".repeat(200_000), /1200002 bytes/],
  ])("refuses %s, and says where and what to do", (_what, value, message) => {
    expect(() => checkJson(value)).toThrow(message);
    expect(() => checkJson(value)).toThrow(UsageError);
  });
});

describe("text", () => {
  it("takes a string", () => expect(() => checkText("é")).not.toThrow());
  it("refuses what is none", () => expect(() => checkText({})).toThrow(/is a object|is an object|sends a string/));
  it("counts bytes, not characters", () => {
    expect(() => checkText("é".repeat(500_000))).not.toThrow();
    expect(() => checkText("é".repeat(500_001))).toThrow(/1000002 bytes/);
  });
});

describe("what cannot even be looked at", () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();

  it.each([
    [
      "a getter that throws",
      {
        a: {
          get b() {
            throw new Error("not for you");
          },
        },
      },
      /at \/a it .*read \(not for you\)/,
    ],
    [
      "a toJSON that throws",
      [
        {
          toJSON() {
            throw new Error("not for you");
          },
        },
      ],
      /at \/0 it .*read \(not for you\)/,
    ],
    ["a proxy that was revoked", { a: proxy }, /at \/a it has an object that cannot be read/],
  ])("%s is told with its place", (_what, value, message) => {
    expect(() => checkJson(value)).toThrow(UsageError);
    expect(() => checkJson(value)).toThrow(message);
  });

  it("a toJSON that gives the object itself is asked once, as JSON.stringify does", () => {
    class Own {
      a = 1;
      toJSON(): this {
        return this;
      }
    }
    expect(() => checkJson(new Own())).not.toThrow();
    expect(JSON.stringify(new Own())).toBe('{"a":1}');
  });
});
