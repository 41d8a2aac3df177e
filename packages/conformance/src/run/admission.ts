/**
 * How the agents of the checks come to be known: in development mode by registering, otherwise admitted by the operator's
 * token. The calls are made in somebody's name, because strangers are slowed down by relays with good reason.
 */

import type { Capability, Costs } from "@handfast/protocol";
import { HttpLink } from "../caller/http-link.ts";
import { Key } from "../caller/key.ts";
import { Caller } from "../stage/caller.ts";
import { Journal } from "../stage/journal.ts";

export interface AdmissionOptions {
  readonly url: string;
  readonly audience: string;
  readonly namespace: string;
  readonly operator_token: string | null;
  /** The agent in whose name the others register, where there is no operator. */
  readonly host: string;
}

export class Admission {
  readonly #options: AdmissionOptions;
  readonly #key = new Key();
  #isKnown = false;

  private constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  static async open(options: AdmissionOptions): Promise<Admission> {
    const admission = new Admission(options);
    await admission.register(options.host, admission.#key, []);
    admission.#isKnown = true;
    return admission;
  }

  /** `costs` opens the prices that the capabilities seal. */
  async register(name: string, key: Key, capabilities: readonly Capability[], costs: Costs = {}): Promise<void> {
    const { host } = this.#options;
    const caller = new Caller({ name: host, link: this.link(), journal: new Journal() });
    const { challenge } = await caller.ok("challenge", { body: {} });
    const signed = await this.registration(name, key, challenge, capabilities);
    await caller.ok("register", { body: { ...signed, ...(Object.keys(costs).length === 0 ? {} : { costs }) } });
  }

  /** The signed body of a registration; `said` overrules. */
  async registration(
    name: string,
    key: Key,
    challenge: string,
    capabilities: readonly Capability[],
    said: object = {},
  ): Promise<object> {
    const { audience: relay, namespace } = this.#options;
    const header = { v: 1, typ: "registration", relay, namespace, agent_id: name, challenge };
    const text = JSON.stringify({ ...header, key: key.jwk, capabilities, ...said });
    return { signed: { document: text, proof: await key.proof({ typ: "registration", text }) } };
  }

  /** Calls as the operator, else as the host. */
  link(): HttpLink {
    const { url, audience, operator_token, host } = this.#options;
    const credential = () => operator_token ?? (this.#isKnown ? this.#key.credential(host, audience) : null);
    return new HttpLink(url, credential);
  }
}
