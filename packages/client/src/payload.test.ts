/** Payloads that a sender may send again: the same value, the same bytes, in every language. */

import { expect, test } from "vitest";
import { nodeCrypto } from "./identity/node-crypto.ts";
import { seal } from "./payload.ts";
import { realSurroundings } from "./surroundings.ts";

const base = { crypto: nodeCrypto, surroundings: realSurroundings };
const text = (input: unknown) => seal(base, { input }, "input", true).payload.payload;

test("members stand as RFC 8785 orders them, those that look like numbers too", () => {
  expect(text({ b: { 9: 1, 10: 2 }, a: [{ z: 1, "": 2 }] })).toBe('{"a":[{"":2,"z":1}],"b":{"10":2,"9":1}}');
});

test("and are otherwise what JSON.stringify makes of them", () => {
  const odd = { date: new Date(0), left_out: undefined, list: [undefined, -0, 1e21, "\u2028\ud83d\ude00"] };
  expect(text(odd)).toBe('{"date":"1970-01-01T00:00:00.000Z","list":[null,0,1e+21,"\u2028\ud83d\ude00"]}');
});
