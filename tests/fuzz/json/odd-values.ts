/** Values that readers of JSON have stumbled over: limits and just beyond, things that only look like something else. */

import type { Random } from "../chance.ts";
import { leaf, type Tree } from "./json-tree.ts";

const numbers = [
  "0",
  "-0",
  "-1",
  "1",
  "0.5",
  "1.0",
  "1e0",
  "1E+2",
  "2147483647",
  "2147483648",
  "4294967296",
  "9007199254740991",
  "9007199254740992",
  "9007199254740993",
  "-9007199254740993",
  "1e21",
  "1e308",
  "1e309",
  "1e400",
  "-1e400",
  "1e-400",
  "5e-324",
  "0.1e-6",
  "2592000000",
  "2592000001",
  "2000",
  "1999",
  "257",
  "1000000",
  "00",
  "01",
  "+1",
  ".5",
  "1.",
  "0x10",
  "1_000",
  "NaN",
  "Infinity",
  "-Infinity",
  "1e",
  "--1",
];

const words = [
  "null",
  "true",
  "false",
  "[]",
  "{}",
  "[[]]",
  "[null]",
  '{"":null}',
  '{"a":{"a":{}}}',
  "undefined",
  "True",
  "nul",
  "'a'",
  "",
  "/* */ 1",
  "[1,]",
  '{"a":1,}',
  "[1 2]",
  '{"toString":1}',
  '{"constructor":{"prototype":{"a":1}}}',
  '{"__proto__":{"admin":true}}',
  '{"\\u005f_proto__":1}',
  '{"then":"x"}',
  '{"toJSON":1}',
  '{"length":-1}',
];

/** In their quotes. */
const texts = [
  '""',
  '" "',
  '"0"',
  '"null"',
  '"true"',
  '"-1"',
  '"1e3"',
  '"\\u0000"',
  '"a\\u0000b"',
  '"\\u0001\\u001f\\u007f\\u0085"',
  '"\\ud800"',
  '"\\udfff"',
  '"\\udc00\\ud800"',
  '"a\\ud83d"',
  '"\\ud83d\\ude00"',
  '"\\uffff\\ufffe\\ufeff"',
  '"\\u202e\\u200b\\u2028\\u2029"',
  '"é"',
  '"e\\u0301"',
  '"ﬀ İ ı ß K"',
  '"\u{1f469}\u200d\u{1f4bb}"',
  '"\\u002e\\u002e/"',
  '"../../etc/passwd"',
  '"..%2f..%2f"',
  '"%00"',
  '"a\\r\\nx-injected: 1"',
  '"<script>alert(1)</script>"',
  '"\\u001b[31m"',
  '"\'; DROP TABLE handoffs; --"',
  '"$\u007b7*7}{{7*7}}"',
  '"__proto__"',
  '"constructor"',
  '"hasOwnProperty"',
  '"name@origin"',
  '"operator"',
  '"a:b:c"',
  '"\\x41"',
  '"\\u12"',
  '"a\nb"',
  '"unterminated',
  '"2026-11-16T00:00:00Z"',
  '"PT5S"',
  '"hft_"',
  '"http://127.0.0.1:1/"',
  '"00000000-0000-7000-8000-000000000000"',
  '"ffffffff-ffff-7fff-bfff-ffffffffffff"',
  '"00000000-0000-4000-8000-000000000000"',
  '"0197f1d0-0000-7000-8000-00000000000A"',
];

const characters = ["a", "x", "\u00e9", "\u{1f600}", "\\u0001", " ", "\\\\", "\\ud800"];
const lengths: readonly (readonly [most: number, share: number])[] = [
  [300, 0.5],
  [2_100, 0.3],
  [66_000, 0.16],
  [300_000, 0.035],
  [1_700_000, 0.005],
];

export function oddNumber(random: Random): string {
  return random.chance(0.9) ? random.pick(numbers) : "9".repeat(random.between(16, 400));
}

/** A string in its quotes. */
export function oddText(random: Random): string {
  return random.chance(0.85) ? random.pick(texts) : longText(random);
}

export function longText(random: Random): string {
  const character = random.pick(characters);
  return `"${character.repeat(Math.ceil(someLength(random) / character.length))}"`;
}

function someLength(random: Random): number {
  let drawn = random.next();
  for (const [most, share] of lengths) {
    if (drawn < share) return random.between(most / 2, most);
    drawn -= share;
  }
  return 300;
}

/** So deep that a careless reader's stack ends before it does. */
export function deepText(random: Random): string {
  const depth = random.pick([32, 60, 64, 65, 66, 67, 68, 500, 5_000, 20_000, 100_000]);
  const [open, shut] = random.pick([
    ["[", "]"],
    ['{"a":', "}"],
    ['[{"a":', "}]"],
  ] as const);
  const closes = random.chance(0.8) ? shut.repeat(depth) : "";
  return `${open.repeat(depth)}1${closes}`;
}

/** As many names as a body may have, and more. */
function wideText(random: Random): string {
  const count = random.pick([20, 300, 1_100, 10_000, 100_001]);
  return `{${Array.from({ length: count }, (_, at) => `"k${at}":0`).join(",")}}`;
}

export function oddLeaf(random: Random): Tree {
  const drawn = random.next();
  if (drawn < 0.35) return leaf(oddNumber(random));
  if (drawn < 0.75) return leaf(oddText(random));
  if (drawn < 0.95) return leaf(random.pick(words));
  if (drawn < 0.985) return leaf(deepText(random));
  return leaf(wideText(random));
}
