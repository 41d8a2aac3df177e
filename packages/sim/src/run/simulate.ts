/**
 * One seed, one world: real core, engine and SQLite; virtual time, network, actors. First under faults, then healed and
 * drained, then everything is compared. The first violation ends it.
 */

import { choose, type Duration, decide, findable, type Time } from "@handfast/core";
import type { Store } from "@handfast/engine";
import { openSqliteStore } from "@handfast/store-sqlite";
import { Api } from "../actors/api.ts";
import { Drafts } from "../actors/drafts.ts";
import { Said } from "../actors/said.ts";
import { Streams } from "../actors/streams.ts";
import type { World } from "../actors/world.ts";
import { Answers } from "../checks/answers.ts";
import { checkDrained } from "../checks/drained.ts";
import type { Invariant } from "../checks/invariants.ts";
import { Leases } from "../checks/leases.ts";
import { Ledger } from "../checks/ledger.ts";
import { checkNothingLeft } from "../checks/left-behind.ts";
import { ensure, ensureThere, takeLooks, Violation } from "../checks/violation.ts";
import { type CoreDoor, decideThrough, decisionsSeen } from "../core-door/observed-core.ts";
import { Coverage } from "../coverage/coverage.ts";
import { Decisions } from "../coverage/decisions.ts";
import type { Mistake } from "../mistakes/mistake.ts";
import { namespace } from "../namespace.ts";
import { Random } from "../random.ts";
import { type FaultName, type Faults, noFaults, type Weather, withoutFaults } from "../scenario/faults.ts";
import { drawScenario, type Scenario } from "../scenario/scenario.ts";
import { Directory } from "../world/directory.ts";
import { Network } from "../world/network.ts";
import { Partitions } from "../world/partitions.ts";
import { Relay } from "../world/relay.ts";
import { RelayTimes } from "../world/relay-times.ts";
import { Timeline } from "../world/timeline.ts";
import { Cast } from "./cast.ts";
import { Tally } from "./tally.ts";
import { Trace } from "./trace.ts";

export interface SimulationOptions {
  readonly seed: number;
  readonly handoffs: number;
  /** Faults that this seed's world is to be spared. */
  readonly without?: readonly FaultName[];
  readonly mistake?: Mistake | null;
  /** Keep a trace: to compare two runs, and to tell what led to a violation. */
  readonly trace?: boolean;
  readonly print?: (line: string) => void;
}

export interface SimulationResult {
  readonly seed: number;
  readonly weather: Weather;
  /** Of the trace; null where none was kept. */
  readonly digest: string | null;
  readonly handoffs: number;
  readonly virtual_ms: Duration;
  /** How long it took after healing until nothing was open. */
  readonly drained_ms: Duration;
  readonly tally: Tally;
  readonly coverage: Coverage;
  readonly looks: ReadonlyMap<Invariant, number>;
  readonly violation: Violation | null;
  /** The last lines of the trace about what was violated. */
  readonly tail: readonly string[];
}

const start_of_time: Time = 1_800_000_000_000;
const minute: Duration = 60_000;
/** Longest deadline, and again for what a dead letter was routed to, with time for everything between. */
const drain_ms: Duration = 30 * minute;
const longest_ms: Duration = 60 * minute;
const probes_each = 5;

export async function simulate(options: SimulationOptions): Promise<SimulationResult> {
  const simulation = new Simulation(options);
  await simulation.run();
  return simulation.result();
}

class Simulation {
  readonly #options: SimulationOptions;
  readonly #random: Random;
  readonly #scenario: Scenario;
  readonly #timeline = new Timeline(start_of_time);
  readonly #tally = new Tally();
  readonly #coverage = new Coverage();
  readonly #trace: Trace | null;
  readonly #note: ((about: string, text: string) => void) | null;
  readonly #times = new RelayTimes();
  readonly #said = new Said();
  readonly #directory: Directory;
  readonly #ledger: Ledger;
  readonly #decisions: Decisions;
  #faults: Faults;
  #disk_low_until: Time = 0;
  #healed = false;
  #drained_ms: Duration = 0;
  #violation: Violation | null = null;
  /** Once they are there. */
  #isAsking: (agent: string) => boolean = () => false;

