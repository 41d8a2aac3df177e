/**
 * A relay in a test's own process, the clients and fakes around it, and the clock that all of them share. Time passes only
 * when the test says so; everything else is the relay and the client as they always are.
 */

import type { EventView, HandoffView } from "@handfast/protocol/wire";
import type { Client } from "../client.ts";
import { type ConnectOptions, connect } from "../connect.ts";
import { type Duration, toMilliseconds } from "../duration.ts";
import { UsageError } from "../errors.ts";
import { crashServer } from "../serve/mod.ts";
import { type Behaviour, checkBehaviour } from "./behaviour.ts";
import { Fake, type FakeOptions } from "./fake.ts";
import type { Peer } from "./peer.ts";
import type { UntilOptions } from "./virtual-time.ts";
import { World } from "./world.ts";

export interface TestRelayOptions {
  /** When virtual time begins. Default: the first of January 2026. */
  readonly startAt?: Date;
  /** Of all chance in the relay and its clients: keys, ids, jitter. Default: 1. */
  readonly seed?: number;
}

export interface DisconnectOptions {
  /** Nothing gets through, but nobody is told: both sides must find out. Default: the connection breaks. */
  readonly silently?: boolean;
}

export interface RestartOptions {
  /** How long nobody is there. Default: no time. */
  readonly down?: Duration;
}

const default_start = Date.UTC(2026, 0, 1);
/** Whose processes something happens to: a fake, a client, or all of an agent's by its name. */
export type Target = Fake | Client | string;

/** A client that lost its relay tries again after at most five seconds, and a silent one is found out within a minute. */
const reconnect_most_ms = 60_000;
/** Longer than any grace within which clients and workers close. */
const close_most_ms = 120_000;

/** Starts a relay for one test: no port, no files, and a clock that stands still. */
export async function testRelay({ startAt, seed = 1 }: TestRelayOptions = {}): Promise<TestRelay> {
  return new TestRelay(await World.make({ start_at: startAt?.getTime() ?? default_start, seed }));
}

export class TestRelay {
  readonly #world: World;
  readonly #peers = new Set<Peer>();
  readonly #clients = new Map<Client, Peer>();
  readonly #fakes: Fake[] = [];
  /** What a fake needs to be known before anybody else is heard. */
  readonly #starting = new Set<Promise<unknown>>();
  #stopped: Promise<void> | null = null;

  /** Made by testRelay(). */
  constructor(world: World) {
    this.#world = world;
  }

  /** What its clients call it. */
  get url(): string {
    return this.#world.relay.url;
  }

  /** Stands for the operator: connect with `{ token }`. */
  get operatorToken(): string {
    return this.#world.relay.operator_token;
  }

  /** Virtual time, in milliseconds since 1970. */
  now(): number {
    return this.#world.clock.now();
  }

  /** A client like any other, of an agent with a key of its own. */
  async connect(agent: string, options: ConnectOptions = {}): Promise<Client> {
    const { client } = await this.#connect(agent, options);
    return client;
  }

  /** Options for your own call of `connect()`, where your code makes the client itself. */
  connectOptions(agent: string): ConnectOptions {
    return this.#world.connectOptions(this.#peer(agent, false));
  }

  /**
   * An agent that offers the capability. `behaviour` is a handler, or a list of what happens in each attempt: a handler,
   * `crash`, `hang`, `fail(…)`, or an output.
   */
  fake(capability: string, behaviour: Behaviour, options: FakeOptions = {}): Fake {
    checkBehaviour(capability, behaviour);
    const number = this.#fakes.filter((fake) => fake.capability === capability).length + 1;
    const agent = options.agent ?? `${capability}-${number}`;
    const fake = new Fake(
      {
        enter: (name) => this.#enter(name),
        start: (start) => this.#start(start),
      },
      capability,
      agent,
      behaviour,
      options,
    );
    this.#fakes.push(fake);
    return fake;
  }

  /** Time passes for the relay, clients and workers: each timer at its own moment, and everything settles in between. */
  async advance(duration: Duration): Promise<void> {
    await this.#ready();
    await this.#world.time.advance(duration);
  }

  /** Lets everything that is under way come to rest, without time passing. */
  async settle(): Promise<void> {
    await this.#ready();
    await this.#world.time.settle();
  }

