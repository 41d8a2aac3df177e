// The public door of @handfast/openai-agents.
import "./version.ts";

export type {
  CompletedOutcome,
  FailedOutcome,
  HandoffToolOptions,
  Lock,
  Outcome,
  Waker,
  Woken,
} from "@handfast/adapter-kit";
export { type AgentWorkerOptions, agentWorker, type ServeAgentOptions, serveAgent } from "./agent-worker.ts";
export { handOffPending, type Runs, resumeRuns } from "./paused-runs.ts";
export { handoffTool, pausingHandoffTool } from "./tool.ts";
