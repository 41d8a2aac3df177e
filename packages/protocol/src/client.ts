// The door for clients: everything but the schemas, which take longer to load than a handoff takes. Whoever reads
// documents of others takes readDocument from the public door, when it comes to that.
export type { Crypto, Signer } from "./crypto.ts";
export { fromBase64url, fromHex, toBase64url, toHex, toUtf8 } from "./encoding.ts";
export { idPattern, idTime, isId, isName, isTextId, makeId, namePattern, textIdPattern } from "./ids.ts";
export { type JsonFault, type JsonLimits, type JsonReason, scanJson } from "./json-scanner.ts";
export {
  type KeyFault,
  type ParsedKey,
  type PublicJwk,
  type PublicKey,
  parsePublicKey,
  parseRawPublicKey,
} from "./keys.ts";
export { protocolLimits, wireLimits } from "./limits.ts";
export { merkleNode, merkleRootFromPath, merkleTree } from "./merkle.ts";
export { payloadDigest, salt_bytes } from "./payload.ts";
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
  signTogether,
  verifyProof,
  verifyProofs,
  verifySignedRoot,
} from "./signing.ts";
export { type Status, type StatusCode, type StatusName, statusCode, statusCodes } from "./status-codes.ts";
export { type ParsedJson, parseStrict, parseStrictBytes } from "./strict-json.ts";
export { routes } from "./wire/operations.ts";
