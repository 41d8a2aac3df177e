import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checks } from "./promises/all.ts";
import { renderReport } from "./report/render-report.ts";
import { runConformance } from "./run/run-conformance.ts";
import { selectChecks } from "./select.ts";
import { RelayProcess } from "./testing/relay-process.ts";
import { short_lived_flags } from "./testing/short-lived.ts";

describe("the reference relay", () => {
  let relay: RelayProcess;
  let short_lived: RelayProcess;
  beforeAll(async () => {
    relay = await RelayProcess.start();
    short_lived = await RelayProcess.start({ flags: short_lived_flags });
  });
  afterAll(async () => {
    await relay?.dispose();
    await short_lived?.dispose();
  });

  it("keeps every promise of the specification, over HTTP and over WebSockets", async () => {
    const report = await runConformance({ ...relay.target, short_lived: short_lived.target }, { checks });
    const broken = report.tried.filter(({ verdict }) => verdict.outcome === "broken");
    expect(broken.length === 0 ? "" : renderReport(report, undefined, { failures_only: true }).join("\n")).toBe("");
    const untried = report.tried.filter(({ verdict }) => verdict.outcome !== "kept").map(({ check }) => check.id);
    expect(untried).toEqual(["NAME-10"]);
  }, 300_000);
});

describe("the reference relay in production mode", () => {
  it("keeps those that hold there, with agents that the operator admits", async () => {
    const relay = await RelayProcess.start({ mode: "production" });
    try {
      const some = selectChecks(checks, ["NAME-10", "NAME-3", "DELIVER-2", "PROBLEM-5"]);
      const report = await runConformance({ ...relay.target, short_lived: null }, { checks: some });
      const kept = report.tried.filter(({ verdict }) => verdict.outcome === "kept").map(({ check }) => check.id);
      expect(new Set(kept)).toEqual(new Set(["NAME-10", "NAME-3", "DELIVER-2", "PROBLEM-5"]));
    } finally {
      await relay.dispose();
    }
  });

  it("cannot be tried without the operator's token, and nothing of it counts as kept", async () => {
    const relay = await RelayProcess.start({ mode: "production" });
    try {
      const target = { url: relay.url, operator_token: null, restart: null, short_lived: null };
      await expect(runConformance(target, { checks })).rejects.toThrow(/not_admitted/);
    } finally {
      await relay.dispose();
    }
  });
});

describe("a relay that the suite was given little for", () => {
  it("has what needs more reported as not tried, with the reason", async () => {
    const relay = await RelayProcess.start();
    try {
      const target = { url: relay.url, operator_token: null, restart: null, short_lived: null };
      const some = selectChecks(checks, ["SEE-3", "DURABLE-1", "KEEP-1", "KEEP-7", "FENCE-1"]);
      const { tried } = await runConformance(target, { checks: some });
      const told = new Map(tried.map(({ check, verdict }) => [check.id, verdict]));
      expect(told.get("FENCE-1")).toMatchObject({ outcome: "kept" });
      for (const [id, reason] of [
        ["SEE-3", /operator's token/],
        ["DURABLE-1", /--restart/],
        ["KEEP-1", /--short-lived/],
        ["KEEP-7", /--short-lived-restart/],
      ] as const) {
        expect(told.get(id)).toEqual({ outcome: "not_tried", reason: expect.stringMatching(reason) });
      }
    } finally {
      await relay.dispose();
    }
  });
});
