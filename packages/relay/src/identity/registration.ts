/**
 * How agents come to be known: by a registration that answers a challenge and is signed by the key in it, or, for
 * those that cannot sign, by a token. A name belongs to whoever came with it first, in development mode too: to its key
 * or one that key handed over to, or, while it has none, to the holders of its tokens.
 */

import type { Time } from "@handfast/core";
import {
  type Capability,
  type Costs,
  type DocumentOf,
  isName,
  manifestContent,
  manifestDigest,
  type PublicKey,
  parsePublicKey,
  readDocument,
  reservedNames,
  toUtf8,
} from "@handfast/protocol";
import type { capabilities_body, Static } from "@handfast/protocol/wire";
import { type AgentKey, type AgentRecord, isCurrent, type ManifestRef } from "../directory/agent.ts";
import type { AgentChange, Directory } from "../directory/directory.ts";
import { unknownAgent } from "../directory/unknown-agent.ts";
import { type RelayLimits, limits as relayLimits } from "../limits.ts";
import { Problem } from "../problem.ts";
import { nodeCrypto } from "../proof/node-crypto.ts";
import { type Admission, checkAdmission } from "./admission.ts";
import type { Audience } from "./audience.ts";
import type { Caller } from "./caller.ts";
import { Challenges, usedBefore } from "./challenges.ts";
import { currentKey, refused } from "./credential.ts";
import { checkAddress, documentProblem } from "./document-checks.ts";
import type { Envelope, Identity } from "./identity.ts";
import type { Tokens, TokenView } from "./tokens.ts";

export interface Registered {
  readonly agent_id: string;
  /** Thumbprint of the agent's first key; null: it has only tokens. */
  readonly identity: string | null;
  /** Digest of the manifest in force: what acks and outcomes bind. */
  readonly manifest: string | null;
  readonly since: Time | null;
  /** False: it was known before. */
  readonly created: boolean;
}

export interface RegistrationOptions {
  readonly namespace: string;
  readonly directory: Directory;
  readonly identity: Identity;
  readonly tokens: Tokens;
  readonly audience: Audience;
  readonly admission: Admission;
  readonly now: () => Time;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly limits?: RelayLimits;
  /** What makes a challenge of one node good at every other; absent: there are no others. */
  readonly challenge_secret?: Uint8Array | undefined;
}

export interface TokenOptions {
  /** What the agent offers from now on; undefined: as before. */
  readonly capabilities?: readonly Capability[];
  /** What opens the costs that they seal. */
  readonly costs?: Costs;
  readonly label?: string;
  /** Undefined: until it is revoked. */
  readonly life_ms?: number;
}

const reserved: ReadonlySet<string> = new Set(reservedNames);

export class Registration {
  private readonly options: RegistrationOptions;
  private readonly limits: RelayLimits;
  private readonly challenges: Challenges;

  constructor(options: RegistrationOptions) {
    this.options = options;
    this.limits = options.limits ?? relayLimits;
    this.challenges = new Challenges(options.now, options.randomBytes, this.limits, options.challenge_secret);
  }

  challenge(): { readonly challenge: string; readonly expires_in_seconds: number } {
    return this.challenges.issue();
  }

  /** `caller`: who authenticated this very request, if anybody did; an operator admits. */
  async register(envelope: Envelope, caller: Caller | null = null, costs?: Costs): Promise<Registered> {
    const document = this.read("registration", envelope);
    const key = parseKey(document.key);
    await this.checkSignature("registration", envelope.document, envelope.proof, key, "the key in it");
    this.challenges.use(document.challenge);
    return this.save(document.agent_id, (current) => this.registered(current, document, key, envelope, caller, costs));
  }

  /** `proof` by the old key, `new_proof` by the new one, over the same document; `agent` is whom the caller means. */
  async rotate(agent: string, envelope: Envelope & { readonly new_proof: unknown }): Promise<Registered> {
    const document = this.read("rotation", envelope);
    const { agent_id, challenge } = document;
    if (agent_id !== agent) {
      const message = `The rotation is of the agent ${agent_id}, not of ${agent}. Send it to /v1/agents/${agent_id}/keys.`;
      throw new Problem(400, "other_agent", message, { fields: ["/signed/document/agent_id"] });
    }
    const key = parseKey(document.key);
    const old = currentKey(this.options.directory, agent_id, document.old, this.options.now());
    const oldKey = this.options.identity.signatures.publicKey(old);
    await this.checkSignature("rotation", envelope.document, envelope.proof, oldKey, "the old key");
    await this.checkSignature("rotation", envelope.document, envelope.new_proof, key, "the new key");
    this.challenges.use(challenge);
    return this.save(agent_id, (current) => {
      if (current === undefined) throw unknownAgent(agent_id);
      return { agent: { ...current, keys: this.rotated(current, document.old, key) }, offers: null, also: [] };
    });
  }