  constructor(options: SimulationOptions) {
    this.#options = options;
    this.#random = new Random(options.seed);
    const drawn = drawScenario(this.#random.fork(), options.handoffs);
    this.#scenario = { ...drawn, faults: withoutFaults(drawn.faults, options.without ?? []) };
    this.#faults = this.#scenario.faults;
    const trace = options.trace === true ? new Trace(start_of_time, options.print ?? null) : null;
    this.#trace = trace;
    this.#note = trace === null ? null : (about, text) => trace.add(this.#timeline.now, about, text);
    this.#directory = new Directory(this.#random.fork(), start_of_time, this.#scenario.is_routed);
    this.#ledger = new Ledger({
      said: this.#said,
      directory: this.#directory,
      times: this.#times,
      scenario: this.#scenario,
      tally: this.#tally,
      note: this.#note,
      check: (act) => this.#check(act),
      isAsking: (agent) => this.#isAsking(agent),
    });
    this.#decisions = new Decisions({
      coverage: this.#coverage,
      times: this.#times,
      isDiskLow: () => this.#isDiskLow(),
      onBeat: (id, fence, now) => this.#ledger.beat(id, fence, now),
    });
  }

  async run(): Promise<void> {
    const unhandled = (error: unknown) => this.#report("no rejection goes unhandled", error);
    process.on("unhandledRejection", unhandled);
    takeLooks();
    const { mistake } = this.#options;
    const sqlite = await openSqliteStore({ memory: true });
    const disk = mistake?.disk?.(sqlite) ?? sqlite;
    decideThrough(this.#door());
    const seen = decisionsSeen();
    try {
      await this.#play(disk);
      if (decisionsSeen() === seen) throw new Error("core is not watched: import core-door/install.ts first");
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      this.#keep(error);
    } finally {
      decideThrough(null);
      process.off("unhandledRejection", unhandled);
      await sqlite.close();
    }
  }

  result(): SimulationResult {
    const violation = this.#violation;
    return {
      seed: this.#options.seed,
      weather: this.#scenario.weather,
      digest: this.#trace?.digest() ?? null,
      handoffs: this.#ledger.size,
      virtual_ms: this.#timeline.now - start_of_time,
      drained_ms: this.#drained_ms,
      tally: this.#tally,
      coverage: this.#coverage,
      looks: takeLooks(),
      violation,
      tail: violation === null || this.#trace === null ? [] : this.#trace.tail(violation.about),
    };
  }

  /** Core as the engine gets it: watched, and perhaps with a mistake put back. */
  #door(): CoreDoor {
    const core: CoreDoor = { decide, choose, findable };
    const door: CoreDoor = { ...core, ...this.#options.mistake?.core?.(core) };
    return {
      ...door,
      decide: (handoff, command, context, now) => {
        const decision = door.decide(handoff, command, context, now);
        this.#decisions.decided(handoff, command, decision, now);
        return decision;
      },
    };
  }

  async #play(disk: Store): Promise<void> {
    const relay = this.#relay(disk);
    const partitions = new Partitions(this.#timeline, this.#random.fork(), this.#tally);
    const { world, answers } = this.#world(relay, partitions, (from, id) => cast.watch(from, id));
    const cast = new Cast(world, (id, before, outcome) =>
      this.#check(() => {
        const once = before === undefined || before === outcome;
        ensure(once, "an outcome is applied once", id, () => `${before}, then ${outcome}`);
      }),
    );
    this.#isAsking = (agent) => {
      const engine = relay.process?.engine;
      return engine !== undefined && cast.someWorker(agent, (worker) => engine.isAsking(namespace, agent, worker));
    };
    void relay.start();
    await this.#underFaults(world, relay, partitions, cast);
    await this.#heal(relay, partitions, cast);
    await this.#drain(cast);
    if (this.#violation !== null) return;
    const times = this.#times;
    const { applied } = cast;
    await checkDrained({ disk, ledger: this.#ledger, answers, applied, times, scenario: this.#scenario });
    const engine = ensureThere(
      relay.process,
      "after healing submits are accepted",
      "relay",
      "it is not running",
    ).engine;
    // Idle workers go on asking: what one asks in this very moment is not left behind.
    await this.#until(() => engine.stats().pending_jobs === 0, 1_000);
    await checkNothingLeft({ disk, ledger: this.#ledger, directory: this.#directory, engine });
  }

  #relay(disk: Store): Relay {
    const { mistake } = this.#options;
    const ledger = this.#ledger;
    const { standings } = this.#directory;
    const { reserve_bytes } = this.#scenario.limits;
    return new Relay({
      disk,
      commit: (units) => ledger.commit(disk, units),
      prune: (now, before, limit) => ledger.prune(disk, now, before, limit),
      timeline: this.#timeline,
      random: this.#random.fork(),
      scenario: this.#scenario,
      faults: () => this.#faults,
      decisions: this.#decisions,
      tally: this.#tally,
      times: this.#times,
      isHealed: () => this.#healed,
      space: () => ({ free_bytes: this.#isDiskLow() ? reserve_bytes - 1 : 2 ** 40, used_bytes: 0 }),
      others: ({ accepted, excluded }, besides) =>
        this.#directory.others({ accepted, excluded: [...excluded, besides] }),
      standing: standings === null ? undefined : (_, agent, _capability, now) => standings.at(agent, now),
      note: this.#note === null ? null : (text) => this.#note?.("relay", text),
      onStart: (now) => ledger.relayStarted(now),
      onBug: this.#onBug,
      wrapStore: mistake?.store ?? ((store) => store),
      wrapFront: mistake?.front ?? ((front) => front),
    });
  }

  #world(relay: Relay, partitions: Partitions, watch: World["watch"]): { world: World; answers: Answers } {
    const timeline = this.#timeline;
    const scenario = this.#scenario;
    const directory = this.#directory;
    const ledger = this.#ledger;
    const tally = this.#tally;
    const coverage = this.#coverage;
    const times = this.#times;
    const note = this.#note;
    const faults = () => this.#faults;
    const check = (act: () => void) => this.#check(act);
    const isDiskLow = () => this.#isDiskLow();
    const onBug = this.#onBug;
    const streams = new Streams();
    const network = new Network({
      timeline,
      random: this.#random.fork(),
      scenario,
      faults,
      relay,
      partitions,
      times,
      coverage,
      tally,
      isDiskLow,
      onBug,
    });
    const now = () => relay.now;
    const answers = new Answers({ ledger, scenario, streams, now, note, check });
    const leases = new Leases(ledger, times, note, check);
    const drafts = new Drafts(this.#random.fork(), scenario, directory, now);
    const random = this.#random.fork();
    const world: World = {
      timeline,
      random,
      scenario,
      directory,
      drafts,
      api: new Api(network, answers, leases, this.#said, tally),
      streams,
      tally,
      coverage,
      faults,
      healed: () => this.#healed,
      watch,
      workTime: () => (this.#healed ? random.between(10, 200) : random.skewed(10, scenario.longest_work_ms)),
      anyHandoff: (by) => ledger.any(by, timeline.now),
    };
    return { world, answers };
  }

  async #underFaults(world: World, relay: Relay, partitions: Partitions, cast: Cast): Promise<void> {
    cast.enter();
    const haunting = cast.haunt(relay, partitions, () => {
      this.#tally.add("faults", "disk low");
      this.#disk_low_until = this.#timeline.now + world.random.skewed(1_000, 40_000);
    });
    const stop = cast.sendForever();
    await this.#until(() => this.#ledger.size >= this.#options.handoffs, longest_ms);
    stop();
    await this.#until(() => false, world.random.skewed(0, minute));
    haunting.end();
  }

  /** No more faults, and nobody is cut off; whatever was still hanging is given up, and new processes take over. */
  async #heal(relay: Relay, partitions: Partitions, cast: Cast): Promise<void> {
    this.#note?.("sim", "healed");
    this.#healed = true;
    this.#faults = noFaults;
    this.#disk_low_until = 0;
    partitions.heal();
    for (const agent of this.#directory.agents) agent.least_grade = 0;
    this.#directory.standings?.heal(relay.now);
    await this.#until(() => relay.isWell, 3 * minute);
    if (this.#scenario.weather !== "clear") cast.replaceAll();
  }

  /** What is sent now must be completed soon; what was open must end. */
  async #drain(cast: Cast): Promise<void> {
    const healed_at = this.#timeline.now;
    // A sender whose open handoffs leave no room in its quota is refused by right, until some of them have ended.
    await this.#until(() => this.#directory.senders.every((sender) => this.#hasRoom(sender)), drain_ms);
    const probes = cast.probe(probes_each);
    const expected = probes_each * this.#directory.senders.length;
    const isDone = (id: string) => this.#ledger.histories.get(id)?.hasEnded === true;
    await this.#until(() => probes.length === expected && probes.every(isDone), minute);
    this.#check(() => this.#probesDone(probes, expected));
    const drained = await this.#until(() => this.#ledger.open === 0, drain_ms);
    this.#drained_ms = this.#timeline.now - healed_at;
    await this.#until(() => this.#ledger.untaken === 0, 3 * minute);
    // What nobody waits for any more still has its timers: retention, and the end of waits.
    await this.#until(() => false, 5_000);
    const open = [...this.#ledger.histories.values()].find((history) => !history.hasEnded);
    const about = open?.accepted.id ?? "sim";
    this.#check(() => ensure(drained && open === undefined, "everything accepted ends", about, () => `${open?.state}`));
  }

  #hasRoom(sender: string): boolean {
    return this.#ledger.openOf(sender) + probes_each <= this.#scenario.coreLimits.max_open_per_sender;
  }

  #probesDone(probes: readonly string[], expected: number): void {
    const { length } = probes;
    ensure(length === expected, "after healing submits are accepted", "sim", () => `${length} of ${expected}`);
    for (const id of probes) {
      const history = this.#ledger.histories.get(id);
      const done = history?.accepted.ordering_key !== null || history.state === "completed";
      ensure(done, "after healing work is done promptly", id, () => `${history?.state} after a minute`);
    }
  }

  async #until(isOver: () => boolean, at_most_ms: Duration): Promise<boolean> {
    return this.#timeline.run(() => this.#violation !== null || isOver(), this.#timeline.now + at_most_ms);
  }

  #isDiskLow(): boolean {
    return this.#timeline.now < this.#disk_low_until;
  }

  #check(act: () => void): void {
    try {
      act();
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      this.#keep(error);
    }
  }

  readonly #onBug = (error: unknown) => this.#report("the engine makes no mistake", error);

  #report(invariant: Invariant, error: unknown): void {
    const message = error instanceof Error ? `${error.stack}` : String(error);
    this.#keep(new Violation(invariant, "relay", message));
  }

  #keep(violation: Violation): void {
    if (this.#violation !== null) return;
    this.#violation = violation;
    this.#note?.(violation.about, `VIOLATION ${violation.message}`);
  }
}
