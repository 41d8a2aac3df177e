/**
 * One seed, one world: real core, engine and SQLite; virtual time, network, actors. First under faults, then healed and
 * drained, then everything is compared. The first violation ends it.
 */

import { coreLimits, type Duration, type Time } from "@handfast/core";
import type { Store } from "@handfast/engine";
import { openSqliteStore } from "@handfast/store-sqlite";
import { Answers } from "./answers.ts";
import { Api } from "./api.ts";
import { Directory } from "./directory.ts";
import { Drafts } from "./drafts.ts";
import { checkDrained } from "./drained.ts";
import { drawFaults, type Faults, noFaults } from "./faults.ts";
import { Ledger } from "./ledger.ts";
import { Network } from "./network.ts";
import { Random } from "./random.ts";
import { type Front, Relay } from "./relay.ts";
import { RelayTimes } from "./relay-times.ts";
import { Said } from "./said.ts";
import { Applied, Sender } from "./sender.ts";
import { Tally } from "./tally.ts";
import { Timeline } from "./timeline.ts";
import { Trace } from "./trace.ts";
import { Violation } from "./violation.ts";
import { Worker } from "./worker.ts";
import type { World } from "./world.ts";

/** Known mistakes, put back to see whether the simulation finds them. */
export interface Mistake {
  /** The disk itself, below the ledger. */
  readonly disk?: (disk: Store) => Store;
  /** What a relay process believes to be the disk, above the ledger. */
  readonly store?: (store: Store, timeline: Timeline) => Store;
  /** What actors believe to be the engine. */
  readonly front?: (front: Front) => Front;
}

export interface SimulationOptions {
  readonly seed: number;
  readonly handoffs: number;
  readonly print?: (line: string) => void;
  readonly mistake?: Mistake;
}

export interface SimulationResult {
  readonly seed: number;
  readonly digest: string;
  readonly handoffs: number;
  readonly virtual_ms: Duration;
  readonly tally: Tally;
  readonly violation: Violation | null;
  /** The last lines of the trace about what was violated. */
  readonly tail: readonly string[];
}

const start_of_time: Time = 1_800_000_000_000;
const minute = 60_000;
/** Longest deadline, and again for what a dead letter was routed to, with time for everything between. */
const drain_ms = 30 * minute;
const probe_ms = 60_000;

export async function simulate(options: SimulationOptions): Promise<SimulationResult> {
  const simulation = new Simulation(options);
  await simulation.run();
  return simulation.result();
}

class Simulation {
  readonly #options: SimulationOptions;
  readonly #random: Random;
  readonly #timeline = new Timeline(start_of_time);
  readonly #tally = new Tally();
  readonly #trace: Trace;
  readonly #times = new RelayTimes();
  readonly #said = new Said();
  readonly #directory: Directory;
  readonly #ledger: Ledger;
  readonly #drafts: Drafts;
  readonly #senders = new Map<string, Sender>();
  readonly #applied = new Map<string, Applied>();
  readonly #workers = new Map<string, Worker>();
  #faults: Faults;
  #healed = false;
  #lives = 0;
  #violation: Violation | null = null;