  /** The key is worth nothing from now on, nor are the tokens it made; whoever is connected with it is told. */
  async revoke(caller: Caller, agent: string, thumbprint: string): Promise<void> {
    checkOwner(caller, agent, "revoke its keys");
    await this.options.directory.change(agent, (current) => {
      if (current?.keys.some((key) => key.thumbprint === thumbprint) !== true) {
        throw new Problem(404, "unknown_key", `The agent ${agent} has no key ${thumbprint}. Look at its list of keys.`);
      }
      if (caller.key !== thumbprint) checkNewestKey(caller, current);
      const revoked_at = this.options.now();
      const keys = current.keys.map((key) =>
        key.thumbprint === thumbprint && key.revoked_at === null ? { ...key, revoked_at } : key,
      );
      const also = this.options.tokens.ending(agent, ({ made_by }) => made_by === thumbprint);
      return { agent: { ...current, keys }, offers: null, also };
    });
    this.options.identity.revoked(agent);
  }

  /** Agent, keys, manifests and tokens go; the name is free again. */
  async forget(caller: Caller, agent: string): Promise<void> {
    checkOwner(caller, agent, "make the relay forget it");
    checkNewestKey(caller, this.options.directory.record(agent));
    await this.options.directory.forget(agent, () => this.options.tokens.ending(agent, () => true));
    this.options.identity.revoked(agent);
  }

  async createToken(
    caller: Caller | null,
    agent: string,
    options: TokenOptions = {},
  ): Promise<TokenView & { readonly token: string }> {
    checkName(agent);
    this.checkTokenOptions(options);
    const { capabilities, costs, label = null, life_ms = null } = options;
    const { tokens, directory } = this.options;
    const minted: { last?: ReturnType<Tokens["mint"]> } = {};
    await directory.change(agent, (current) => {
      this.checkMayHaveToken(caller, agent, current);
      minted.last = tokens.mint(agent, caller?.name === agent ? caller.key : null, label, life_ms);
      return {
        agent: current ?? this.newAgent(agent),
        offers: capabilities === undefined ? null : { capabilities, signed: false, costs },
        also: minted.last.changes,
      };
    });
    if (minted.last === undefined) throw new Error("A token was saved that was not made.");
    return { ...minted.last.view, token: minted.last.token };
  }

  /** What a signed registration says, only its key may unsay: a token that leaked must not reroute the agent's work. */
  async setCapabilities(
    caller: Caller,
    agent: string,
    capabilities: readonly Capability[],
    besides: Omit<Static<typeof capabilities_body>, "capabilities"> = {},
  ): Promise<ManifestRef> {
    const act = "say what it offers";
    if (caller.name !== agent) checkOwner(caller, agent, act);
    const check = (current: AgentRecord) => {
      if (current.identity === null) return;
      checkOwner(caller, agent, act);
      checkNewestKey(caller, current);
    };
    return this.options.directory.setCapabilities(agent, capabilities, false, check, besides);
  }

  async revokeToken(caller: Caller, agent: string, id: string): Promise<void> {
    if (caller.name !== agent) checkOwner(caller, agent, "revoke its tokens");
    await this.options.directory.change(agent, (current) => {
      const also = current === undefined ? [] : this.options.tokens.ending(agent, (token) => token.id === id);
      if (current === undefined || also.length === 0) {
        throw new Problem(404, "unknown_token", `The agent ${agent} has no token ${id}. Look at its list of tokens.`);
      }
      return { agent: current, offers: null, also };
    });
    this.options.identity.revoked(agent);
  }

  listTokens(caller: Caller, agent: string): readonly TokenView[] {
    if (caller.name !== agent) checkOwner(caller, agent, "see its tokens");
    return this.options.tokens.list(agent);
  }

  // Registration

  private registered(
    current: AgentRecord | undefined,
    document: DocumentOf<"registration">,
    key: PublicKey,
    envelope: Envelope,
    caller: Caller | null,
    costs?: Costs,
  ): AgentChange {
    const { agent_id, description = null } = document;
    checkName(agent_id);
    this.checkKeyIsFree(key, agent_id);
    const known = current?.keys.some(({ thumbprint }) => thumbprint === key.thumbprint) === true;
    if (known) currentKey(this.options.directory, agent_id, key.thumbprint, this.options.now());
    else this.checkMayTakeName(current, agent_id, key, caller);
    const base = current ?? this.newAgent(agent_id);
    const agent: Omit<AgentRecord, "manifest"> = {
      ...base,
      identity: base.identity ?? key.thumbprint,
      keys: known ? base.keys : [this.newKey(key)],
      description,
      registration: { document: envelope.document, proof: envelope.proof },
      ...this.challenged(current, document),
    };
    return { agent, offers: { ...document, signed: true, costs }, also: [] };
  }

