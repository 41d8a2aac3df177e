// The public door of @handfast/protocol: what clients need, and the schemas of documents.
export * from "./client.ts";
export { type AgreedLimits, type ContractTerms, contractTerms } from "./contract/terms.ts";
export {
  type AckDocument,
  type AnswerDocument,
  type CancelDocument,
  type ContractDocument,
  type DocumentOf,
  type DocumentTyp,
  documentSchemas,
  type HandoffDocument,
  handoffFields,
  leaseFields,
  manifestFields,
  type OutcomeDocument,
  outcomeFields,
  type ProposalDocument,
  type RegistrationDocument,
  type RotationDocument,
} from "./documents.ts";
export {
  type Artifact,
  type Budget,
  type Capability,
  type Cost,
  type Costs,
  closed,
  type DataPolicy,
  fields,
  type Limits,
  type OutcomeError,
  type PayloadDigest,
  type Usage,
} from "./fields.ts";
export type { Finding } from "./manifest/finding.ts";
export { type LintChecks, lintManifest } from "./manifest/lint.ts";
export { type DocumentFault, type ReadDocument, readDocument } from "./read-document.ts";
