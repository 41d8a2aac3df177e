import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { SignedRoot } from "@handfast/protocol";
import { expect, test } from "vitest";
import { limits } from "../limits.ts";
import { Signatures } from "./signatures.ts";

const root: SignedRoot = { id: "one", key: "key", signed: new Uint8Array(), sig: new Uint8Array() };

test("a proof that the relay made is known by itself, for its own document, and not as a copy", () => {
  const signatures = new Signatures(() => 0, limits);
  const proof = { key: "key", sig: "sig", index: 0, size: 1, path: [] };
  signatures.made(proof, "handoff", "{}", root);
  expect(signatures.open("handoff", "{}", proof)).toBe(root);
  expect(signatures.open("handoff", "[]", proof)).toBeNull();
  expect(signatures.open("outcome", "{}", proof)).toBeNull();
  expect(signatures.open("handoff", "{}", { ...proof, index: 1 })).toBeNull();
  expect(JSON.parse(JSON.stringify(proof))).toEqual({ key: "key", sig: "sig", index: 0, size: 1, path: [] });
});

/**
 * Documents of 10 KB, 1.5 GB in all, none of which anybody holds for long; in a process of its own. Answers how many full collections
 * they took, which depends a little on the machine: so beside it, the same documents held by a WeakMap.
 */
const script = `
  import { PerformanceObserver } from "node:perf_hooks";
  const { Signatures } = await import(process.argv[1]);
  const { limits } = await import(process.argv[2]);
  const full = 4;
  let count = 0;
  const count_of = (entries) => { for (const { detail } of entries) if (detail.kind === full) count += 1; };
  const observer = new PerformanceObserver((list) => count_of(list.getEntries()));
  observer.observe({ entryTypes: ["gc"] });
  const signatures = new Signatures(() => 0, limits);
  const weakly = { held: new WeakMap(), made(proof, typ, document, root) { this.held.set(proof, { typ, document, root }); } };
  const keeper = process.argv[3] === "weakly" ? weakly : signatures;
  const bytes = Buffer.alloc(10_000, "a");
  let made = 0;
  const turn = () => {
    for (let each = 0; each < 50; each += 1, made += 1) {
      bytes.writeUInt32LE(made & 0x7f7f7f7f);
      const document = bytes.toString("latin1");
      keeper.made({ index: made }, "handoff", document, { id: document, key: "", signed: bytes, sig: bytes });
    }
    if (made < 150_000) return setImmediate(turn);
    count_of(observer.takeRecords());
    process.stdout.write(String(count));
  };
  turn();
`;

test("a document leaves memory with the proof that was made of it, without full collections", async () => {
  const files = ["./signatures.ts", "../limits.ts"].map((file) => new URL(file, import.meta.url).href);
  const collections = async (keeper: "signatures" | "weakly"): Promise<number> => {
    const args = ["--input-type=module", "--eval", script, ...files, keeper];
    return Number((await promisify(execFile)(process.execPath, args)).stdout);
  };
  expect(await collections("signatures")).toBeLessThanOrEqual((await collections("weakly")) / 4);
});
