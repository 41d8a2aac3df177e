import type { AboutRelay } from "@handfast/protocol/wire";
import { describe, expect, it } from "vitest";
import type { Check, Transport } from "../check.ts";
import type { ConformanceReport, Verdict } from "../run/verdict.ts";
import { countsOf } from "./counts.ts";
import { renderReport } from "./render-report.ts";
import { reportJson } from "./report-json.ts";

const about: AboutRelay = {
  protocol: "handfast",
  versions: ["v1"],
  software: { name: "a-relay", version: "1.2.3" },
  namespace: "default",
  mode: "development",
  public_urls: ["http://relay.example"],
  websocket_urls: [],
  relay_key: { kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" },
  features: ["http"],
  limits: {},
};

function check(id: string, promise: string): Check {
  return { id, promise, section: "ids-and-idempotency.md#what-is-said-twice", run: async () => undefined };
}

const kept: Verdict = { outcome: "kept", took_ms: 12, tries: 1 };
const broken: Verdict = {
  outcome: "broken",
  took_ms: 34,
  failure: {
    expected: "ack to be refused with 412 lease_lost",
    got: "200 {}",
    exchanges: [{ who: "agent-1", sent: 'ack {"fence":1}', came: "200 {}" }],
  },
};
const one = check("TWICE-1", "It holds.");
const two = check("TWICE-2", "It holds over one transport.");
const three = check("TWICE-3", "It was not tried.");

function tried(of: Check, transport: Transport, verdict: Verdict) {
  return { check: of, transport, verdict };
}

const report: ConformanceReport = {
  url: "http://relay.example",
  about,
  took_ms: 1_500,
  cut_short: null,
  tried: [
    tried(one, "http", kept),
    tried(one, "websocket", { outcome: "skipped", reason: "feature not offered: websocket" }),
    tried(two, "http", { ...kept, tries: 2 }),
    tried(two, "websocket", broken),
    tried(three, "http", { outcome: "not_tried", reason: "no way to kill it was given" }),
  ],
};

describe("a report", () => {
  it("counts each promise once: broken by one transport, it is broken", () => {
    expect(countsOf(report)).toEqual({ kept: 1, broken: 1, skipped: 0, not_tried: 1 });
  });

  it("tells a person, by section, what was kept and what was not, with what was sent and what came", () => {
    expect(renderReport(report).join("\n")).toBe(`spec/ids-and-idempotency.md › what is said twice
  ✓ TWICE-1    It holds. http
               websocket skipped: feature not offered: websocket
  ✗ TWICE-2    It holds over one transport. http
               http kept at try 2: the relay stood still during those before
               over websocket
               expected  ack to be refused with 412 lease_lost
               got       200 {}
                 agent-1 → ack {"fence":1}
                         ← 200 {}
  – TWICE-3    It was not tried.
               http not tried: no way to kill it was given

1 kept, 1 broken, 1 not tried of 3 promises, in 3 runs and 1.5 s
http://relay.example: a-relay 1.2.3, development mode`);
  });

  it("leaves out what was kept where only failures are asked for", () => {
    const lines = renderReport(report, undefined, { failures_only: true }).join("\n");
    expect(lines).not.toContain("TWICE-1");
    expect(lines).toContain("TWICE-2");
    expect(lines).toContain("1 kept, 1 broken");
  });

  it("says why it was cut short, and what a failed command wrote", () => {
    const reason = "the restart command ended with 3: ./restart.sh\nno such file";
    const cut_short = "the restart command ended with 3: ./restart.sh";
    const hindered = { ...report, cut_short, tried: [tried(three, "http", { outcome: "not_tried", reason })] };
    expect(renderReport(hindered).join("\n")).toBe(`spec/ids-and-idempotency.md › what is said twice
  – TWICE-3    It was not tried.
               http not tried: the restart command ended with 3: ./restart.sh
               no such file

0 kept, 0 broken, 1 not tried of 1 promises, in 0 runs and 1.5 s
http://relay.example: a-relay 1.2.3, development mode
cut short: the restart command ended with 3: ./restart.sh`);
    expect(reportJson(hindered)).toMatchObject({ cut_short });
  });

  it("tells a program the same", () => {
    expect(reportJson(report)).toMatchObject({
      cut_short: null,
      relay: { url: "http://relay.example", mode: "development" },
      summary: { kept: 1, broken: 1 },
      promises: [
        { id: "TWICE-1", outcome: "kept" },
        {
          id: "TWICE-2",
          outcome: "broken",
          runs: [{ outcome: "kept" }, { outcome: "broken", failure: { got: "200 {}" } }],
        },
        { id: "TWICE-3", outcome: "not_tried" },
      ],
    });
  });
});
