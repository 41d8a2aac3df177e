/** By what agents could prove themselves at one moment, to find out later which of them can no longer do it so. */

import type { AgentRecord } from "../directory/agent.ts";
import type { Directory } from "../directory/directory.ts";
import type { Tokens } from "./tokens.ts";

type Known = Pick<Directory, "record">;
type KnownTokens = Pick<Tokens, "holder">;

export class Proofs {
  readonly #agents: readonly AgentRecord[];
  /** By digest: whose it is. */
  readonly #tokens: ReadonlyMap<string, string>;

  /** Of these agents, and of the tokens with these digests. */
  constructor(directory: Known, tokens: KnownTokens, names: Iterable<string>, digests: Iterable<string>) {
    this.#agents = Array.from(names).flatMap((name) => directory.record(name) ?? []);
    this.#tokens = new Map(Array.from(digests).flatMap((digest) => pair(digest, tokens.holder(digest))));
  }

  /** The agents of which a key or token has ended since. */
  ended(directory: Known, tokens: KnownTokens): ReadonlySet<string> {
    const ended = new Set<string>();
    for (const agent of this.#agents) if (hasEnded(agent, directory.record(agent.name))) ended.add(agent.name);
    for (const [digest, agent] of this.#tokens) if (tokens.holder(digest) !== agent) ended.add(agent);
    return ended;
  }
}

function hasEnded({ registered_at, keys }: AgentRecord, now: AgentRecord | undefined): boolean {
  if (now?.registered_at !== registered_at) return true;
  const good = new Set(now.keys.filter(({ revoked_at }) => revoked_at === null).map(({ thumbprint }) => thumbprint));
  return keys.some(({ revoked_at, thumbprint }) => revoked_at === null && !good.has(thumbprint));
}

function pair(digest: string, agent: string | undefined): readonly [string, string][] {
  return agent === undefined ? [] : [[digest, agent]];
}
