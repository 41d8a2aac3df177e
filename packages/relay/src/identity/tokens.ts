/**
 * Opaque bearer tokens for callers that cannot sign: 32 random bytes bound to an agent, stored only as their SHA-256.
 * What is done with one is `attested`, never `signed`.
 */

import type { Time } from "@handfast/core";
import { toBase64url, toHex, toUtf8 } from "@handfast/protocol";
import { type Change, RecordTable } from "../directory/record-table.ts";
import type { Records } from "../directory/records.ts";
import { type RelayLimits, limits as relayLimits } from "../limits.ts";
import { Problem } from "../problem.ts";
import { nodeCrypto } from "../proof/node-crypto.ts";

export const token_prefix = "hft_";
const token_bytes = 32;
const id_bytes = 9;
const hint_chars = 4;

export interface TokenView {
  readonly id: string;
  readonly agent: string;
  /** The token's last characters, for people to tell them apart. */
  readonly hint: string;
  readonly label: string | null;
  readonly created_at: Time;
  readonly expires_at: Time | null;
}

/** What is stored, by the token's digest. */
interface TokenRow extends TokenView {
  /** Thumbprint of the key that asked for it: when that key is revoked, what it made ends too. */
  readonly made_by: string | null;
}

export interface TokensOptions {
  readonly namespace: string;
  readonly records: Records;
  readonly now: () => Time;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly limits?: RelayLimits;
}

export interface Minted {
  /** Shown once; the relay keeps only its digest. */
  readonly token: string;
  readonly view: TokenView;
  readonly changes: readonly Change[];
}

export class Tokens {
  private readonly options: TokensOptions;
  private readonly limits: RelayLimits;
  private readonly rows: RecordTable<TokenRow>;
  private readonly byAgent = new Map<string, Set<string>>();

  private constructor(options: TokensOptions) {
    this.options = options;
    this.limits = options.limits ?? relayLimits;
    this.rows = new RecordTable(options.namespace, "token", {
      remove: (digest, { agent }) => this.unindex(digest, agent),
      add: (digest, { agent }) => void this.digestsOf(agent).add(digest),
    });
  }

  static async open(options: TokensOptions): Promise<Tokens> {
    const tokens = new Tokens(options);
    await tokens.load();
    return tokens;
  }

  /** Reads them from the store; again, after a commit of which nobody knows what is on disk. */
  async load(): Promise<void> {
    await this.rows.load(this.options.records);
    this.byAgent.clear();
    for (const [digest, { agent }] of this.rows.entries()) this.digestsOf(agent).add(digest);
  }

  /** By its digest, so that comparing takes no longer for a token that is nearly right. */
  find(token: string): TokenView | undefined {
    const found = this.rows.get(digestOf(token));
    return found === undefined || this.isExpired(found) ? undefined : found;
  }

  /** Whose it is, by its digest, as it is stored. */
  holder(digest: string): string | undefined {
    return this.rows.get(digest)?.agent;
  }

  *digests(): Generator<string> {
    for (const [digest] of this.rows.entries()) yield digest;
  }

  list(agent: string): readonly TokenView[] {
    return this.rowsOf(agent)
      .filter(([, row]) => !this.isExpired(row))
      .map(([, { made_by: _, ...view }]) => view);
  }

  /** The token and the changes that make it good; the caller commits them. */
  mint(agent: string, made_by: string | null, label: string | null, life_ms: number | null): Minted {
    this.checkRoom(agent);
    const { now, randomBytes } = this.options;
    const token = token_prefix + toBase64url(randomBytes(token_bytes));
    const view: TokenView = {
      // A command takes it as a word: in base64url it could begin as a flag does.
      id: toHex(randomBytes(id_bytes)),
      agent,
      hint: token.slice(-hint_chars),
      label,
      created_at: now(),
      expires_at: life_ms === null ? null : now() + life_ms,
    };
    const digest = digestOf(token);
    const { write, apply } = this.rows.set(digest, { ...view, made_by });
    const index = () => void this.digestsOf(agent).add(digest);
    const made: Change = { write, apply: () => [apply(), index()] };
    // Those whose time is over let nobody in; they only take room.
    return { token, view, changes: [made, ...this.ending(agent, (row) => this.isExpired(row))] };
  }

  /** The changes that end the tokens of an agent that `which` picks. */
  ending(agent: string, which: (token: TokenRow) => boolean): readonly Change[] {
    return this.rowsOf(agent)
      .filter(([, row]) => which(row))
      .map(([digest]) => this.end(digest));
  }

  private end(digest: string): Change {
    const agent = this.rows.get(digest)?.agent ?? "";
    const { write, apply } = this.rows.delete(digest);
    return {
      write,
      apply: () => {
        apply();
        this.unindex(digest, agent);
      },
    };
  }

  private unindex(digest: string, agent: string): void {
    this.byAgent.get(agent)?.delete(digest);
    if (this.byAgent.get(agent)?.size === 0) this.byAgent.delete(agent);
  }

  private checkRoom(agent: string): void {
    const { tokens, tokens_per_agent } = this.limits;
    if (this.list(agent).length >= tokens_per_agent) {
      const message = `The agent ${agent} has ${tokens_per_agent} tokens, which is all it may have. Revoke one first.`;
      throw new Problem(429, "too_many_tokens", message);
    }
    if (this.rows.size < tokens) return;
    throw new Problem(
      507,
      "too_many_tokens",
      `The relay has given out ${tokens} tokens. An operator must revoke some.`,
    );
  }

  private rowsOf(agent: string): readonly [string, TokenRow][] {
    const found: [string, TokenRow][] = [];
    for (const digest of this.byAgent.get(agent) ?? []) {
      const row = this.rows.get(digest);
      if (row !== undefined) found.push([digest, row]);
    }
    return found;
  }

  private digestsOf(agent: string): Set<string> {
    const digests = this.byAgent.get(agent) ?? new Set();
    this.byAgent.set(agent, digests);
    return digests;
  }

  private isExpired({ expires_at }: TokenView): boolean {
    return expires_at !== null && expires_at <= this.options.now();
  }
}

function digestOf(token: string): string {
  return toHex(nodeCrypto.sha256(toUtf8(token)));
}
