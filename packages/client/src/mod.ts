// The public door of @handfast/client.
export type {
  AgentView,
  ContractView,
  DeadLetterView,
  HandoffEvent,
  HandoffView,
  Hit,
  LeaseView,
  Miss,
  OfferView,
  OperationName,
  Operations,
  OutcomeView,
  ProposalCall,
  QuestionView,
  Receipt,
} from "@handfast/protocol/wire";
export type { Warning } from "./base.ts";
export { Client } from "./client.ts";
export { type ConnectOptions, connect } from "./connect.ts";
export type { Duration } from "./duration.ts";
export {
  Fail,
  HandfastError,
  HandoffError,
  type ProblemDocument,
  Reject,
  RelayUnreachable,
  Retry,
  UsageError,
} from "./errors.ts";
export type {
  Contract,
  ContractsOptions,
  Declined,
  FindOptions,
  Found,
  Need,
  NegotiateOptions,
  Negotiation,
  Offer,
  TermsNeeded,
} from "./find/mod.ts";
export type { PrivateJwk } from "./identity/agent-key.ts";
export type { Call, CallOptions } from "./link/link.ts";
export type { WebSocketConstructor, WebSocketLike } from "./link/web-socket.ts";
export {
  type ArtifactBytes,
  type ChunkOptions,
  type Chunks,
  type Ended,
  type FollowedEvent,
  type GatherOptions,
  type Handle,
  type OutcomesOptions,
  type Progress,
  type ProgressEvent,
  type Proven,
  type ProvenReceipt,
  type Question,
  type QuestionsOptions,
  type ResultOptions,
  type Scatter,
  ScatterError,
  type ScatterOptions,
  type SendingFrom,
  type SendOptions,
  type Settled,
  type StreamOptions,
  type Target,
  type Task,
  type WaitOptions,
} from "./send/mod.ts";
export type {
  AskOptions,
  Capabilities,
  CapabilityDefinition,
  CapabilityTerms,
  Context,
  Handler,
  Previous,
  Proposal,
  Propose,
  Received,
  Returned,
  ServeOptions,
  Server,
  StandardSchema,
  StopOptions,
} from "./serve/mod.ts";
export type { Surroundings } from "./surroundings.ts";
export type { Checked, Pins } from "./trust.ts";
