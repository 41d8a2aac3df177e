import { beforeEach, describe, expect, it } from "vitest";
import { limits, type RelayLimits } from "../limits.ts";
import { OfferedBefore } from "./offered-before.ts";
import { commitChanges } from "./record-table.ts";
import { StoreRecords } from "./testing/store-records.ts";

const memory_ms = limits.offered_before_ms;

let records: StoreRecords;
beforeEach(async () => {
  records = await StoreRecords.open();
});

async function open(more: Partial<RelayLimits> = {}) {
  const offered = new OfferedBefore("default", { ...limits, ...more });
  await offered.load(records);
  const named = (names: readonly string[]) => names.map((name) => ({ name }));
  const drop = (agent: string, before: readonly string[], after: readonly string[], now: number) =>
    commitChanges(records, offered.dropping(agent, named(before), named(after), now));
  return { offered, drop };
}

const kept = async () => (await records.load("offered_before")).map(({ key }) => key);

describe("what was offered before", () => {
  it("is written only where something was dropped", async () => {
    const { drop } = await open();
    await drop("a", [], ["x"], 1);
    await drop("a", ["x"], ["x", "y"], 2);
    expect([records.puts, await kept()]).toEqual([0, []]);
    await drop("a", ["x", "y"], ["y"], 3);
    expect([records.puts, await kept()]).toEqual([1, ["a"]]);
  });

  it("goes from the store once it is offered again, or was remembered for long enough", async () => {
    const { drop } = await open();
    await drop("a", ["x"], [], 1);
    await drop("b", ["x"], [], 2);
    await drop("a", [], ["x"], 3);
    expect(await kept()).toEqual(["b"]);
    await drop("c", [], ["x"], memory_ms + 2);
    expect(await kept()).toEqual([]);
  });

  it("is bounded over all agents: the earliest goes first", async () => {
    const { offered, drop } = await open({ offered_before_total: 2, offered_before_swept_at_once: 1 });
    for (const [at, agent] of ["a", "b", "c", "d"].entries()) await drop(agent, ["x"], [], at + 1);
    expect(await kept()).toEqual(["b", "c", "d"]);
    expect(["a", "b"].map((agent) => offered.has(agent, "x", 5))).toEqual([false, true]);
  });

  it("stays crowded while any name that was pushed out is to be remembered, also after a start", async () => {
    const more = { offered_before_per_agent: 2 };
    const { drop } = await open(more);
    await drop("a", ["x"], [], 1);
    await drop("a", ["y", "z"], [], 2);
    await drop("a", [], ["y", "z"], 3);
    const { offered } = await open(more);
    expect([offered.has("a", "x", memory_ms), offered.has("a", "x", memory_ms + 1)]).toEqual([true, false]);
  });
});
