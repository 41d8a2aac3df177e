/** The report for programs. Its form is described in docs/conformance.md. */

import { type ConformanceReport, outcomeOf } from "../run/verdict.ts";
import { countsOf } from "./counts.ts";

export function reportJson(report: ConformanceReport): object {
  const { url, about, took_ms, tried, cut_short } = report;
  return {
    relay: { url, software: about.software, mode: about.mode, features: about.features },
    took_ms: Math.round(took_ms),
    summary: countsOf(report),
    cut_short,
    promises: [...Map.groupBy(tried, ({ check }) => check).entries()].map(([check, ofCheck]) => ({
      id: check.id,
      promise: check.promise,
      section: check.section,
      outcome: outcomeOf(ofCheck.map(({ verdict }) => verdict)),
      runs: ofCheck.map(({ transport, verdict }) => ({
        transport,
        ...verdict,
        ...("took_ms" in verdict ? { took_ms: Math.round(verdict.took_ms) } : {}),
      })),
    })),
  };
}
