/** Buffers that come and go, as payloads do, in a process of its own: what its collections were for. */

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

/** Of a `gc` entry: it was for the sake of memory outside of the heap (V8's kGCCallbackFlagCollectAllExternalMemory). */
const for_buffers = 32;

/** 400 MB pass through, of which 150 are kept at a time. */
const script = `
  import { PerformanceObserver } from "node:perf_hooks";
  const before = process.argv[1];
  if (before !== "") (await import(before)).countBuffersAsHeap();
  let count = 0;
  const count_of = (entries) => { for (const { detail } of entries) if ((detail.flags & ${for_buffers}) !== 0) count += 1; };
  const observer = new PerformanceObserver((list) => count_of(list.getEntries()));
  observer.observe({ entryTypes: ["gc"] });
  const kept = [];
  let made = 0;
  const turn = () => {
    for (let each = 0; each < 100; each += 1, made += 1) kept[made % 150_000] = new Uint8Array(1_024);
    if (made < 400_000) return setImmediate(turn);
    count_of(observer.takeRecords());
    process.stdout.write(String(count));
  };
  turn();
`;

async function collectionsForBuffers(before: string): Promise<number> {
  const args = ["--input-type=module", "--eval", script, before];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return Number(stdout);
}

test("buffers that come and go are no reason for a full collection", async () => {
  expect(await collectionsForBuffers(new URL("./buffers-as-heap.ts", import.meta.url).href)).toBe(0);
});

test("they are one in a process that counts them apart", async () => {
  expect(await collectionsForBuffers("")).toBeGreaterThan(0);
});