  /**
   * Another node may have seen this registration before. By a challenge that is not newer than the last one nothing changes: it may
   * only say once more what is in force, as workers do that start at once.
   */
  private challenged(current: AgentRecord | undefined, document: DocumentOf<"registration">): Partial<AgentRecord> {
    if (this.options.challenge_secret === undefined) return {};
    const made_at = this.challenges.madeAt(document.challenge) ?? 0;
    const last = current?.challenged_at ?? 0;
    if (made_at > last) return { challenged_at: made_at };
    const digest = manifestDigest(nodeCrypto, manifestContent(document));
    const is_same = current?.manifest?.digest === digest && current.description === (document.description ?? null);
    if (!is_same) throw usedBefore();
    return {};
  }

  /** Before a key is bound to a name for the first time. */
  private checkMayTakeName(
    current: AgentRecord | undefined,
    name: string,
    key: PublicKey,
    caller: Caller | null,
  ): void {
    if (current !== undefined && current.identity !== null) {
      const next =
        "Sign with the agent's own key, or rotate to this one with the old key, or choose another name. " +
        "If the old key is lost, an operator must make the relay forget the agent.";
      const message = `The name ${name} belongs to the key ${current.identity}, not to ${key.thumbprint}. ${next}`;
      throw new Problem(403, "name_taken", message);
    }
    if (caller?.role === "operator") return;
    if (current === undefined) checkAdmission(this.options.admission, name, key.thumbprint);
    else if (caller?.name !== name) throw tokenNeeded(name, "A key for it");
  }

  private checkKeyIsFree(key: PublicKey, name: string): void {
    const holder = this.options.directory.keyHolder(key.thumbprint);
    if (holder === undefined || holder === name) return;
    const next = `Register as ${holder}, or make another key for ${name}.`;
    throw new Problem(403, "key_taken", `The key ${key.thumbprint} is the key of ${holder}. ${next}`);
  }

  private rotated(current: AgentRecord, old: string, key: PublicKey): readonly AgentKey[] {
    const now = this.options.now();
    const { thumbprint } = currentKey(this.options.directory, current.name, old, now);
    if (current.keys.find((candidate) => candidate.thumbprint === thumbprint)?.valid_until !== null) {
      throw new Problem(403, "key_replaced", `The key ${old} was replaced already. Rotate with the newest key.`);
    }
    if (this.options.directory.keyHolder(key.thumbprint) !== undefined) {
      throw new Problem(
        403,
        "key_taken",
        `The key ${key.thumbprint} is or was in use. Rotate to a key never used before.`,
      );
    }
    const valid_until = now + this.limits.rotation_overlap_ms;
    const keys = current.keys.map((candidate) =>
      candidate.thumbprint === thumbprint ? { ...candidate, valid_until } : candidate,
    );
    return [...this.withRoom(keys, current), this.newKey(key)];
  }

  /**
   * Drops the oldest key that is of no use any more. Revoked ones stay as long as possible, the first for ever: freed,
   * it could be registered under another name and pass for this agent's identity.
   */
  private withRoom(keys: readonly AgentKey[], { name, identity }: AgentRecord): readonly AgentKey[] {
    if (keys.length < this.limits.keys_per_agent) return keys;
    const over = keys.filter((key) => key.thumbprint !== identity && !isCurrent(key, this.options.now()));
    const gone = over.find((key) => key.revoked_at === null) ?? over[0];
    if (gone === undefined) {
      const message = `The agent ${name} has ${keys.length} keys in use. Revoke one, or wait until one runs out.`;
      throw new Problem(429, "too_many_keys", message);
    }
    return keys.filter((key) => key !== gone);
  }

  private read<Typ extends "registration" | "rotation">(typ: Typ, envelope: Envelope): DocumentOf<Typ> {
    const read = readDocument(typ, toUtf8(envelope.document));
    if (!read.ok) throw documentProblem(typ, read.fault);
    const { relay, namespace, challenge } = read.document as DocumentOf<"registration" | "rotation">;
    checkAddress(typ, { relay, namespace }, this.options.audience, this.options.namespace);
    this.challenges.check(challenge);
    return read.document;
  }