  constructor(options: SimulationOptions) {
    this.#options = options;
    this.#random = new Random(options.seed);
    this.#faults = drawFaults(this.#random.fork());
    this.#trace = new Trace(start_of_time, options.print ?? null);
    this.#directory = new Directory(this.#random.fork(), start_of_time);
    this.#drafts = new Drafts(this.#random.fork(), this.#directory, () => this.#timeline.now);
    this.#ledger = new Ledger({
      said: this.#said,
      directory: this.#directory,
      times: this.#times,
      tally: this.#tally,
      note: (about, text) => this.#note(about, text),
      check: (act) => this.#check(act),
    });
  }

  async run(): Promise<void> {
    const unhandled = (error: unknown) => this.#report("no rejection goes unhandled", error);
    process.on("unhandledRejection", unhandled);
    const { mistake } = this.#options;
    const sqlite = await openSqliteStore({ memory: true });
    const disk = mistake?.disk?.(sqlite) ?? sqlite;
    try {
      await this.#play(disk);
    } catch (error) {
      this.#keep(
        error instanceof Violation ? error : new Violation("the simulation itself is sound", "sim", `${error}`),
      );
    } finally {
      process.off("unhandledRejection", unhandled);
      await sqlite.close();
    }
  }

  result(): SimulationResult {
    const violation = this.#violation;
    return {
      seed: this.#options.seed,
      digest: this.#trace.digest(),
      handoffs: this.#ledger.size,
      virtual_ms: this.#timeline.now - start_of_time,
      tally: this.#tally,
      violation,
      tail: violation === null ? [] : this.#trace.tail(violation.about),
    };
  }

  async #play(disk: Store): Promise<void> {
    const { mistake } = this.#options;
    const timeline = this.#timeline;
    const tally = this.#tally;
    const faults = () => this.#faults;
    const onBug = (error: unknown) => this.#report("the engine makes no mistake", error);
    const relay = new Relay({
      timeline,
      random: this.#random.fork(),
      faults,
      tally,
      times: this.#times,
      others: ({ accepted, excluded }, besides) =>
        this.#directory.others({ accepted, excluded: [...excluded, besides] }),
      limits: { cached_handoffs: 50, due_per_sweep: 16, children_per_sweep: 2, batch_jobs: 32 },
      coreLimits: { max_hops: 3, keep_taken_ms: this.#random.chance(0.5) ? minute : coreLimits.keep_taken_ms },
      note: (text) => this.#note("relay", text),
      onStart: (now) => this.#ledger.relayStarted(now),
      onBug,
      disk: this.#ledger.watch(disk),
      wrapStore: mistake?.store ?? ((store) => store),
      wrapFront: mistake?.front ?? ((front) => front),
    });
    const network = new Network({ timeline, random: this.#random.fork(), faults, relay, tally, onBug });
    const answers = new Answers(
      this.#ledger,
      disk,
      (about, text) => this.#note(about, text),
      (act) => this.#check(act),
    );
    const random = this.#random.fork();
    const world: World = {
      timeline,
      random,
      directory: this.#directory,
      drafts: this.#drafts,
      api: new Api(network, answers, this.#said, tally),
      tally,
      faults,
      healed: () => this.#healed,
      watch: (from, id) => this.#senders.get(from)?.watch(id),
      workTime: () => (this.#healed ? random.between(10, 200) : random.skewed(10, 4_000)),
    };
    void relay.start();
    await this.#underFaults(world, relay);
    this.#heal(world, relay);
    await this.#drain();
    if (this.#violation !== null) return;
    await checkDrained({ disk, ledger: this.#ledger, answers, applied: this.#applied, times: this.#times });
  }

  async #underFaults(world: World, relay: Relay): Promise<void> {
    const { senders, agents } = this.#directory;
    for (const name of [...senders, ...agents.map((agent) => agent.name)]) this.#startSender(world, name);
    for (const agent of agents) {
      for (let nth = 1; nth <= agent.workers; nth += 1) this.#startWorker(world, agent.name, `${agent.name}-${nth}`);
    }
    this.#haunt(relay, world);
    await this.#until(() => this.#ledger.size >= this.#options.handoffs, this.#sendForever(world), 60 * minute);
    const rest_ms = world.random.between(0, 60_000);
    await this.#until(() => false, null, rest_ms);
  }

  /** Senders hand off until enough was accepted. */
  #sendForever(world: World): () => void {
    const { random, timeline } = world;
    // Few handoffs may be far apart: in a busy world the next timer hides that an earlier one was missed.
    const paces_ms = [100, 300, 1_000, 5_000, 20_000];
    const pace_ms = random.pick(paces_ms.filter((pace) => pace * this.#options.handoffs <= 20 * minute));
    let over = false;
    const next = () => {
      if (over) return;
      const sender = this.#senders.get(random.pick(this.#directory.senders));
      const count = random.chance(0.8) ? 1 : random.between(2, 8);
      void sender?.send(count, false);
      timeline.schedule(random.skewed(0, 4 * pace_ms * count), next);
    };
    next();
    return () => {
      over = true;
    };
  }

  #startSender(world: World, name: string): void {
    const applied = this.#applied.get(name) ?? new Applied();
    this.#applied.set(name, applied);
    const sender = new Sender(world, name, applied, (id, first, second) =>
      this.#keep(new Violation("an outcome is applied once", id, `${first}, then ${second}`)),
    );
    this.#senders.set(name, sender);
    void sender.collectForever();
  }

  #startWorker(world: World, agent: string, name: string): void {
    this.#lives += 1;
    const worker = new Worker(world, this.#directory.agent(agent), name, `life-${this.#lives}`, () => {
      // Back as the same worker, or as a new one that knows nothing of the old one's leases.
      const next = world.random.chance(0.5) ? name : `${agent}-${this.#lives}x`;
      this.#workers.delete(name);
      world.timeline.schedule(world.random.skewed(100, 20_000), () => this.#startWorker(world, agent, next));
    });
    this.#workers.set(name, worker);
    void worker.run();
  }

  /** Faults that come by themselves, each on its own beat. */
  #haunt(relay: Relay, world: World): void {
    const { random, timeline } = world;
    const often = (every_ms: (faults: Faults) => Duration | null, act: () => void) => {
      const next = () => {
        const mean_ms = every_ms(this.#faults);
        if (mean_ms === null || this.#healed) return;
        timeline.schedule(random.skewed(0, 4 * mean_ms), () => {
          if (this.#healed) return;
          act();
          next();
        });
      };
      next();
    };
    often(
      (faults) => faults.relay_crash_every_ms,
      () => relay.crash(),
    );
    often(
      (faults) => faults.relay_stall_every_ms,
      () => relay.stall(),
    );
    often(
      (faults) => faults.clock_jump_every_ms,
      () => relay.jump(),
    );
    often(
      (faults) => faults.manifest_change_every_ms,
      () => this.#directory.changeManifest(random, relay.process?.engine.now() ?? timeline.now),
    );
    often(
      (faults) => faults.sender_crash_every_ms,
      () => {
        const name = random.pick(this.#directory.senders);
        this.#senders.get(name)?.crash();
        this.#tally.add("faults", "sender crash");
        this.#startSender(world, name);
      },
    );
  }

  #heal(world: World, relay: Relay): void {
    this.#note("sim", "healed");
    this.#healed = true;
    this.#faults = noFaults;
    for (const agent of this.#directory.agents) agent.least_grade = 0;
    // Whatever was still hanging is given up; new processes take over.
    for (const worker of [...this.#workers.values()]) worker.crash();
    if (relay.process === null) return;
    for (const name of this.#directory.senders) {
      this.#senders.get(name)?.crash();
      this.#startSender(world, name);
    }
  }

  /** What is sent now must be completed soon; what was open must end. */
  async #drain(): Promise<void> {
    await this.#until(() => false, null, 60_000);
    const probes: string[] = [];
    for (const name of this.#directory.senders) {
      void this.#senders
        .get(name)
        ?.send(5, true)
        .then((ids) => probes.push(...ids));
    }
    await this.#until(() => false, null, probe_ms);
    this.#check(() => {
      for (const id of probes) {
        const history = this.#ledger.histories.get(id);
        const behind = history?.accepted.ordering_key !== null;
        if (behind || history?.state === "completed") continue;
        throw new Violation("after healing work is done promptly", id, `${history?.state} after a minute`);
      }
    });
    this.#check(() => {
      const expected = 5 * this.#directory.senders.length;
      if (probes.length < expected) {
        throw new Violation("after healing submits are accepted", "sim", `${probes.length} of ${expected}`);
      }
    });
    const drained = await this.#until(() => this.#ledger.open === 0, null, drain_ms);
    await this.#until(() => false, null, 2 * minute);
    if (this.#violation !== null || (drained && this.#ledger.open === 0)) return;
    const open = [...this.#ledger.histories.values()].find((history) => !history.hasEnded);
    this.#keep(new Violation("everything accepted ends", open?.accepted.id ?? "sim", `still ${open?.state}`));
  }

  async #until(isOver: () => boolean, stop: (() => void) | null, at_most_ms: Duration): Promise<boolean> {
    const latest = this.#timeline.now + at_most_ms;
    const reached = await this.#timeline.run(() => this.#violation !== null || isOver(), latest);
    stop?.();
    return reached;
  }

  #note(about: string, text: string): void {
    this.#trace.add(this.#timeline.now, about, text);
  }

  #check(act: () => void): void {
    try {
      act();
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      this.#keep(error);
    }
  }

  #report(invariant: string, error: unknown): void {
    const message = error instanceof Error ? `${error.stack}` : String(error);
    this.#keep(new Violation(invariant, "relay", message));
  }

  #keep(violation: Violation): void {
    if (this.#violation !== null) return;
    this.#violation = violation;
    this.#note(violation.about, `VIOLATION ${violation.message}`);
  }
}
