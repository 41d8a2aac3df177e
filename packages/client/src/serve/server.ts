/**
 * A worker: it claims as much as it has free slots, runs a handler for each lease, and stops in order.
 *
 * Slots. A lease takes one from its delivery until its outcome is answered and its handler has ended; an open claim is
 * lent some. What is neither is claimed. A handler that ignores its signal keeps its slot.
 *
 * Stop. No new claims; what the open ones bring is given back. Running handlers have the grace to end, then their signals
 * are aborted and they have another moment, then what is left is given back.
 */

import type { LeaseView } from "@handfast/protocol/wire";
import { type Duration, toMilliseconds } from "../duration.ts";
import type { LeaseOver } from "../link/link.ts";
import { Claims } from "./claims.ts";
import { leaseOver, messageOf, stopping } from "./faults.ts";
import { Held, keyOf } from "./held.ts";
import { serveLimits as limits } from "./limits.ts";
import { release } from "./report.ts";
import type { Serving } from "./serving.ts";
import { work } from "./work.ts";

/** How a server stops. */
export interface StopOptions {
  /** How long running handlers may still take. Default: that of `serve()`, 20 seconds. */
  readonly grace?: Duration;
}

/** A running worker. */
export interface Server {
  readonly agent: string;
  /** The name of this process among the workers of its agent. */
  readonly worker: string;
  /** Leases that it holds now. */
  readonly active: number;
  /** Resolves when it has stopped, by whatever cause. */
  readonly stopped: Promise<void>;
  /** Takes nothing more, lets handlers end within the grace, and gives back what is left. */
  stop(options?: StopOptions): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface ServerSettings {
  readonly concurrency: number;
  readonly grace_ms: number;
  /** Capabilities that it works for; null: all that its agent offers. */
  readonly only: readonly string[] | null;
}

export class WorkerServer implements Server {
  readonly #serving: Serving;
  readonly #settings: ServerSettings;
  readonly #claims: Claims;
  readonly #held = new Map<string, Held>();
  readonly #stopped = Promise.withResolvers<void>();
  readonly #graceOver = Promise.withResolvers<void>();
  readonly #gone: AbortController;
  readonly #endings: (() => void)[] = [];
  #idle: PromiseWithResolvers<void> | null = null;
  #letGo = () => {};
  #stopping = false;
  #ended = false;

  constructor(serving: Serving, gone: AbortController, settings: ServerSettings) {
    this.#serving = serving;
    this.#settings = settings;
    this.#gone = gone;
    this.#claims = new Claims(serving.base, serving.worker, settings.only, (leases) => this.#receive(leases));
    this.#endings.push(serving.base.link.onLeaseOver((over) => this.over(over)));
  }

  get agent(): string {
    return this.#serving.base.agent;
  }

  get worker(): string {
    return this.#serving.worker;
  }

  get active(): number {
    return this.#held.size;
  }

  get stopped(): Promise<void> {
    return this.#stopped.promise;
  }

  get isStopping(): boolean {
    return this.#stopping;
  }

  start(): void {
    this.#stayAlive();
    this.#fill();
  }

  /** A handler may wait for something that keeps no process alive; its worker does. */
  #stayAlive(): void {
    const { surroundings } = this.#serving.base;
    this.#letGo = surroundings.after(limits.stay_ms, () => this.#stayAlive(), true);
  }

  /** Run once, when it has stopped. */
  onStopped(ending: () => void): void {
    this.#endings.push(ending);
  }

  /** The relay says, by a push or in answer to a heartbeat, that a lease is over. */
  over(over: LeaseOver): void {
    this.#held.get(keyOf(over))?.end(leaseOver(over));
  }

  stop(options: StopOptions = {}): Promise<void> {
    const { grace = this.#settings.grace_ms } = options;
    const grace_ms = toMilliseconds(grace, "The option grace");
    if (this.#ended) return this.stopped;
    this.#endings.push(this.#serving.base.surroundings.after(grace_ms, () => this.#graceOver.resolve(), true));
    if (!this.#stopping) {
      this.#stopping = true;
      void this.#stopInOrder();
    }
    return this.stopped;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** As if the process had died: nothing is given back, and what handlers still return is ignored. */
  crash(): void {
    this.#stopping = true;
    this.#claims.abandon();
    for (const held of this.#held.values()) held.leave(new Error(`The worker ${this.worker} crashed.`));
    this.#end();
    this.#held.clear();
  }

  #fill(): void {
    if (!this.#stopping) this.#claims.ask(this.#settings.concurrency - this.#held.size - this.#claims.credit);
  }

  #receive(leases: readonly LeaseView[]): void {
    for (const lease of leases) {
      if (this.#stopping) void release(this.#serving, lease);
      else if (!this.#held.has(keyOf(lease))) void this.#run(lease);
    }
    this.#fill();
  }

  async #run(lease: LeaseView): Promise<void> {
    const { base, worker } = this.#serving;
    const held = new Held(base.surroundings, lease, worker);
    this.#held.set(keyOf(lease), held);
    await work(this.#serving, held).catch((error: unknown) => {
      base.warn({ reason: "worker_fault", message: `Handoff ${lease.id}: ${messageOf(error)}`, handoff: lease.id });
    });
    this.#held.delete(keyOf(lease));
    if (this.#held.size === 0) this.#idle?.resolve();
    // What ends in the same tick is claimed anew together.
    queueMicrotask(() => this.#fill());
  }

  async #stopInOrder(): Promise<void> {
    const { surroundings } = this.#serving.base;
    const given_back = this.#claims
      .takeBack()
      .then((leases) => Promise.all(leases.map((lease) => release(this.#serving, lease))));
    await Promise.race([this.#whenIdle(), this.#graceOver.promise]);
    for (const held of this.#held.values()) held.hurry(stopping(held.lease.id));
    const farewell = Promise.withResolvers<void>();
    const callOff = surroundings.after(limits.farewell_ms, () => farewell.resolve(), true);
    await Promise.race([this.#whenIdle(), farewell.promise]);
    callOff();
    await Promise.all([given_back, ...[...this.#held.values()].map((held) => this.#giveUp(held))]);
    this.#end();
  }

  #whenIdle(): Promise<void> {
    if (this.#held.size === 0) return Promise.resolve();
    this.#idle ??= Promise.withResolvers<void>();
    return this.#idle.promise;
  }

  async #giveUp(held: Held): Promise<void> {
    if (held.isOver) return;
    held.leave(stopping(held.lease.id));
    await release(this.#serving, held.lease);
  }

  #end(): void {
    this.#ended = true;
    this.#gone.abort(new Error(`The worker ${this.worker} is no more.`));
    this.#letGo();
    this.#serving.beats.close();
    for (const ending of this.#endings.splice(0)) ending();
    this.#stopped.resolve();
  }
}
