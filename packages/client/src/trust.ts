/**
 * Trust in what others signed, so that a recipient need not believe the relay: the sender's signature over the handoff,
 * that the document is the one at hand, and that the payload is the one it was signed over. The first identity seen
 * under a name is pinned for as long as the client lives; pins given by the user are stricter and name the keys.
 */

import type { DocumentTyp, HandoffDocument } from "@handfast/protocol";
import {
  type Crypto,
  documentDigest,
  fromBase64url,
  openProof,
  type PublicKey,
  parsePublicKey,
  payloadDigest,
  type SignedRoot,
  toUtf8,
  verifySignedRoot,
} from "@handfast/protocol/client";
import type { AgentView, LeaseView } from "@handfast/protocol/wire";
import { documentReader } from "./documents.ts";
import { HandoffError } from "./errors.ts";
import { normalUrl } from "./identity/public-url.ts";
import type { Link } from "./link/link.ts";
import { fromBase64, openPayload } from "./payload.ts";
import { leaseDifferences, redriveDifferences, redriven_ext } from "./signed-lease.ts";
import type { Surroundings } from "./surroundings.ts";

/** Which keys an agent may sign with: thumbprints by its name. */
export type Pins = Readonly<Record<string, string | readonly string[]>>;

/** A handoff's input, and what vouches for it. */
export interface Checked {
  readonly input: unknown;
  /** The input, where it is text. */
  readonly text?: string;
  /** `signed`: the sender's own signature was checked. `attested`: the relay's word. */
  readonly evidence: "signed" | "attested";
}

export interface TrustOptions {
  readonly link: Pick<Link, "call">;
  readonly crypto: Crypto;
  readonly surroundings: Surroundings;
  /** Every public URL of the relay. */
  readonly relays: readonly string[];
  readonly namespace: string;
  readonly pins: Pins;
  /** Nothing but what its sender signed is taken. */
  readonly requireSigned: boolean;
}

type ProvenAct = NonNullable<LeaseView["signed"]>;
/** What a document belongs to, for what is said when it is not trusted. */
export interface About {
  readonly id: string;
  readonly from: string;
  /** Else it is a handoff. */
  readonly what?: "offer";
}

interface Known {
  readonly view: AgentView;
  readonly until: number;
}

/** How long an agent's keys are taken as they were read: a key that was revoked since is noticed after this. */
const keys_life_ms = 60_000;
const remembered_most = 4_096;

export class Trust {
  readonly #options: TrustOptions;
  readonly #relays: ReadonlySet<string>;
  readonly #agents = new Map<string, Promise<Known>>();
  readonly #pinned = new Map<string, string>();
  /** Whose signature was found right: these go on signing. */
  readonly #signers = new Set<string>();
  /** By their x: checking that a point is sound costs more than checking a signature. */
  readonly #keys = new Map<string, PublicKey>();
  /** By SignedRoot.id: one check for all that one signature covers. */
  readonly #roots = new Map<string, Promise<boolean>>();

  constructor(options: TrustOptions) {
    this.#options = options;
    this.#relays = new Set(options.relays.map(normalUrl));
  }

  /** The input of a lease that was claimed with proofs. Throws HandoffError (401) saying what is wrong. */
  async check(lease: LeaseView): Promise<Checked> {
    const { signed } = lease;
    if (signed === undefined || signed.proof === null) return this.#attested(lease);
    const bytes = toUtf8(signed.document);
    const document = await this.#document(lease, bytes);
    await this.checkSignature(lease, "handoff", document.from, bytes, signed.proof);
    // Whoever redrives signs for itself: that is no signature by a sender whose key is pinned.
    if (document.from !== lease.from && this.#isPinned(lease.from) && !this.#isPinned(document.from)) {
      throw untrusted(lease, "unsigned", `${document.from} redrove it, and it is not signed by ${lease.from}`);
    }
    return { ...this.#input(lease, document, signed), evidence: "signed" };
  }

  /**
   * That an act of this author may go without a signature. It may not where everything must be signed, where the author's
   * key is pinned, and where the author has signed before: leaving a signature out must not be enough to be believed.
   */
  checkUnsigned(about: About, author: string, what: string): void {
    if (this.#options.requireSigned) {
      throw untrusted(about, "unsigned", `${what} is not signed by ${author}, and this client takes only what is`);
    }
    if (this.#isPinned(author)) {
      throw untrusted(about, "unsigned", `${what} is not signed by ${author}, whose key is pinned`);
    }
    if (this.#signers.has(author)) {
      throw untrusted(about, "no_longer_signed", `${what} is not signed by ${author}, who has signed until now`);
    }
  }

  /** Whether an act of this author would have to be signed. */
  expectsSignature(author: string): boolean {
    return this.#options.requireSigned || this.#isPinned(author) || this.#signers.has(author);
  }

  #isPinned(name: string): boolean {
    return Object.hasOwn(this.#options.pins, name);
  }

  #input(lease: LeaseView, document: HandoffDocument, signed: ProvenAct): Omit<Checked, "evidence"> {
    const bytes = payloadOf(signed);
    const salt = fromBase64url(document.input.salt);
    const { size, sha256, media_type } = document.input;
    if (
      bytes === null ||
      salt === null ||
      bytes.length !== size ||
      payloadDigest(this.#options.crypto, salt, bytes) !== sha256
    ) {
      throw untrusted(lease, "payload_differs", "its input is not the one that was signed");
    }
    const opened = openPayload(bytes, media_type);
    if (opened === null) throw untrusted(lease, "payload_malformed", `its input is not ${media_type}, as it says`);
    return opened;
  }

  async #attested(lease: LeaseView): Promise<Checked> {
    const { from, input, text, base64, evidence } = lease;
    if (evidence === "signed") {
      throw untrusted(lease, "proof_missing", "the relay calls it signed, and does not show the signature");
    }
    const redriven = this.#signers.has(from) ? await this.#redriven(lease) : null;
    if (redriven !== null) return redriven;
    this.checkUnsigned(lease, from, "it");
    if (text !== undefined) return { input: text, text, evidence: "attested" };
    if (base64 !== undefined) return { input: fromBase64(base64), evidence: "attested" };
    return { input, evidence: "attested" };
  }

