// The public door of @handfast/langgraph.
import "./version.ts";

export type { CompletedOutcome, FailedOutcome, Lock, Outcome, Waker, Woken } from "@handfast/adapter-kit";
export { addHandoff, type HandoffNodeOptions } from "./add-handoff.ts";
export { addHandoffTools, type HandoffToolsOptions } from "./add-handoff-tools.ts";
export {
  type GraphHandlerOptions,
  graphWorker,
  handoffOf,
  type ServeGraphOptions,
  serveGraph,
} from "./graph-worker.ts";
export { type ResumeOptions, resumeOutcomes } from "./resume-outcomes.ts";
export { handoffTool } from "./tool.ts";
