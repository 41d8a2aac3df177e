/**
 * Who is calling, and whose signature is under a document. A call proves itself by a session credential (an agent that
 * signs), a token (one that cannot) or an operator's token; `from` is always what was proven, never what was said.
 */

import { timingSafeEqual } from "node:crypto";
import type { Time } from "@handfast/core";
import { type DocumentOf, readDocument, toUtf8 } from "@handfast/protocol";
import type { Directory } from "../directory/directory.ts";
import { type RelayLimits, limits as relayLimits } from "../limits.ts";
import { Problem } from "../problem.ts";
import { nodeCrypto } from "../proof/node-crypto.ts";
import type { Audience } from "./audience.ts";
import type { Caller } from "./caller.ts";
import { type Credential, currentKey, printable, refused, verifyCredential } from "./credential.ts";
import { checkAddress, documentProblem } from "./document-checks.ts";
import { drop, Signatures } from "./signatures.ts";
import { type Tokens, token_prefix } from "./tokens.ts";

export interface Envelope {
  /** The exact text that was signed. */
  readonly document: string;
  readonly proof: unknown;
}

/** What an agent says in its own name: about a handoff, or about terms. */
export type ActTyp = "handoff" | "ack" | "outcome" | "answer" | "cancel" | "contract" | "proposal";

export interface Verified<Typ extends ActTyp> {
  readonly document: DocumentOf<Typ>;
  /** Thumbprint of the key that signed. */
  readonly key: string;
}

/** Who a credential or token proves its bearer to be, and until when; null: it does not run out. */
export interface Proven {
  readonly caller: Caller;
  readonly expires_at: Time | null;
}

export interface IdentityOptions {
  readonly namespace: string;
  readonly directory: Directory;
  readonly tokens: Tokens;
  readonly audience: Audience;
  readonly now: () => Time;
  /** Tokens that make the caller an operator. */
  readonly operator_tokens: readonly string[];
  /** Thumbprints of first keys whose agents are operators. */
  readonly operator_keys?: readonly string[];
  readonly limits?: RelayLimits;
  /** Other nodes admit agents too: whatever they wrote until now is known when it resolves. */
  readonly catchUp?: (() => Promise<void>) | undefined;
}

/** Why somebody is refused that another node may know. */
const unknown: ReadonlySet<string> = new Set(["unknown_key", "unknown_token"]);

/** What an operator who came with a token is called; no agent can take this name. */
const operator_name = "operator";

export class Identity {
  readonly signatures: Signatures;
  private readonly options: IdentityOptions;
  private readonly limits: RelayLimits;
  private readonly operatorDigests: readonly Uint8Array[];
  private readonly operatorKeys: ReadonlySet<string>;
  /** Credentials that verified, until they run out. */
  private readonly credentials = new Map<string, Credential>();
  private readonly listeners = new Set<(agent: string) => void>();

  constructor(options: IdentityOptions) {
    this.options = options;
    this.limits = options.limits ?? relayLimits;
    this.operatorDigests = options.operator_tokens.map((token) => nodeCrypto.sha256(toUtf8(token)));
    this.operatorKeys = new Set(options.operator_keys ?? []);
    this.signatures = new Signatures(options.now, this.limits);
  }

  /** Throws Problem 401 naming what is wrong. */
  async authenticate(headers: { readonly authorization?: string | undefined }): Promise<Caller> {
    const { caller } = await this.prove(bearer(headers.authorization, this.limits.authorization_chars));
    return caller;
  }

  /** The same for a credential or token alone, with when it runs out: a connection lives no longer than that. */
  async prove(credential: string): Promise<Proven> {
    if (credential.length > this.limits.authorization_chars) {
      const most = this.limits.authorization_chars;
      throw refused("credential_malformed", `The credential is longer than ${most} characters.`);
    }
    if (this.isOperatorToken(credential)) {
      return { caller: this.caller(operator_name, "operator", null), expires_at: null };
    }
    if (credential.startsWith(token_prefix)) return this.lookAgain(() => this.tokenCaller(credential));
    const { agent, key, expires_at } = await this.credential(credential);
    return { caller: this.caller(agent, this.roleOf(agent), key), expires_at };
  }