  /**
   * An unedited redrive is the relay's own document around the one that the sender signed: its input and terms are proven,
   * that it is to be done again is the relay's word. Null: it is none.
   */
  async #redriven(lease: LeaseView): Promise<Checked | null> {
    const carried = lease.ext?.[redriven_ext];
    const is_strict = this.#options.requireSigned || this.#isPinned(lease.from);
    if (is_strict || lease.signed === undefined || !isSigned(carried)) return null;
    const { redrive_of = "" } = await handoffIn(lease, toUtf8(lease.signed.document));
    const bytes = toUtf8(carried.document);
    const original = await handoffIn(lease, bytes);
    const differs = redriveDifferences(lease, redrive_of, original).concat(this.elsewhere(original));
    if (differs.length > 0) throw bindsAnother(lease, differs);
    await this.checkSignature(lease, "handoff", original.from, bytes, carried.proof);
    return { ...this.#input(lease, original, lease.signed), evidence: "attested" };
  }

  /** The signed document, once it is shown to be the very one that the lease speaks of. */
  async #document(lease: LeaseView, bytes: Uint8Array): Promise<HandoffDocument> {
    const document = await handoffIn(lease, bytes);
    const digest = documentDigest(this.#options.crypto, "handoff", bytes);
    const differs = leaseDifferences(lease, document).concat(
      digest === lease.digest ? [] : ["digest"],
      this.elsewhere(document),
    );
    if (differs.length > 0) throw bindsAnother(lease, differs);
    return document;
  }

