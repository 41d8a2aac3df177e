// Batch signatures: one Ed25519 signature over the Merkle root of many messages. A message alone is a batch of one.
// The exact bytes are in spec/signing.md; whatever a stranger sends as a proof ends here as false or null, never a throw.
import type { Crypto, Signer } from "./crypto.ts";
import { hexDigest, preimage } from "./digest.ts";
import { concat, fromBase64url, toBase64url, toUtf8 } from "./encoding.ts";
import type { PublicKey } from "./keys.ts";
import { protocolLimits } from "./limits.ts";
import { digest_bytes, merkleRoot, merkleRootFromPath, merkleTree } from "./merkle.ts";

export interface Message {
  typ: string;
  bytes: Uint8Array;
}

export interface Proof {
  /** JWK thumbprint of the signing key. */
  key: string;
  sig: string;
  index: number;
  size: number;
  path: string[];
}

/** What one signature covers. Proofs of one batch open to equal `id`s, so a caller verifies and caches by `id`. */
export interface SignedRoot {
  readonly id: string;
  readonly key: string;
  readonly signed: Uint8Array;
  readonly sig: Uint8Array;
}

const signature_bytes = 64;
const typPattern = /^[a-z][a-z0-9_.-]{0,63}$/;
const batchPrefix = toUtf8("handfast/v1/batch\0");
const leafPrefixes = new Map<string, { readonly text: string; readonly bytes: Uint8Array }>();

/** Kept, because each message needs one; bounded, because a caller may pass on a stranger's typ. */
function leafPrefix(typ: string): { readonly text: string; readonly bytes: Uint8Array } {
  const known = leafPrefixes.get(typ);
  if (known !== undefined) return known;
  if (!typPattern.test(typ)) throw new RangeError(`${JSON.stringify(typ)} is not a document type.`);
  const text = `\0handfast/v1/${typ}\0`;
  const prefix = { text, bytes: toUtf8(text) };
  if (leafPrefixes.size < 64) leafPrefixes.set(typ, prefix);
  return prefix;
}

/** SHA256(00 ‖ "handfast/v1/<typ>" ‖ 00 ‖ bytes). */
export function leafDigest(crypto: Crypto, typ: string, bytes: Uint8Array): Uint8Array {
  return crypto.sha256(preimage(leafPrefix(typ).bytes, bytes));
}

/** How one document names another: the leaf digest in lowercase hexadecimal. A text stands for its bytes in UTF-8. */
export function documentDigest(crypto: Crypto, typ: string, document: Uint8Array | string): string {
  const prefix = leafPrefix(typ);
  return hexDigest(crypto, typeof document === "string" ? prefix.text + document : preimage(prefix.bytes, document));
}

/** "handfast/v1/batch" ‖ 00 ‖ size as 8 bytes, big-endian ‖ root. */
function signedBytes(size: number, root: Uint8Array): Uint8Array {
  const sizeBytes = new Uint8Array(8);
  new DataView(sizeBytes.buffer).setBigUint64(0, BigInt(size));
  return concat(batchPrefix, sizeBytes, root);
}

/** One proof per message, in their order. */
export async function signBatch(crypto: Crypto, signer: Signer, messages: readonly Message[]): Promise<Proof[]> {
  const leaves = leavesOf(crypto, messages);
  const size = leaves.length;
  const { root, paths } = merkleTree(crypto, leaves);
  const sig = toBase64url(await signer.sign(signedBytes(size, root)));
  return paths.map((path, index) => ({ key: signer.key, sig, index, size, path: path.map(toBase64url) }));
}

/** The signature alone: whoever has all messages, in their order, needs no paths. */
export async function signTogether(
  crypto: Crypto,
  signer: Signer,
  messages: readonly Message[],
): Promise<Pick<Proof, "key" | "sig">> {
  const leaves = leavesOf(crypto, messages);
  const sig = await signer.sign(signedBytes(leaves.length, merkleRoot(crypto, leaves)));
  return { key: signer.key, sig: toBase64url(sig) };
}

function leavesOf(crypto: Crypto, messages: readonly Message[]): Uint8Array[] {
  const size = messages.length;
  if (size < 1 || size > protocolLimits.batch_messages) {
    throw new RangeError(`A batch holds 1 to ${protocolLimits.batch_messages} messages, not ${size}.`);
  }
  return messages.map(({ typ, bytes }) => leafDigest(crypto, typ, bytes));
}

/** Follows a proof up to the root that was signed, without checking the signature; null when the proof is no proof. */
export function openProof(crypto: Crypto, typ: string, bytes: Uint8Array, proof: unknown): SignedRoot | null {
  if (!typPattern.test(typ) || !hasProofShape(proof)) return null;
  const { key, index, size } = proof;
  if (size > protocolLimits.batch_messages) return null;
  const sig = fromBase64url(proof.sig);
  const path = decodePath(proof.path);
  if (sig?.length !== signature_bytes || path === null) return null;
  const root = merkleRootFromPath(crypto, leafDigest(crypto, typ, bytes), index, size, path);
  if (root === null) return null;
  return { id: `${key} ${size} ${toBase64url(root)} ${proof.sig}`, key, signed: signedBytes(size, root), sig };
}

function decodePath(texts: readonly string[]): Uint8Array[] | null {
  const path: Uint8Array[] = [];
  for (const text of texts) {
    const digest = text.length === 43 ? fromBase64url(text) : null;
    if (digest?.length !== digest_bytes) return null;
    path.push(digest);
  }
  return path;
}

/** Lengths first, so that a huge hostile proof costs nothing. */
function hasProofShape(value: unknown): value is Proof {
  if (typeof value !== "object" || value === null) return false;
  const { key, sig, index, size, path }: { [name in keyof Proof]?: unknown } = value;
  return (
    typeof key === "string" &&
    key.length === 43 &&
    typeof sig === "string" &&
    sig.length === 86 &&
    Number.isSafeInteger(index) &&
    Number.isSafeInteger(size) &&
    Array.isArray(path) &&
    path.length <= protocolLimits.path_digests &&
    path.every((digest) => typeof digest === "string")
  );
}

/** Whether this key signed this root. The costly part: once per SignedRoot.id is enough. */
export async function verifySignedRoot(crypto: Crypto, publicKey: PublicKey, root: SignedRoot): Promise<boolean> {
  return root.key === publicKey.thumbprint && crypto.verify(publicKey.bytes, root.signed, root.sig);
}

export async function verifyProof(
  crypto: Crypto,
  publicKey: PublicKey,
  typ: string,
  bytes: Uint8Array,
  proof: unknown,
): Promise<boolean> {
  const root = openProof(crypto, typ, bytes, proof);
  return root !== null && (await verifySignedRoot(crypto, publicKey, root));
}

/** Verifies many messages of one author with one signature check per distinct signature. */
export async function verifyProofs(
  crypto: Crypto,
  publicKey: PublicKey,
  messages: readonly (Message & { proof: unknown })[],
): Promise<boolean[]> {
  const checks = new Map<string, Promise<boolean>>();
  return Promise.all(
    messages.map(({ typ, bytes, proof }) => {
      const root = openProof(crypto, typ, bytes, proof);
      if (root === null) return false;
      const check = checks.get(root.id) ?? verifySignedRoot(crypto, publicKey, root);
      checks.set(root.id, check);
      return check;
    }),
  );
}
