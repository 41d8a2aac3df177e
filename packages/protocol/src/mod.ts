// The public door of @handfast/protocol.
export type { Crypto, Signer } from "./crypto.ts";
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
export { fromBase64url, fromHex, toBase64url, toHex, toUtf8 } from "./encoding.ts";
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
export { idPattern, idTime, isId, isName, isTextId, makeId, namePattern, textIdPattern } from "./ids.ts";
export type { JsonFault, JsonLimits, JsonReason } from "./json-scanner.ts";
export {
  type KeyFault,
  type ParsedKey,
  type PublicJwk,
  type PublicKey,
  parsePublicKey,
  parseRawPublicKey,
} from "./keys.ts";
export { protocolLimits } from "./limits.ts";
export { merkleNode, merkleRootFromPath, merkleTree } from "./merkle.ts";
export { payloadDigest, salt_bytes } from "./payload.ts";
export { type DocumentFault, type ReadDocument, readDocument } from "./read-document.ts";
export {
  type AnchoredRemedy,
  anchorOfCode,
  anchorOfReason,
  codeRemedies,
  type Reason,
  type Remedy,
  reasonTables,
  remedyOf,
} from "./remedies.ts";
export {
  documentDigest,
  leafDigest,
  type Message,
  openProof,
  type Proof,
  type SignedRoot,
  signBatch,
  verifyProof,
  verifyProofs,
  verifySignedRoot,
} from "./signing.ts";
export { type Status, type StatusCode, type StatusName, statusCode, statusCodes } from "./status-codes.ts";
export { type ParsedJson, parseStrict, parseStrictBytes } from "./strict-json.ts";
