// The public door of @handfast/protocol: what clients need, and the schemas of documents.
export * from "./client.ts";
export {
  type AckDocument,
  type AnswerDocument,
  type CancelDocument,
  type DocumentOf,
  type DocumentTyp,
  documentSchemas,
  type HandoffDocument,
  handoffFields,
  leaseFields,
  type OutcomeDocument,
  outcomeFields,
  type RegistrationDocument,
  type RotationDocument,
} from "./documents.ts";
export {
  type Artifact,
  type Budget,
  type Capability,
  closed,
  fields,
  type Limits,
  type OutcomeError,
  type PayloadDigest,
  type Usage,
} from "./fields.ts";
export { type DocumentFault, type ReadDocument, readDocument } from "./read-document.ts";