  /** The document, once it is proven to be the caller's own, for this relay. Throws Problem 400, 401, 403 or 413. */
  async verify<Typ extends ActTyp>(caller: Caller, typ: Typ, envelope: Envelope): Promise<Verified<Typ>> {
    const read = readDocument(typ, envelope.document);
    if (!read.ok) throw documentProblem(typ, read.fault);
    const { relay, namespace, from } = read.document as DocumentOf<ActTyp>;
    if (from !== caller.name || this.options.directory.record(from) === undefined) {
      const message = `The ${typ} document is from ${from}, but the caller is ${caller.name}. Send only your own documents.`;
      throw new Problem(403, "foreign_document", message);
    }
    checkAddress(typ, { relay, namespace }, this.options.audience, this.options.namespace);
    const root = this.signatures.open(typ, envelope.document, envelope.proof);
    if (root === null) {
      const message = `The proof of the ${typ} document does not lead from its bytes to a signature. Sign the exact text.`;
      throw refused("bad_proof", message);
    }
    const key = currentKey(this.options.directory, from, root.key, this.options.now());
    const check = this.signatures.verify(this.signatures.publicKey(key), root);
    if (!(typeof check === "boolean" ? check : await check)) {
      throw refused(
        "bad_signature",
        `The signature of the ${typ} document is not of the key ${root.key} that it names.`,
      );
    }
    // Verifying took a moment, in which the key may have been revoked.
    currentKey(this.options.directory, from, root.key, this.options.now());
    return { document: read.document, key: root.key };
  }

  /** Called when a key or token of an agent ends: its connections must be closed. Returns how to stop listening. */
  onRevoked(listener: (agent: string) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** For registration: what was proven of this agent before counts no more. */
  revoked(agent: string): void {
    for (const [token, credential] of this.credentials) if (credential.agent === agent) this.credentials.delete(token);
    for (const listener of this.listeners) listener(agent);
  }

  private async credential(token: string): Promise<Credential> {
    const { directory, now } = this.options;
    const known = this.credentials.get(token);
    if (known !== undefined && known.expires_at > now()) {
      currentKey(directory, known.agent, known.key, now());
      return known;
    }
    this.credentials.delete(token);
    const verified = await this.lookAgain(() => verifyCredential(token, { ...this.options, limits: this.limits }));
    // Verifying took a moment, in which the key may have been revoked.
    currentKey(directory, verified.agent, verified.key, now());
    drop(this.credentials, this.limits.credentials_cached);
    this.credentials.set(token, verified);
    return verified;
  }

  /** A key or token that is not known here may have been given out by another node a moment ago. */
  private lookAgain<Result>(prove: () => Result | Promise<Result>): Result | Promise<Result> {
    const { catchUp } = this.options;
    return catchUp === undefined ? prove() : proveAgain(prove, catchUp);
  }

  private tokenCaller(token: string): Proven {
    const found = this.options.tokens.find(token);
    if (found === undefined) {
      const message = `The token ending in ${printable(token.slice(-4))} is unknown, revoked or expired. Ask for a new one.`;
      throw refused("unknown_token", message);
    }
    return { caller: this.caller(found.agent, "agent", null), expires_at: found.expires_at };
  }

  private caller(name: string, role: Caller["role"], key: string | null): Caller {
    return { namespace: this.options.namespace, name, role, key };
  }

  private roleOf(agent: string): Caller["role"] {
    const record = this.options.directory.record(agent);
    const identity = record?.identity ?? null;
    return identity !== null && this.operatorKeys.has(identity) ? "operator" : "agent";
  }

  /** In constant time, whichever of them it is: digests have one length. */
  private isOperatorToken(token: string): boolean {
    const digest = nodeCrypto.sha256(toUtf8(token));
    return this.operatorDigests.map((known) => timingSafeEqual(known, digest)).includes(true);
  }
}

async function proveAgain<Result>(prove: () => Result | Promise<Result>, catchUp: () => Promise<void>) {
  try {
    return await prove();
  } catch (error) {
    if (!(error instanceof Problem) || !unknown.has(error.reason)) throw error;
    await catchUp();
    return prove();
  }
}

function bearer(authorization: string | undefined, max_chars: number): string {
  if (authorization === undefined || authorization === "") {
    throw refused(
      "credential_missing",
      "The call has no Authorization header. Send Bearer with a credential or a token.",
    );
  }
  if (authorization.length > max_chars) {
    throw refused("credential_malformed", `The Authorization header is longer than ${max_chars} characters.`);
  }
  const token = /^Bearer +([A-Za-z0-9._~+/=-]+)$/i.exec(authorization)?.[1];
  if (token === undefined) {
    throw refused("credential_malformed", "The Authorization header must be: Bearer <credential or token>.");
  }
  return token;
}
