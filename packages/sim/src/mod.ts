export { failureReport, summary, verdictOf } from "./run/report.ts";
export type { Failure, SeedsOptions, SeedsResult } from "./run/run-seeds.ts";
export { runThreads } from "./run/run-threads.ts";
