/** What is done wrong to bytes by somebody who knows nothing of them. */

import { deflateRawSync, gzipSync } from "node:zlib";
import type { Random } from "../chance.ts";
import type { Mutation } from "./mutation.ts";

function place(bytes: Buffer, random: Random): number {
  return random.between(0, Math.max(0, bytes.length - 1));
}

const pieces: readonly Buffer[] = [
  Buffer.from([0]),
  Buffer.from([0xff]),
  Buffer.from([0xc0, 0x80]),
  Buffer.from([0xed, 0xa0, 0x80]),
  Buffer.from([0xf4, 0x90, 0x80, 0x80]),
  Buffer.from([0xe2, 0x82]),
  Buffer.from("\ufeff"),
  Buffer.from("\u2028"),
  Buffer.from('"'),
  Buffer.from("\\"),
  Buffer.from("{"),
  Buffer.from("}"),
  Buffer.from("]"),
  Buffer.from(","),
  Buffer.from("//"),
  Buffer.from("\t\v\f "),
  Buffer.from("\\u0000"),
  Buffer.from("9".repeat(400)),
];

export const textMutations: readonly Mutation<Buffer>[] = [
  { name: "cut short", apply: (bytes, { random }) => bytes.subarray(0, place(bytes, random)) },
  { name: "the beginning is missing", apply: (bytes, { random }) => bytes.subarray(place(bytes, random)) },
  {
    name: "bits turned over",
    apply: (bytes, { random }) => {
      const turned = Buffer.from(bytes);
      for (let count = random.between(1, 4); count > 0 && turned.length > 0; count -= 1) {
        const at = place(turned, random);
        turned[at] = (turned[at] ?? 0) ^ (1 << random.between(0, 7));
      }
      return turned;
    },
  },
  {
    name: "something put in between",
    apply: (bytes, { random }) => {
      const at = place(bytes, random);
      return Buffer.concat([bytes.subarray(0, at), random.pick(pieces), bytes.subarray(at)]);
    },
  },
  {
    name: "random bytes put in between",
    apply: (bytes, { random }) => {
      const at = place(bytes, random);
      return Buffer.concat([bytes.subarray(0, at), random.bytes(random.skewed(1, 200)), bytes.subarray(at)]);
    },
  },
  {
    name: "a piece left out",
    apply: (bytes, { random }) => {
      const at = place(bytes, random);
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + random.skewed(1, 40))]);
    },
  },
  {
    name: "a piece said twice",
    apply: (bytes, { random }) => {
      const at = place(bytes, random);
      const end = at + random.skewed(1, 200);
      return Buffer.concat([bytes.subarray(0, end), bytes.subarray(at)]);
    },
  },
  { name: "said twice", apply: (bytes) => Buffer.concat([bytes, bytes]) },
  { name: "a byte order mark before it", apply: (bytes) => Buffer.concat([Buffer.from("\ufeff"), bytes]) },
  { name: "in UTF-16", apply: (bytes) => Buffer.from(bytes.toString("utf8"), "utf16le") },
  { name: "in Latin-1", apply: (bytes) => Buffer.from(bytes.toString("utf8"), "latin1") },
  { name: "white space around it", apply: (bytes) => Buffer.from(` \r\n\t${bytes.toString("utf8")}\n`) },
  {
    name: "white space within it",
    apply: (bytes) => Buffer.from(bytes.toString("utf8").replaceAll(/([,:])/g, " $1\n\t")),
  },
  { name: "in single quotes", apply: (bytes) => Buffer.from(bytes.toString("utf8").replaceAll('"', "'")) },
  { name: "compressed", apply: (bytes) => gzipSync(bytes) },
  { name: "deflated", apply: (bytes) => deflateRawSync(bytes) },
  { name: "nothing at all", apply: () => Buffer.alloc(0) },
  { name: "random bytes", apply: (_bytes, { random }) => Buffer.from(random.bytes(random.skewed(1, 5_000))) },
];
