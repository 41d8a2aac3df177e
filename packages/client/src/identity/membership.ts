/** The two kinds of callers: an agent with a key, which registers itself, and the bearer of a token. */

import type { Capability } from "@handfast/protocol";
import type { AgentView } from "@handfast/protocol/wire";
import { UsageError } from "../errors.ts";
import { Refused } from "../link/http-exchange.ts";
import { pause, persist } from "../link/persist.ts";
import { refusalOf } from "../link/refusal.ts";
import type { Surroundings } from "../surroundings.ts";
import { Credentials } from "./credential.ts";
import type { Identity } from "./identity.ts";
import { type RegistrationFacts, register } from "./registration.ts";
import { isSameJson } from "./same-json.ts";

/** Of several processes of one agent, those that offer nothing let the others come first. */
const courtesy_ms = 300;

export class KeyMember implements Identity {
  readonly #facts: RegistrationFacts;
  readonly #surroundings: Surroundings;
  readonly #patience_ms: number;
  readonly #credentials: Credentials;
  #offered: readonly Capability[] = [];
  #was_known = false;
  #readmission: Promise<void> | null = null;

  constructor(facts: RegistrationFacts, surroundings: Surroundings, patience_ms: number) {
    this.#facts = facts;
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
  async offer(capabilities: readonly Capability[]): Promise<void> {
    if (!(await this.#offersAlready(capabilities))) await this.#register(capabilities);
    this.#offered = capabilities;
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
    if (this.#offered.length > 0) this.#offerAgain().catch(() => {});
  }

  async #offerAgain(): Promise<void> {
    const { capabilities } = await this.#view();
    if (capabilities.length === 0) await this.#register(this.#offered);
  }

  /**
   * Most workers of a fleet offer what the first of them did. A registration is a stranger's call, of which a relay takes few
   * a second; to look is the agent's own.
   */
  async #offersAlready(capabilities: readonly Capability[]): Promise<boolean> {
    if (!this.#was_known) return false;
    // Whatever is wrong, registering finds it too, and tells.
    const view = await this.#view().catch(() => null);
    return view?.manifest?.signed === true && isSameJson(view.capabilities, capabilities);
  }

  async #readmit(): Promise<void> {
    // Registering replaces what the agent offers: a mere sender must not undo what its worker has just said.
    if (this.#was_known && this.#offered.length === 0) {
      await pause(this.#surroundings, courtesy_ms * (0.5 + this.#surroundings.random()));
      if (await this.#isKnown()) return;
    }
    await this.#register(this.#offered);
  }

  async #register(capabilities: readonly Capability[]): Promise<void> {
    const { exchange } = this.#facts;
    const persistence = { url: exchange.url, surroundings: this.#surroundings, patience_ms: this.#patience_ms };
    await persist(persistence, () => register(this.#facts, capabilities));
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