  private async checkSignature(
    typ: string,
    text: string,
    proof: unknown,
    key: PublicKey,
    whose: string,
  ): Promise<void> {
    const { signatures } = this.options.identity;
    const root = signatures.open(typ, text, proof);
    if (root !== null && (await signatures.verify(key, root))) return;
    throw refused("bad_signature", `The ${typ} is not signed by ${whose}, ${key.thumbprint}. Sign its exact text.`);
  }

  private async save(name: string, decide: (current: AgentRecord | undefined) => AgentChange): Promise<Registered> {
    let created = false;
    const { identity, manifest } = await this.options.directory.change(name, (current) => {
      created = current === undefined;
      return decide(current);
    });
    return { agent_id: name, identity, manifest: manifest?.digest ?? null, since: manifest?.since ?? null, created };
  }

  private newAgent(name: string): Omit<AgentRecord, "manifest"> {
    const registered_at = this.options.now();
    return { name, identity: null, keys: [], description: null, registered_at, registration: null };
  }

  private newKey({ thumbprint, jwk }: PublicKey): AgentKey {
    return { thumbprint, x: jwk.x, added_at: this.options.now(), valid_until: null, revoked_at: null };
  }

  // Tokens

  /** A token never makes a token of an agent that can sign: else a stolen one would outlive its revocation. */
  private checkMayHaveToken(caller: Caller | null, name: string, current: AgentRecord | undefined): void {
    if (caller?.role === "operator") return;
    const { kind } = this.options.admission;
    if (current === undefined) {
      if (kind === "first_use") return;
    } else if (current.identity !== null) {
      if (caller?.name === name && caller.key !== null) return checkNewestKey(caller, current);
      const message = `The agent ${name} has a key: a token for it needs a call signed by that key, or the operator's token.`;
      throw new Problem(403, "token_not_allowed", message);
    } else if (kind === "first_use") {
      if (caller?.name === name) return;
      throw tokenNeeded(name, "Another token for it");
    }
    const message = `The agent ${name} gets tokens from an operator only. Ask with the operator's token.`;
    throw new Problem(403, "token_not_allowed", message);
  }

  private checkTokenOptions({ label, life_ms }: TokenOptions): void {
    const { token_label_chars, token_life_most_ms } = this.limits;
    if (label !== undefined && label.length > token_label_chars) {
      throw new Problem(400, "malformed", `The label is longer than ${token_label_chars} characters. Shorten it.`);
    }
    if (life_ms !== undefined && !(Number.isSafeInteger(life_ms) && life_ms >= 1 && life_ms <= token_life_most_ms)) {
      throw new Problem(400, "malformed", `The life of ${life_ms} ms must be from 1 to ${token_life_most_ms} ms.`);
    }
  }
}

function checkName(name: string): void {
  if (!isName(name)) {
    const message = "The agent's name must be 1 to 128 letters, digits, dots, dashes or underscores.";
    throw new Problem(400, "malformed", message);
  }
  if (reserved.has(name))
    throw new Problem(403, "name_reserved", `No agent may be called ${name}. Choose another name.`);
}

/** The name is taken by somebody who has no key, and the caller did not show one of its tokens. */
function tokenNeeded(name: string, what: string): Problem {
  const next =
    "Use the token that you were given, or choose another name, " +
    "or use the operator's token (in the relay's data directory, file operator-token).";
  return new Problem(403, "name_taken", `The name ${name} is taken. ${what} needs one of its own tokens. ${next}`);
}

/** The agent itself, by its key, or an operator. */
function checkOwner(caller: Caller, agent: string, act: string): void {
  if (caller.role === "operator" || (caller.name === agent && caller.key !== null)) return;
  throw new Problem(
    403,
    "not_yours",
    `Only ${agent}, by its key, or an operator may ${act}; the caller is ${caller.name}.`,
  );
}

/** A key that was replaced goes on working for a while, but decides nothing that would outlast it. */
function checkNewestKey(caller: Caller, agent: AgentRecord | undefined): void {
  const key = agent?.keys.find(({ thumbprint }) => thumbprint === caller.key);
  if (caller.role === "operator" || key === undefined || key.valid_until === null) return;
  throw new Problem(403, "key_replaced", `The key ${key.thumbprint} was replaced. Do this with the newest key.`);
}

function parseKey(jwk: unknown): PublicKey {
  const parsed = parsePublicKey(nodeCrypto, jwk);
  if (parsed.ok) return parsed.key;
  const next = "Make a fresh Ed25519 key pair and register its public half.";
  throw new Problem(400, "key_refused", `The key is refused: ${parsed.fault.replaceAll("_", " ")}. ${next}`, {
    fault: parsed.fault,
  });
}
