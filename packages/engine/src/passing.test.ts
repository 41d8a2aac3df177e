import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { Passing } from "./passing.ts";

test("holds what came and has not gone, in the order it came", () => {
  const passing = new Passing<string, number | undefined>();
  passing.set("one", 1);
  passing.set("two", 2);
  passing.set("three", undefined);
  passing.set("one", 11);
  expect([...passing.values()]).toEqual([11, 2, undefined]);
  expect([passing.get("one"), passing.has("three"), passing.has("four"), passing.size]).toEqual([11, true, false, 3]);
  expect([passing.delete("two"), passing.delete("two")]).toEqual([true, false]);
  expect([...passing.values()]).toEqual([11, undefined]);
  passing.clear();
  expect([passing.size, passing.get("one"), ...passing.values()]).toEqual([0, undefined]);
});

/** 100,000 pass through a map, 100 of them at a time, 8 KB each; in a process of its own. Answers how much of that the old generation got, in KB. */
const script = `
  import { getHeapSpaceStatistics } from "node:v8";
  const { Passing } = await import(process.argv[1]);
  const old_kb = () =>
    getHeapSpaceStatistics().find(({ space_name }) => space_name === "old_space").space_used_size / 1_024;
  const map = process.argv[2] === "passing" ? new Passing() : new Map();
  let came = 0;
  let [before, moved] = [old_kb(), 0];
  const turn = () => {
    for (let each = 0; each < 100; each += 1, came += 1) {
      map.set(came, new Array(1_000).fill(came));
      map.delete(came - 100);
    }
    const now = old_kb();
    moved += Math.max(0, now - before);
    before = now;
    if (came < 100_000) return setImmediate(turn);
    process.stdout.write(String(Math.round(moved)));
  };
  turn();
`;

test("leaves behind what has gone to young collections, as a map does not", async () => {
  const file = new URL("./passing.ts", import.meta.url).href;
  const old_kb = async (kind: "passing" | "map"): Promise<number> => {
    const args = ["--input-type=module", "--no-allocation-site-pretenuring", "--eval", script, file, kind];
    return Number((await promisify(execFile)(process.execPath, args)).stdout);
  };
  expect(await old_kb("passing")).toBeLessThan((await old_kb("map")) / 3);
});
