/** Where a check plays: agents of its own, under names that nobody else has, over one transport. */

import { setTimeout as pause } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Capability, Costs } from "@handfast/protocol";
import type { AboutRelay } from "@handfast/protocol/wire";
import { Broken, shown } from "../broken.ts";
import { HttpLink } from "../caller/http-link.ts";
import { Key } from "../caller/key.ts";
import type { Link } from "../caller/link.ts";
import { Peer } from "../caller/peer.ts";
import { SocketLink } from "../caller/socket-link.ts";
import type { Transport } from "../check.ts";
import type { RelayUnderTest } from "../run/relay-under-test.ts";
import { Agent } from "./agent.ts";
import { Caller } from "./caller.ts";
import { Journal } from "./journal.ts";

export interface StageOptions {
  readonly relay: RelayUnderTest;
  readonly transport: Transport;
  /** Begins every name of this check. */
  readonly prefix: string;
  /** Kills the relay and starts it again, together with the other checks that wait for it. */
  readonly restart: () => Promise<void>;
}

/** A sender, and a worker that offers one capability which nobody else offers. */
export interface Pair {
  readonly sender: Agent;
  readonly worker: Agent;
  readonly capability: string;
}

type Offer = string | Capability;

export class Stage {
  readonly journal = new Journal();
  readonly transport: Transport;
  readonly #options: StageOptions;
  readonly #links: Link[] = [];
  readonly #over = new AbortController();
  #named = 0;

  constructor(options: StageOptions) {
    this.#options = options;
    this.transport = options.transport;
  }

  get url(): string {
    return this.#options.relay.url;
  }

  get about(): AboutRelay {
    return this.#options.relay.about;
  }

  /** The URL that documents and credentials name. */
  get audience(): string {
    return this.#options.relay.audience;
  }

  get websocketUrl(): string {
    return this.#options.relay.websocketUrl;
  }

  name(what: string): string {
    this.#named += 1;
    return `${this.#options.prefix}-${what}${this.#named}`;
  }

  /** A new agent that offers these. */
  async agent(...offers: readonly Offer[]): Promise<Agent> {
    return this.agentNamed(this.name("agent"), new Key(), ...offers);
  }

  async agentNamed(name: string, key: Key, ...offers: readonly Offer[]): Promise<Agent> {
    await this.register(name, key, offers);
    return this.agentOf(name, key);
  }

  /** (Anew) what it offers. */
  async register(name: string, key: Key, offers: readonly Offer[], costs: Costs = {}): Promise<void> {
    const capabilities = offers.map((offer) => (typeof offer === "string" ? { name: offer } : offer));
    await this.#options.relay.admission.register(name, key, capabilities, costs);
  }

  /** Who has this key, over a connection of its own. */
  agentOf(name: string, key: Key, transport = this.transport): Agent {
    const { audience } = this;
    const link = this.link(() => key.credential(name, audience), transport);
    const { namespace } = this.about;
    return new Agent({ name, key, link, journal: this.journal, audience, namespace });
  }

  /** The same agent over another connection. */
  again(agent: Agent): Agent {
    return this.agentOf(agent.name, agent.key);
  }

  operator(): Caller {
    const { operator_token } = this.#options.relay;
    if (operator_token === null) throw new Error("the check needs an operator and does not say so");
    return this.bearer("operator", operator_token);
  }

  /** Whoever has this token or credential. */
  bearer(name: string, credential: string, transport = this.transport): Caller {
    return new Caller({ name, link: this.link(() => credential, transport), journal: this.journal });
  }

  /** Nobody in particular; over HTTP, because a WebSocket begins with who one is. */
  stranger(): Caller {
    const link = new HttpLink(this.url, () => null, this.#over.signal);
    return new Caller({ name: "a stranger", link, journal: this.journal });
  }

  /** In whose name agents of the checks register, over HTTP. */
  registrar(): Caller {
    const { admission } = this.#options.relay;
    return new Caller({ name: "the registrar", link: admission.link(), journal: this.journal });
  }

  /** The body of a registration; `said` overrules what an honest one says. */
  registration(name: string, key: Key, challenge: string, said: object = {}): Promise<object> {
    return this.#options.relay.admission.registration(name, key, challenge, [], said);
  }

  link(credential: () => string, transport = this.transport): Link {
    const { signal } = this.#over;
    const link =
      transport === "http"
        ? new HttpLink(this.url, credential, signal)
        : new SocketLink(this.websocketUrl, credential, signal);
    this.#links.push(link);
    return link;
  }

  /** A connection of this agent, frame by frame. */
  async peer(agent: Agent): Promise<Peer> {
    return this.greeted(agent.key.credential(agent.name, this.audience));
  }

  async greeted(credential: string): Promise<Peer> {
    return this.#closedAtTheEnd(await Peer.greet(this.websocketUrl, credential));
  }

  /** One that has not said who it is. */
  async silentPeer(): Promise<Peer> {
    return this.#closedAtTheEnd(await Peer.open(this.websocketUrl));
  }

  #closedAtTheEnd(peer: Peer): Peer {
    this.#links.push({ ...unusedLink, close: () => peer.close() });
    if (this.#over.signal.aborted) peer.close();
    return peer;
  }

  /** The connection that a link of a check over WebSockets uses. */
  async peerOf(link: Link): Promise<Peer> {
    if (!(link instanceof SocketLink)) throw new Error("only a WebSocket has frames to look at");
    return link.peer();
  }

  async pair(terms: Partial<Capability> = {}): Promise<Pair> {
    const capability = this.name("work");
    const [sender, worker] = await Promise.all([this.agent(), this.agent({ ...terms, name: capability })]);
    return { sender, worker, capability };
  }

  restart(): Promise<void> {
    return this.#options.restart();
  }

  /** Relays have real clocks: what they do in time has to be waited for. */
  async pause(ms: number): Promise<void> {
    await pause(ms, undefined, { signal: this.#over.signal });
  }

  /** What goes on beside the check: it may come to grief before anybody waits for it. */
  meanwhile<T>(work: Promise<T>): Promise<T> {
    work.catch(() => undefined);
    return work;
  }

  that(holds: boolean, expected: string, got: unknown): void {
    if (!holds) throw new Broken(expected, shown(got));
  }

  equal(got: unknown, wanted: unknown, what: string): void {
    if (!isDeepStrictEqual(got, wanted)) throw new Broken(`${what}: ${shown(wanted)}`, shown(got));
  }

  /** Reads until it is as wanted. */
  async until<T>(what: string, read: () => Promise<T>, isThere: (value: T) => boolean, within_ms = 15_000): Promise<T> {
    const until = performance.now() + within_ms;
    for (;;) {
      const value = await read();
      if (isThere(value)) return value;
      if (performance.now() > until) throw new Broken(`${what} within ${within_ms} ms`, shown(value));
      await this.pause(50);
    }
  }

  /** Ends what still goes on, such as the senders of a check that broke. */
  dispose(): void {
    this.#over.abort();
    for (const link of this.#links) link.close();
  }
}

const unusedLink: Link = {
  call: () => Promise.reject(new Error("a connection that is looked at frame by frame makes no calls")),
  stream: () => Promise.reject(new Error("a connection that is looked at frame by frame has no streams")),
  close: () => undefined,
};
