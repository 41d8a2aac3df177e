/** What the benchmark may be told, and what it plans to measure. */

import { describe, expect, test } from "vitest";
import { readSettings, UsageMistake } from "./command-line.ts";
import { fullPlan, onlyThese, quickPlan, type RowPlan } from "./plan.ts";

describe("the plans", () => {
  test("--only takes systems and groups", () => {
    expect(new Set(onlyThese(fullPlan, ["bullmq"]).map(({ system }) => system))).toEqual(new Set(["bullmq"]));
    expect(
      onlyThese(quickPlan, ["ours"]).every(({ system }) => system.startsWith("ws") || system.startsWith("http")),
    ).toBe(true);
  });

  test("the full one has every concurrency, signed and unsigned, both transports, a crowd, a slow disk, a loaded store", () => {
    const has = (wanted: Partial<RowPlan>) =>
      fullPlan.some((one) =>
        Object.entries(wanted).every(([name, value]) =>
          Object.entries(one).some(([n, v]) => n === name && v === value),
        ),
      );
    for (const system of ["ws-unsigned", "ws-signed", "http-unsigned", "http-signed", "crowd-signed"] as const) {
      expect(fullPlan.find((one) => one.system === system)?.concurrencies).toEqual([1, 64, 256]);
    }
    expect(has({ system: "ws-unsigned", store: "loaded" })).toBe(true);
    for (const system of ["ws-unsigned", "bullmq", "pg-boss", "jetstream-sync", "restate"] as const) {
      expect(has({ system, disk: "slow" })).toBe(true);
    }
  });
});

describe("the command line", () => {
  test("refuses what it does not know, in a sentence", () => {
    expect(() => readSettings(["--only", "kafka"])).toThrow(UsageMistake);
    expect(() => readSettings(["jog"])).toThrow("There is no command jog");
    expect(() => readSettings(["--seconds", "0"])).toThrow("--seconds takes a positive number");
    expect(() => readSettings(["--speed"])).toThrow(/^Unknown option '--speed'\.$/);
    expect(() => readSettings(["--store", "dbase"])).toThrow("There is no store dbase. There are sqlite, postgres.");
    expect(() => readSettings(["soak", "--store", "postgres"])).toThrow("soak is measured on sqlite only");
  });

  test("takes a command and its options", () => {
    expect(readSettings(["soak", "--minutes", "1", "--json"])).toMatchObject({
      command: "soak",
      minutes: 1,
      json: true,
    });
    expect(readSettings(["--help"])).toBeNull();
  });
});
