/** Session credentials: JWTs that the agent signs for itself, used again until most of their life is over. */

import { toBase64url, toUtf8 } from "@handfast/protocol/client";
import type { Surroundings } from "../surroundings.ts";
import type { AgentKey } from "./agent-key.ts";

const life_seconds = 300;
/** A new one is made when this much of the old one's life is over. */
const used_share = 0.8;

export interface CredentialFacts {
  readonly agent: string;
  readonly namespace: string;
  /** The relay's public URL. */
  readonly relay: string;
  readonly key: AgentKey;
}

export class Credentials {
  readonly #facts: CredentialFacts;
  readonly #surroundings: Surroundings;
  #last: { readonly made: Promise<string>; readonly until: number } | null = null;

  constructor(facts: CredentialFacts, surroundings: Surroundings) {
    this.#facts = facts;
    this.#surroundings = surroundings;
  }

  current(fresh = false): Promise<string> {
    const now = this.#surroundings.now();
    if (!fresh && this.#last !== null && now < this.#last.until) return this.#last.made;
    const made = this.#make(Math.floor(now / 1_000));
    this.#last = { made, until: now + life_seconds * used_share * 1_000 };
    return made;
  }

  async #make(iat: number): Promise<string> {
    const { agent, namespace, relay, key } = this.#facts;
    const header = { alg: "EdDSA", kid: key.signer.key };
    const claims = { iss: agent, aud: relay, iat, exp: iat + life_seconds, ns: namespace };
    const signed = `${part(header)}.${part(claims)}`;
    return `${signed}.${toBase64url(await key.signer.sign(toUtf8(signed)))}`;
  }
}

function part(value: object): string {
  return toBase64url(toUtf8(JSON.stringify(value)));
}
