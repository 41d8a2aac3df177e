// The public door of @handfast/ai-sdk.
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
export { type Conversations, handOffPending, resumeConversations } from "./conversations.ts";
export { type ModelWorkerOptions, modelWorker, type ServeModelOptions, serveModel } from "./model-worker.ts";
export { handoffTool, handoffTools, pausingHandoffTool } from "./tool.ts";
