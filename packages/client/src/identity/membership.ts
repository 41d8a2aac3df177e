/** The two kinds of callers: an agent with a key, which registers itself, and the bearer of a token. */

import type { Capability, Cost } from "@handfast/protocol";
import { manifestDigest, saltByKey } from "@handfast/protocol/client";
import type { AgentView } from "@handfast/protocol/wire";
import { UsageError } from "../errors.ts";
import { Refused } from "../link/http-exchange.ts";
import { pause, persist } from "../link/persist.ts";
import { refusalOf } from "../link/refusal.ts";
import type { Surroundings } from "../surroundings.ts";
import { Credentials } from "./credential.ts";
import type { Identity } from "./identity.ts";
import { type ManifestTerms, type Stated, stateManifest } from "./manifest.ts";
import { type RegistrationFacts, register } from "./registration.ts";

/** Of several processes of one agent, those that offer nothing let the others come first. */
const courtesy_ms = 300;

export class KeyMember implements Identity {
  readonly #facts: RegistrationFacts;
  readonly #surroundings: Surroundings;
  readonly #patience_ms: number;
  readonly #credentials: Credentials;
  readonly #terms: ManifestTerms;
  #stated: Stated;
  #was_known = false;
  #readmission: Promise<void> | null = null;

  constructor(facts: RegistrationFacts, surroundings: Surroundings, patience_ms: number, terms: ManifestTerms = {}) {
    this.#facts = facts;
    this.#terms = terms;
    // Who offers nothing yet says nothing but its name: what it is to be told is stated with what it offers.
    this.#stated = { manifest: { agent_id: facts.agent, capabilities: [] }, costs: {} };
    this.#surroundings = surroundings;
    this.#patience_ms = patience_ms;
    this.#credentials = new Credentials(facts, surroundings);
  }

  get signer() {
    return this.#facts.key.signer;
  }

  authorization(fresh?: boolean): Promise<string> {
    return this.#credentials.current(fresh);
  }

  /** However many calls were refused, it registers once. */
  readmit(): Promise<void> {
    this.#readmission ??= this.#readmit().finally(() => {
      this.#readmission = null;
    });
    return this.#readmission;
  }

  /** What the agent offers from now on, also after the relay has forgotten it. */
  async offer(capabilities: readonly Capability[], costs: ReadonlyMap<string, Cost> = new Map()): Promise<void> {
    const { crypto, agent: agent_id, key } = this.#facts;
    const saltOf = (capability: string, cost: Cost) => saltByKey(crypto, key.signer, { agent_id, capability }, cost);
    const stated = await stateManifest(crypto, agent_id, this.#terms, capabilities, costs, saltOf);
    if (!(await this.#statesAlready(stated))) await this.#register(stated);
    this.#stated = stated;
  }

  get #offersSomething(): boolean {
    return this.#stated.manifest.capabilities.length > 0;
  }

  /** The relay answered a call of this agent: it knows it. */
  known(): void {
    this.#was_known = true;
  }

  /**
   * Another process of this agent may have come back first and registered without offering anything. Failing to look is
   * no harm: whoever calls is told what is wrong.
   */
  returned(): void {
    if (this.#offersSomething) this.#offerAgain().catch(() => {});
  }

  async #offerAgain(): Promise<void> {
    const { capabilities } = await this.#view();
    if (capabilities.length === 0) await this.#register(this.#stated);
  }

  /**
   * Most workers of a fleet offer what the first of them did. A registration is a stranger's call, of which a relay takes few
   * a second; to look is the agent's own.
   */
  async #statesAlready({ manifest }: Stated): Promise<boolean> {
    if (!this.#was_known) return false;
    // Whatever is wrong, registering finds it too, and tells.
    const view = await this.#view().catch(() => null);
    const known = view?.manifest ?? null;
    if (view === null || known?.signed !== true) return false;
    // What a key signed that was revoked since proves nothing to others: it is said again, with the key there is now.
    if (view.keys.some(({ revoked_at }) => revoked_at !== null && revoked_at >= known.since)) return false;
    return known.digest === manifestDigest(this.#facts.crypto, manifest);
  }

  async #readmit(): Promise<void> {
    // Registering replaces what the agent offers: a mere sender must not undo what its worker has just said.
    if (this.#was_known && !this.#offersSomething) {
      await pause(this.#surroundings, courtesy_ms * (0.5 + this.#surroundings.random()));
      if (await this.#isKnown()) return;
    }
    await this.#register(this.#stated);
  }

  async #register(stated: Stated): Promise<void> {
    const { exchange } = this.#facts;
    const persistence = { url: exchange.url, surroundings: this.#surroundings, patience_ms: this.#patience_ms };
    await persist(persistence, () => register(this.#facts, stated));
    this.#was_known = true;
  }

  async #view(): Promise<AgentView> {
    const { exchange, agent } = this.#facts;
    return exchange.once("agent", { params: { name: agent } }, { authorization: await this.authorization() });
  }

  async #isKnown(): Promise<boolean> {
    try {
      await this.#view();
      return true;
    } catch (error) {
      if (error instanceof Refused && refusalOf(error.problem, null, 0).kind === "unknown_agent") return false;
      throw error;
    }
  }
}

export class TokenBearer implements Identity {
  readonly signer = null;
  readonly #token: string;

  constructor(token: string) {
    this.#token = token;
  }

  async authorization(): Promise<string> {
    return this.#token;
  }

  async readmit(): Promise<void> {
    throw new UsageError("The relay does not know whom the token stands for.", "Ask for a new token.", "unknown_token");
  }
}
