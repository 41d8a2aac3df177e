/**
 * Signatures under documents. Verifying is the dearest thing a request does, so one signature over a batch is verified
 * once and remembered for a moment, also while it is still being verified.
 */

import type { Time } from "@handfast/core";
import { openProof, type PublicKey, parsePublicKey, type SignedRoot } from "@handfast/protocol";
import type { AgentKey } from "../directory/agent.ts";
import type { RelayLimits } from "../limits.ts";
import { nodeCrypto } from "../proof/node-crypto.ts";

/**
 * Where a proof of the relay's own making bears what it leads to. On the proof itself, and not in a WeakMap: the young generation's
 * collections take a WeakMap's values for alive whether or not its keys are, so every document would be moved to the old one.
 */
const derived = Symbol("derived");

interface Derived {
  readonly typ: string;
  readonly document: string;
  readonly root: SignedRoot;
}

export class Signatures {
  private readonly now: () => Time;
  private readonly limits: RelayLimits;
  private readonly checks = new Map<string, { readonly until: Time; readonly result: boolean | Promise<boolean> }>();
  private readonly keys = new Map<string, PublicKey>();

  constructor(now: () => Time, limits: RelayLimits) {
    this.now = now;
    this.limits = limits;
  }

  /** What the proof claims was signed, and by which key; null when it is no proof of this text. */
  open(typ: string, document: string, proof: unknown): SignedRoot | null {
    const known = derivedOf(proof);
    if (known !== undefined && known.typ === typ && known.document === document) return known.root;
    return openProof(nodeCrypto, typ, Buffer.from(document), proof);
  }

  /** The relay has just made this proof of this text from the tree itself: following it up again would find the same. */
  made(proof: object, typ: string, document: string, root: SignedRoot): void {
    // Not enumerable: a copy that says something else does not bear it.
    Object.defineProperty(proof, derived, { value: { typ, document, root } satisfies Derived });
  }

  verify(key: PublicKey, root: SignedRoot): boolean | Promise<boolean> {
    if (root.key !== key.thumbprint) return false;
    const known = this.checks.get(root.id);
    if (known !== undefined && known.until > this.now()) return known.result;
    const result = nodeCrypto.verify(key.bytes, root.signed, root.sig);
    this.checks.delete(root.id);
    drop(this.checks, this.limits.signed_roots_cached);
    this.checks.set(root.id, { until: this.now() + this.limits.signed_root_life_ms, result });
    return result;
  }

  /** The checked form of a key that was registered. */
  publicKey({ thumbprint, x }: AgentKey): PublicKey {
    const known = this.keys.get(thumbprint);
    if (known !== undefined) return known;
    const parsed = parsePublicKey(nodeCrypto, { kty: "OKP", crv: "Ed25519", x });
    if (!parsed.ok) throw new Error(`The stored key ${thumbprint} is damaged: ${parsed.fault}.`);
    drop(this.keys, this.limits.public_keys_cached);
    this.keys.set(thumbprint, parsed.key);
    return parsed.key;
  }
}

function derivedOf(proof: unknown): Derived | undefined {
  return typeof proof === "object" && proof !== null ? (proof as { readonly [derived]?: Derived })[derived] : undefined;
}

/** Makes room for one more by dropping the oldest. */
export function drop<Value>(cache: Map<string, Value>, most: number): void {
  const [oldest] = cache.keys();
  if (cache.size >= most && oldest !== undefined) cache.delete(oldest);
}
