/**
 * The nodes of a relay on one database: each says now and then that it is there and what is under way at it, and hears whether it
 * should drain. States of a node: running → draining (it was asked to: nothing new is taken, what waits is answered, connections
 * are sent elsewhere) → drained (nothing is under way any more), and back to running when that is taken back. It is asked of one
 * life: a node that is started again takes work again.
 *
 * Whoever may ask asks any node; the database carries it to the one that is meant.
 */

import type { Time } from "@handfast/core";
import type { KnownNode, NodeSign, SharedNodes, Surroundings } from "@handfast/engine";
import type { NodeView } from "@handfast/protocol/wire";
import type { Logger } from "pino";
import type { RelayLimits } from "../limits.ts";
import { version } from "../operations/version.ts";
import { gone, notAmongSeveral, unknownNode } from "./problems.ts";

export interface NodesOptions {
  /** Null: the relay is alone with its store. */
  readonly shared: SharedNodes | null;
  readonly name: string | null;
  readonly now: () => Time;
  readonly schedule: Surroundings["schedule"];
  readonly limits: Pick<RelayLimits, "node_signs_every_ms" | "node_gone_ms">;
  readonly log: Logger;
}

type Work = Pick<NodeSign, "connections" | "calls" | "claims">;

/** What takes new work, and can be told not to. */
interface Takes {
  drain(): void;
  resume(): void;
}

interface NodePage {
  readonly nodes: readonly NodeView[];
  readonly answered_by: string;
}

export class Nodes {
  readonly #options: NodesOptions;
  #since: Time = 0;
  #isDraining = false;
  #work: () => Work = () => ({ connections: 0, calls: 0, claims: 0 });
  #takes: readonly Takes[] = [];
  #cancel: () => void = () => {};
  #isStopped = false;
  /** Told once, until it is well again. */
  #isFailing = false;
  /** One after the other: what was heard last holds. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: NodesOptions) {
    this.#options = options;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** From now on the others know of it. */
  async start(work: () => Work, takes: readonly Takes[]): Promise<void> {
    this.#work = work;
    this.#takes = takes;
    this.#since = this.#options.now();
    if (this.#options.shared === null) return;
    await this.#sign();
    this.#later();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    await this.#last.catch(() => {});
    const { shared, log } = this.#options;
    await shared?.sign(this.#said(true)).catch((error: unknown) => {
      log.warn({ err: error }, "the other nodes could not be told that this one ends; they will notice");
    });
  }

  async list(): Promise<NodePage> {
    const { shared } = this.#options;
    if (shared === null) return { nodes: [this.#alone()], answered_by: this.#ownLife };
    const { nodes, read_at } = await shared.all();
    return { nodes: nodes.map((node) => this.#view(node, read_at)), answered_by: shared.life };
  }

  /** Asks the living nodes of this name to take no new work, or to take it again. Answers how they are. */
  async ask(name: string, drain: boolean): Promise<NodePage> {
    const { shared } = this.#options;
    if (shared === null) throw notAmongSeveral();
    const before = (await this.list()).nodes;
    const called = before.filter((node) => node.name === name);
    if (called.length === 0) throw unknownNode(name, before.filter(isAlive));
    const lives = new Set(called.filter(isAlive).map(({ life }) => life));
    if (lives.size === 0) throw gone(called, this.#options.now());
    await shared.ask([...lives], drain);
    if (lives.has(shared.life)) await this.#sign();
    const { nodes, answered_by } = await this.list();
    return { nodes: nodes.filter(({ life }) => lives.has(life)), answered_by };
  }

  #later(): void {
    if (this.#isStopped) return;
    const { schedule, limits, log } = this.#options;
    this.#cancel = schedule(limits.node_signs_every_ms, () => {
      this.#sign()
        .then(
          () => {
            this.#isFailing = false;
          },
          (error: unknown) => {
            if (!this.#isFailing) log.warn({ err: error }, "the other nodes could not be told that this one is there");
            this.#isFailing = true;
          },
        )
        .finally(() => this.#later());
    });
  }

  #sign(): Promise<void> {
    const mine = this.#last.catch(() => {}).then(() => this.#signNow());
    this.#last = mine;
    return mine;
  }

  async #signNow(): Promise<void> {
    const { shared } = this.#options;
    if (shared === null) return;
    const should_drain = await shared.sign(this.#said(false));
    if (should_drain === this.#isDraining || this.#isStopped) return;
    this.#turn(should_drain);
    // Whoever asked waits to hear that it does.
    await shared.sign(this.#said(false));
  }

  #turn(should_drain: boolean): void {
    this.#isDraining = should_drain;
    for (const each of this.#takes) should_drain ? each.drain() : each.resume();
    const { log } = this.#options;
    log.info(should_drain ? "draining: no new work is taken; leases are kept" : "new work is taken again");
  }

  #said(ended: boolean): NodeSign {
    const { name } = this.#options;
    return { name: name ?? "", version, since: this.#since, draining: this.#isDraining, ended, ...this.#work() };
  }

  #alone(): NodeView {
    const { name, now } = this.#options;
    const life = this.#ownLife;
    return { name, life, version, since: this.#since, heard_at: now(), state: "running", ...this.#work() };
  }

  get #ownLife(): string {
    return String(this.#since);
  }

  #view({ asked, draining, ended, ...node }: KnownNode, read_at: Time): NodeView {
    const is_idle = node.connections + node.calls + node.claims === 0;
    const is_silent = read_at - node.heard_at > this.#options.limits.node_gone_ms;
    const drain = asked && draining && is_idle ? "drained" : asked || draining ? "draining" : "running";
    return { ...node, state: ended ? "ended" : is_silent ? "gone" : drain };
  }
}

function isAlive({ state }: NodeView): boolean {
  return state !== "ended" && state !== "gone";
}
