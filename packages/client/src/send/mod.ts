export type {
  ChunkOptions,
  Chunks,
  Ended,
  FollowedEvent,
  GatherOptions,
  Handle,
  OutcomesOptions,
  Progress,
  ProgressEvent,
  Question,
  QuestionsOptions,
  Scatter,
  Sending,
  SendingFrom,
  Settled,
  StreamOptions,
} from "./api.ts";
export { ScatterError } from "./faults.ts";
export type {
  ArtifactBytes,
  ResultOptions,
  ScatterOptions,
  SendOptions,
  Target,
  Task,
  WaitOptions,
} from "./options.ts";
export type { Proven, ProvenReceipt } from "./proofs.ts";
export { sending } from "./sending.ts";
