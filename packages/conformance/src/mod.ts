// The public door of @handfast/conformance: try a relay, and tell what came of it.
export { Unreached } from "./broken.ts";
export { type Check, type Need, pageOf, type Transport, transportsOf } from "./check.ts";
export { checks } from "./promises/all.ts";
export { countsOf } from "./report/counts.ts";
export { listLines } from "./report/list-lines.ts";
export { plainStyle, type ReportStyle, renderReport } from "./report/render-report.ts";
export { reportJson } from "./report/report-json.ts";
export { restartBy } from "./run/restart-command.ts";
export { type RunOptions, runConformance, type Target } from "./run/run-conformance.ts";
export type { ConformanceReport, Failure, Tried, Verdict } from "./run/verdict.ts";
export { selectChecks } from "./select.ts";
export { NoRelay, NotAdmitted } from "./untriable.ts";
