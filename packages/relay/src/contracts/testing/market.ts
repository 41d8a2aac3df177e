/** For tests: a relay in this process on a virtual clock, and agents that agree with each other. Replies are checked by schema. */

import { type Capability, type Cost, makeId, payloadDigest, sealCost, toBase64url, toUtf8 } from "@handfast/protocol";
import { VirtualSurroundings } from "../../../../engine/src/testing/virtual-surroundings.ts";
import { type TestAgent as Key, testAgent } from "../../identity/testing/test-agent.ts";
import { InProcessRelay } from "../../in-process/in-process-relay.ts";
import type { RelayLimits } from "../../limits.ts";
import { nodeCrypto } from "../../proof/node-crypto.ts";
import { checkReply } from "../../testing/test-relay.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests read replies as their readers do, without a type for each.
type Json = any;

export interface Got {
  readonly status: number;
  readonly body: Json;
}

export class Market {
  readonly clock = new VirtualSurroundings(Date.UTC(2026, 0, 1));
  #relay: InProcessRelay | null = null;
  #made = 0;

  static async open(limits: Partial<RelayLimits> = {}): Promise<Market> {
    const market = new Market();
    market.#relay = await InProcessRelay.start({ surroundings: market.clock, limits });
    return market;
  }

  get relay(): InProcessRelay {
    if (this.#relay === null) throw new Error("the market is not open");
    return this.#relay;
  }

  close(): Promise<void> {
    return this.relay.stop();
  }

  /** Stops and comes back on what it knew. */
  async restart(): Promise<void> {
    await this.relay.pause();
    await this.relay.resume();
  }

  async call(method: string, path: string, token?: string, body?: unknown, wait?: number): Promise<Got> {
    const response = await this.relay.fetch(
      new Request(this.relay.url + path, {
        method,
        headers: {
          "content-type": "application/json",
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(wait === undefined ? {} : { prefer: `wait=${wait}` }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    );
    const text = await response.text();
    const got = { status: response.status, headers: response.headers, body: text === "" ? null : JSON.parse(text) };
    checkReply(method, path, got);
    return got;
  }

  operator = (method: string, path: string, body?: unknown) => this.call(method, path, this.relay.operator_token, body);

  /** One that has a token and cannot sign; `costs` are sealed in its capabilities. */
  async agent(
    name: string,
    capabilities: readonly Capability[] = [],
    costs: Record<string, Cost> = {},
  ): Promise<Trader> {
    const made = await this.call("POST", "/v1/tokens", undefined, { agent: name, capabilities: [] });
    if (made.status !== 201) throw new Error(`no token for ${name}: ${JSON.stringify(made.body)}`);
    const trader = new Trader(this, name, () => Promise.resolve(made.body.token), null);
    if (capabilities.length > 0) await trader.offers(capabilities, costs);
    return trader;
  }

  /** One that has a key. */
  async signer(
    name: string,
    capabilities: readonly Capability[] = [],
    costs: Record<string, Cost> = {},
  ): Promise<Trader> {
    const key = testAgent(name);
    const trader = new Trader(this, name, () => key.credential(this.relay.url, this.clock.now()), key);
    await trader.offers(capabilities, costs);
    return trader;
  }

  header = (typ: string) => ({ v: 1, typ, relay: this.relay.url, namespace: "default" });

  newId(): string {
    this.#made += 1;
    return makeId(this.clock.now(), new Uint8Array(10).fill(this.#made).with(0, this.#made >> 8));
  }

  /** Of the log: what concerns no handoff. */
  async entries(): Promise<readonly Json[]> {
    const events = await this.relay.events();
    return events.filter((event) => !("handoff" in event));
  }
}

/** A capability's sealed price, and what opens it. */
function sealed(capability: Capability, cost: Cost | undefined) {
  if (cost === undefined) return { capability, opening: {} };
  const opening = { salt: toBase64url(new Uint8Array(16).fill(7)), cost };
  return {
    capability: { ...capability, cost: sealCost(nodeCrypto, opening) },
    opening: { [capability.name]: opening },
  };
}

export class Trader {
  readonly market: Market;
  readonly name: string;
  readonly key: Key | null;
  readonly #token: () => Promise<string>;

  constructor(market: Market, name: string, token: () => Promise<string>, key: Key | null) {
    this.market = market;
    this.name = name;
    this.key = key;
    this.#token = token;
  }

  get = async (path: string, wait?: number) => this.market.call("GET", path, await this.#token(), undefined, wait);
  post = async (path: string, body: unknown = {}, wait?: number) =>
    this.market.call("POST", path, await this.#token(), body, wait);

  /** What it offers from now on. */
  async offers(capabilities: readonly Capability[], costs: Record<string, Cost> = {}): Promise<void> {
    const parts = capabilities.map((capability) => sealed(capability, costs[capability.name]));
    const manifest = { capabilities: parts.map(({ capability }) => capability) };
    const openings = { costs: Object.assign({}, ...parts.map(({ opening }) => opening)) };
    const got = await (this.key === null
      ? this.market.call("PUT", `/v1/agents/${this.name}/capabilities`, await this.#token(), {
          ...manifest,
          ...openings,
        })
      : this.#register(this.key, manifest, openings));
    if (got.status >= 300) throw new Error(`${this.name} could not say what it offers: ${JSON.stringify(got.body)}`);
  }

  async #register(key: Key, manifest: object, openings: object): Promise<Got> {
    const { challenge } = (await this.market.call("POST", "/v1/agents/challenge", undefined, {})).body;
    const document = {
      ...this.market.header("registration"),
      agent_id: this.name,
      challenge,
      key: key.jwk,
      ...manifest,
    };
    const signed = await key.sign("registration", document);
    return this.market.call("POST", "/v1/agents", undefined, { signed, ...openings });
  }

  async signed(typ: string, said: object): Promise<{ signed: { document: string; proof: unknown } }> {
    if (this.key === null) throw new Error(`${this.name} cannot sign`);
    return { signed: await this.key.sign(typ, { ...this.market.header(typ), from: this.name, ...said }) };
  }

  /** A signed handoff with its payload. */
  async signedHandoff(input: unknown, said: object) {
    const payload = JSON.stringify(input);
    const bytes = toUtf8(payload);
    const salt = new Uint8Array(16).fill(3);
    const digest = {
      media_type: "application/json",
      size: bytes.length,
      salt: toBase64url(salt),
      sha256: payloadDigest(nodeCrypto, salt, bytes),
    };
    const { signed } = await this.signed("handoff", { id: this.market.newId(), input: digest, ...said });
    return { signed: { ...signed, payload } };
  }

  negotiate = (body: object, wait?: number) => this.post("/v1/negotiations", body, wait);

  /** The one offer of a negotiation that is over. */
  async offer(body: object, wait?: number): Promise<Json> {
    const got = await this.negotiate(body, wait);
    if (got.body.offers?.length !== 1) throw new Error(`not one offer: ${JSON.stringify(got.body)}`);
    return got.body.offers[0];
  }

  /** A contract with the only agent that offers it. */
  async contract(body: object): Promise<Json> {
    const { offer_id } = await this.offer(body);
    const got = await this.post("/v1/contracts", { offer_id });
    if (got.status !== 201) throw new Error(`no contract: ${JSON.stringify(got.body)}`);
    return got.body;
  }

  submit = (body: object) => this.post("/v1/handoffs", body);

  async claim(): Promise<Json> {
    const got = await this.post("/v1/claims", { worker: `${this.name}-1` });
    if (got.body.leases?.length !== 1) throw new Error(`no lease: ${JSON.stringify(got.body)}`);
    return got.body.leases[0];
  }

  act = (id: string, act: string, body: object) => this.post(`/v1/handoffs/${id}/${act}`, body);

  /** Takes the work that waits for it and does it. */
  async works(output: unknown = "done", more: object = {}): Promise<Got> {
    const { id, fence } = await this.claim();
    return this.act(id, "complete", { fence, output, ...more });
  }
}
