// The door for clients: everything but the schemas, which take longer to load than a handoff takes. Whoever reads
// documents of others takes readDocument from the public door, when it comes to that.
export { canonicalJson } from "./canonical-json.ts";
export { changedWords } from "./contract/changed-words.ts";
export { capabilityDigest, contractId, schemaDigest } from "./contract/contract-id.ts";
export type { Crypto, Signer } from "./crypto.ts";
export { fromBase64url, fromHex, toBase64url, toHex, toUtf8 } from "./encoding.ts";
export {
  idPattern,
  idTime,
  isId,
  isName,
  isTextId,
  makeId,
  namePattern,
  noName,
  reservedNames,
  textIdPattern,
} from "./ids.ts";
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
export { type CompiledCapability, compileCapability, type SchemaPlace } from "./manifest/compile-capability.ts";
export { type ManifestContent, manifestContent, manifestDigest } from "./manifest/manifest-digest.ts";
export { placeInShorthand } from "./manifest/place-in-shorthand.ts";
export {
  type CostOpening,
  opensCost,
  type SealedCost,
  saltByKey,
  saltByToken,
  sealCost,
} from "./manifest/seal-cost.ts";
export { type CompiledShorthand, compileSchema, type SchemaFault } from "./manifest/shorthand.ts";
export { isInRange, isSemantic, readRange } from "./manifest/version-range.ts";
export { merkleNode, merkleRootFromPath, merkleTree } from "./merkle.ts";
export { distance, nearestWord } from "./nearest-word.ts";
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