  /** Lets time pass, timer by timer, until the promise settles; a day at most, unless told otherwise. */
  async until<T>(promise: PromiseLike<T>, options?: UntilOptions): Promise<T> {
    const wanted = Promise.resolve(promise);
    // It may be rejected while fakes start; whoever called this is told then.
    wanted.catch(() => {});
    await this.#ready();
    return this.#world.time.until(wanted, options);
  }

  /** Resolves when so much virtual time has passed: for handlers that take their time. */
  sleep(duration: Duration): Promise<void> {
    return this.#world.time.sleep(duration);
  }

  /** The process dies without a word: nothing it holds is given back, and nothing it says is heard any more. */
  async crash(target: Target): Promise<void> {
    await this.#ready();
    for (const fake of this.#fakes) if (fake === target || fake.agent === target) await fake.crash();
    if (!(target instanceof Fake)) for (const peer of this.#peersOf(target)) this.#kill(peer);
    await this.#world.time.settle();
  }

  /** Cuts the network between the relay and this client, until `reconnect`. */
  disconnect(target: Target, { silently = false }: DisconnectOptions = {}): void {
    for (const { end } of this.#peersOf(target)) {
      if (silently) end.silence();
      else end.cut();
    }
  }

  /** Puts the network back, and lets the time pass that the client takes to find its way again. */
  async reconnect(target: Target): Promise<void> {
    const peers = this.#peersOf(target);
    for (const { end } of peers) end.restore();
    await this.#passUntilConnected(peers);
  }

  /** Everything takes so much longer each way. */
  delay(target: Target, by: Duration): void {
    const ms = toMilliseconds(by, "delay()");
    for (const { end } of this.#peersOf(target)) end.delay_ms = ms;
  }

  /** The relay stops and starts again on what it knew; time passes until its clients are back. */
  async restart(options: RestartOptions = {}): Promise<void> {
    await this.#restart(options, async () => {});
  }

  /** The relay stops and comes back knowing nothing, as one whose disk was lost. */
  async restartEmpty(options: RestartOptions = {}): Promise<void> {
    await this.#restart(options, () => this.#world.relay.forget());
  }

  /** Everything that happened, oldest first. */
  async events(): Promise<readonly EventView[]> {
    await this.settle();
    return this.#world.relay.events();
  }

  /** What happened to one handoff. */
  async eventsOf(handoff: string | { readonly id: string }): Promise<readonly EventView[]> {
    await this.settle();
    return this.#world.relay.events(idOf(handoff));
  }

  /** A handoff as it stands, with its input. */
  async handoff(handoff: string | { readonly id: string }): Promise<HandoffView> {
    await this.settle();
    return this.#ask<HandoffView>("GET", `/v1/handoffs/${idOf(handoff)}?input=true`);
  }

  /** Dead letters that are open, oldest first. */
  async deadLetters(): Promise<readonly HandoffView[]> {
    await this.settle();
    const page = await this.#ask<{ readonly dead_letters: readonly HandoffView[] }>(
      "GET",
      "/v1/dead-letters?limit=500",
    );
    return page.dead_letters;
  }

  /** Gives a dead letter another life, as an operator does; the id of the new handoff. */
  async redrive(handoff: string | { readonly id: string }): Promise<string> {
    await this.settle();
    const path = `/v1/dead-letters/${idOf(handoff)}/redrive`;
    return (await this.#ask<{ readonly redriven_as: string }>("POST", path, {})).redriven_as;
  }

  /** Stops every worker, then the relay. Nothing is left behind; what was still waited for is never answered. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #stop(): Promise<void> {
    const { time, relay } = this.#world;
    for (const { end } of this.#peers) end.restore();
    await relay.resume();
    await this.#pass(Promise.allSettled([...this.#starting]), close_most_ms);
    const servers = [...this.#clients.keys()].flatMap((client) => [...client.servers]);
    await this.#pass(Promise.allSettled(servers.map((server) => server.stop({ grace: 0 }))), close_most_ms);
    // Clients are not closed: what nobody awaits any more would be so many unhandled rejections.
    for (const peer of this.#peers) this.#kill(peer);
    await this.#pass(relay.pause(), close_most_ms);
    await time.settle();
    await this.#world.stop();
  }

  /** Lets time pass until the promise settles, or for so long. */
  async #pass(promise: Promise<unknown>, most_ms: number): Promise<void> {
    let done = false;
    const mark = () => {
      done = true;
    };
    promise.then(mark, mark);
    if (await this.#world.time.passUntil(() => done, most_ms)) await promise;
  }

  async #connect(agent: string, options: ConnectOptions, isFake = false) {
    this.#checkRunning();
    const peer = this.#peer(agent, isFake);
    const { key, agent: name, ...here } = this.#world.connectOptions(peer);
    // A token says itself whom it stands for.
    const who = options.token === undefined ? { key, agent: name } : {};
    const client = await connect({ ...here, ...(who as ConnectOptions), ...options });
    this.#clients.set(client, peer);
    return { client, peer };
  }

  /** Of a fake: nobody waits for it but the others. */
  async #enter(agent: string) {
    const { client, peer } = await this.#connect(agent, { onWarning: () => {} }, true);
    return { client, worker: peer.name, die: () => this.#kill(peer) };
  }

  #kill(peer: Peer): void {
    for (const [client, of] of this.#clients) if (of === peer) for (const server of client.servers) crashServer(server);
    peer.die();
  }

  #peer(agent: string, isFake: boolean): Peer {
    const peer = this.#world.peer(agent, isFake);
    this.#peers.add(peer);
    if (!isFake) for (const ready of this.#starting) peer.end.holdUntil(ready);
    return peer;
  }

  /** One fake after the other, so that every run begins the same. */
  #start<T>(start: () => Promise<T>): Promise<T> {
    const ready = Promise.allSettled(this.#starting).then(start);
    this.#starting.add(ready);
    const done = () => this.#starting.delete(ready);
    ready.then(done, done);
    for (const { end, isFake } of this.#peers) if (!isFake) end.holdUntil(ready);
    return ready;
  }

  /** A fake that could not start is told here, where somebody waits. While the relay is away, it needs time. */
  /** After the stop nothing would ever answer: better told than waited for. */
  #checkRunning(): void {
    if (this.#stopped === null) return;
    throw new UsageError("This test relay was stopped.", "Stop it last, or make another with testRelay().", "stopped");
  }

  async #ready(): Promise<void> {
    this.#checkRunning();
    await this.#pass(Promise.all(this.#fakes.map((fake) => fake.ready())), reconnect_most_ms);
  }

  #peersOf(target: Target): readonly Peer[] {
    const name = typeof target === "string" || target instanceof Fake ? nameOf(target) : null;
    const own = name === null ? this.#clients.get(target as Client) : undefined;
    const peers = own === undefined ? [...this.#peers].filter(({ agent }) => agent === name) : [own];
    if (peers.length > 0) return peers.filter(({ isGone }) => !isGone);
    const what = name === null ? "This client is not one of this test relay." : `No agent ${name} is connected yet.`;
    const next =
      "Use a client of relay.connect(), the name of an agent that has connected, or a fake of relay.fake() that has " +
      "started: await its ready().";
    throw new UsageError(what, next, "unknown_target");
  }

  async #restart({ down = 0 }: RestartOptions, meanwhile: () => Promise<void>): Promise<void> {
    await this.#ready();
    const { relay, time } = this.#world;
    await this.#pass(relay.pause(), close_most_ms);
    await meanwhile();
    await time.advance(down);
    await relay.resume();
    await this.#passUntilConnected([...this.#peers].filter(({ end }) => !end.isCut));
  }

  async #passUntilConnected(peers: readonly Peer[]): Promise<void> {
    await this.#world.time.passUntil(() => !peers.some(({ isAway }) => isAway), reconnect_most_ms);
  }

  async #ask<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
    const headers = { authorization: `Bearer ${this.operatorToken}`, "content-type": "application/json" };
    const given = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await this.#world.relay.fetch(new Request(this.url + path, { method, headers, ...given }));
    const answer: unknown = await response.json();
    if (response.ok) return answer as Answer;
    const { detail }: { detail?: string } = answer as object;
    throw new UsageError(detail ?? `The relay answered ${response.status}.`, "Check the id.", "refused");
  }
}

function nameOf(target: Fake | string): string {
  return typeof target === "string" ? target : target.agent;
}

function idOf(handoff: string | { readonly id: string }): string {
  return typeof handoff === "string" ? handoff : handoff.id;
}