  /** What is signed for another relay or namespace counts for nothing here. */
  elsewhere({ relay, namespace }: Pick<HandoffDocument, "relay" | "namespace">): string[] {
    return [
      ...(this.#relays.has(relay) || this.#relays.has(normalUrl(relay)) ? [] : ["relay"]),
      ...(namespace === this.#options.namespace ? [] : ["namespace"]),
    ];
  }

  /** That the author signed this document of a handoff's life, of this typ. Throws HandoffError (401) if not. */
  async checkSignature(
    lease: About,
    typ: DocumentTyp,
    author: string,
    bytes: Uint8Array,
    proof: unknown,
  ): Promise<void> {
    const root = openProof(this.#options.crypto, typ, bytes, proof);
    if (root === null) throw untrusted(lease, "bad_proof", "its proof does not lead to a signature");
    const key = await this.#key(lease, author, root.key);
    if (!(await this.#verify(key, root))) {
      throw untrusted(lease, "bad_signature", `its signature is not by ${author}'s key ${root.key}`);
    }
    this.#signers.add(author);
  }

  #verify(key: PublicKey, root: SignedRoot): Promise<boolean> {
    return remember(this.#roots, root.id, () => verifySignedRoot(this.#options.crypto, key, root));
  }

  /** The author's key by this name, if the author is who it was before and the key was not revoked. */
  async #key(lease: About, author: string, thumbprint: string): Promise<PublicKey> {
    this.#checkPins(lease, author, thumbprint);
    const known = await this.#read(lease, author);
    const isThere = known.keys.some((key) => key.thumbprint === thumbprint);
    // A key that is not there may have been added since the last look.
    const view = isThere ? known : await this.#read(lease, author, true);
    this.#checkIdentity(lease, view);
    const shown = view.keys.find((key) => key.thumbprint === thumbprint);
    if (shown === undefined) {
      throw untrusted(lease, "unknown_key", `it is signed with ${thumbprint}, which is no key of ${author}`);
    }
    if (shown.revoked_at !== null) {
      throw untrusted(lease, "revoked_key", `it is signed with ${author}'s key ${thumbprint}, which was revoked`);
    }
    const key = this.#publicKey(shown.x);
    if (key?.thumbprint === thumbprint) return key;
    throw untrusted(lease, "unknown_key", `the relay shows another key under the name ${thumbprint}`);
  }

  #publicKey(x: string): PublicKey | null {
    const known = this.#keys.get(x);
    if (known !== undefined) return known;
    const parsed = parsePublicKey(this.#options.crypto, { kty: "OKP", crv: "Ed25519", x });
    if (!parsed.ok) return null;
    if (this.#keys.size >= remembered_most) this.#keys.clear();
    this.#keys.set(x, parsed.key);
    return parsed.key;
  }

  #checkPins(lease: About, author: string, thumbprint: string): void {
    const pins = Object.hasOwn(this.#options.pins, author) ? this.#options.pins[author] : undefined;
    if (pins === undefined || [pins].flat().includes(thumbprint)) return;
    const message = `it is signed with ${thumbprint}, but ${author} is pinned to ${[pins].flat().join(" or ")}`;
    throw untrusted(lease, "not_pinned", message);
  }

  #checkIdentity(lease: About, { name, identity }: AgentView): void {
    if (identity === null) throw untrusted(lease, "unknown_key", `the relay shows no key of ${name}`);
    const pinned = this.#pinned.get(name) ?? identity;
    this.#pinned.set(name, pinned);
    if (pinned === identity) return;
    throw untrusted(lease, "identity_changed", `${name} was ${pinned} before, and is ${identity} now`);
  }

  async #read(lease: About, name: string, anew = false): Promise<AgentView> {
    const now = this.#options.surroundings.now();
    const last = this.#agents.get(name);
    const known = await last?.catch(() => null);
    if (known != null && !anew && known.until > now) return known.view;
    // Another who asked at the same time may be reading it anew already.
    if (this.#agents.get(name) === last) this.#agents.delete(name);
    const read = remember(this.#agents, name, async () => {
      const view = await this.#options.link.call("agent", { params: { name } });
      return { view, until: now + keys_life_ms };
    });
    return (await read.catch((error: unknown) => Promise.reject(this.#unread(lease, name, error)))).view;
  }

  #unread(lease: About, name: string, error: unknown): unknown {
    if (!(error instanceof HandoffError) || error.code !== 404) return error;
    return untrusted(lease, "unknown_agent", `the relay knows no agent ${name} whose key could be checked`);
  }
}

async function handoffIn(lease: About, bytes: Uint8Array): Promise<HandoffDocument> {
  const readDocument = await documentReader();
  const read = readDocument("handoff", bytes);
  if (read.ok) return read.document;
  throw untrusted(lease, "document_malformed", `its document is malformed: ${read.fault.message}`);
}

/** Whether an extension holds a document and a proof; that they are sound is checked with the signature. */
function isSigned(value: unknown): value is ProvenAct {
  if (typeof value !== "object" || value === null) return false;
  const { document, proof }: { document?: unknown; proof?: unknown } = value;
  return typeof document === "string" && typeof proof === "object" && proof !== null;
}

function payloadOf({ payload, payload_encoding }: ProvenAct): Uint8Array | null {
  if (payload === undefined) return null;
  return payload_encoding === "base64" ? fromBase64(payload) : toUtf8(payload);
}

/** One answer for all who ask at once; a failure is forgotten, and so is everything when it becomes too much. */
function remember<Value>(known: Map<string, Promise<Value>>, key: string, find: () => Promise<Value>): Promise<Value> {
  const there = known.get(key);
  if (there !== undefined) return there;
  if (known.size >= remembered_most) known.clear();
  const found = find();
  known.set(key, found);
  found.catch(() => known.delete(key));
  return found;
}

const remedies = (who: string): Readonly<Record<string, string>> => ({
  unsigned: `Let the ${who} connect with a key; or take what is attested too (requireSigned: false, and no pin for it).`,
  no_longer_signed:
    `Let the ${who} connect with its key again, or sign the redrive; if it is to do without one, restart this client. ` +
    "Else somebody pretends to be it.",
  not_pinned: `If the ${who} has changed its key, pin the new one (option pins); else somebody pretends to be it.`,
  identity_changed:
    `If the ${who} was set up anew, restart this client, or pin its new key (option pins); ` +
    "else somebody pretends to be it.",
  revoked_key: `Let the ${who} sign it again with its newer key.`,
});

function bindsAnother(lease: About, differs: readonly string[]): HandoffError {
  // All else being the same, two nodes of one relay were most often given different names.
  const nodes = differs.join() === "relay" ? "; all nodes on one database need the same --public-url" : "";
  return untrusted(lease, "binds_another", `what its sender signed has another ${differs.join(", ")}${nodes}`);
}

export function untrusted({ id, from, what: thing }: About, reason: string, what: string): HandoffError {
  const who = thing === undefined ? "sender" : "provider";
  const remedy =
    remedies(who)[reason] ??
    `Do not act on it: what the relay shows is not what its ${who} signed. Tell the relay's operator.`;
  const message = `The ${thing ?? "handoff"} ${id} from ${from} is not trusted: ${what}.`;
  const about = thing === undefined ? { handoff: id } : {};
  return new HandoffError({ code: 401, reason, message, remedy, retryable: false, ...about });
}
