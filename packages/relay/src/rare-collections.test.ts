/** What comes and goes, as payloads and calls do, in a process of its own: how often the heap is collected whole for it. */

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";

/** Of a `gc` entry: it was for the sake of memory outside of the heap (V8's kGCCallbackFlagCollectAllExternalMemory). */
const for_buffers = 32;
/** Of a `gc` entry: all of the heap was collected. */
const full = 4;

/** Prints how many collections there were that `counts` counts, while `turn` did something again and again until it says that it is done. */
const script = (counts: string, turn: string) => `
  import { PerformanceObserver } from "node:perf_hooks";
  const before = process.argv[1];
  if (before !== "") (await import(before)).collectRarely();
  let count = 0;
  const count_of = (entries) => { for (const { detail } of entries) if (${counts}) count += 1; };
  const observer = new PerformanceObserver((list) => count_of(list.getEntries()));
  observer.observe({ entryTypes: ["gc"] });
  let made = 0;
  ${turn}
  const next = () => {
    if (!turn()) return setImmediate(next);
    count_of(observer.takeRecords());
    process.stdout.write(String(count));
  };
  next();
`;

/** 400 MB pass through, of which 150 are kept at a time. */
const buffers = script(
  `(detail.flags & ${for_buffers}) !== 0`,
  `const kept = [];
  const turn = () => {
    for (let each = 0; each < 100; each += 1, made += 1) kept[made % 150_000] = new Uint8Array(1_024);
    return made >= 400_000;
  };`,
);

/** A busy moment, in which what is made is kept for a while, and some of it for good; then 4 GB that nobody keeps. */
const calls = script(
  `made > 400_000 && detail.kind === ${full}`,
  `let kept = [];
  class Box {
    items = [];
    add(text, lost = null) { this.items.push({ text, lost }); }
  }
  const box = new Box();
  const turn = () => {
    for (let each = 0; each < 500; each += 1, made += 1) box.add(new Array(made < 300_000 ? 10 : 100).fill(made));
    const gone = box.items.splice(0);
    if (made < 300_000) kept.push(...gone);
    if (kept.length > 200_000) kept = kept.slice(100_000);
    return made >= 5_000_000;
  };`,
);

async function collections(program: string, before: string): Promise<number> {
  const args = ["--input-type=module", "--eval", program, before];
  return Number((await promisify(execFile)(process.execPath, args)).stdout);
}

const rarely = new URL("./rare-collections.ts", import.meta.url).href;

describe.each([
  { what: "buffers that come and go", program: buffers },
  { what: "calls that come and go after a busy moment", program: calls },
])("$what", ({ program }) => {
  test("are no reason for a full collection", async () => {
    const control = await collections(program, "");
    expect(control).toBeGreaterThan(0);
    // A slow machine may have begun one before.
    expect(await collections(program, rarely)).toBeLessThanOrEqual(control / 4);
  });
});
