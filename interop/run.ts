/** The whole suite: one relay, every sender with every worker. */

import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, connect } from "@handfast/client";
import { goesWithUs } from "../tests/support/end-at-once.ts";
import { RelayProcess } from "../tests/support/relay-process.ts";
import type { Prepared, Row, SenderSeat, Stage, WorkerSeat } from "./cast/row.ts";
import { type Cell, firstLine, type Matrix } from "./matrix.ts";
import { Holds } from "./scenarios/holds.ts";
import { killSender, killWorker, type Verdicts } from "./scenarios/killed.ts";
import { Operator } from "./scenarios/operator.ts";
import { cancel, deadline, type Pair, plain, progress, question, scatter, signatures } from "./scenarios/pair.ts";
import type { Scenario } from "./scenarios/scenario.ts";

/** Frameworks on two cores take their time, and an agent of OpenClaw a turn of its model. */
const begin_within_ms = 90_000;

export interface Player {
  readonly row: Row;
  readonly prepared: Prepared;
}

export interface Settings {
  readonly senders: readonly Player[];
  readonly workers: readonly Player[];
  readonly scenarios: readonly Scenario[];
  readonly say: (line: string) => void;
}

const while_alive = { plain, scatter, progress, question, cancel, deadline, signatures };

export async function runSuite(settings: Settings, matrix: Matrix): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "handfast-interop-"));
  const keep = goesWithUs(folder);
  const relay = await RelayProcess.start([], join(folder, "relay"));
  try {
    const token = readFileSync(join(relay.directory, "operator-token"), "utf8").trim();
    await using operator = await connect({ url: relay.url, agent: "operator", token, transport: "http" });
    const suite = new Suite(settings, matrix, { url: relay.url, folder }, operator);
    try {
      await suite.run();
    } finally {
      await suite.end();
    }
  } finally {
    await relay.dispose();
    keep();
    rmSync(folder, { recursive: true, force: true });
  }
}

class Suite {
  readonly #settings: Settings;
  readonly #matrix: Matrix;
  readonly #place: { readonly url: string; readonly folder: string };
  readonly #holds: Holds;
  readonly #operator: Operator;
  readonly #senders = new Map<string, SenderSeat>();
  readonly #workers = new Map<string, WorkerSeat>();
  readonly #down = new Map<string, string>();

  constructor(settings: Settings, matrix: Matrix, place: { url: string; folder: string }, operator: Client) {
    this.#settings = settings;
    this.#matrix = matrix;
    this.#place = place;
    const holds = join(place.folder, "holds");
    mkdirSync(holds, { recursive: true });
    this.#holds = new Holds(holds, begin_within_ms);
    this.#operator = new Operator(operator);
  }

  async run(): Promise<void> {
    const { senders, workers, say } = this.#settings;
    for (const player of workers) {
      say(`starting the worker of ${player.row.title}`);
      await this.#orDown("worker", player, () => this.#openWorker(player));
    }
    for (const player of senders) {
      say(`starting the sender of ${player.row.title}`);
      await this.#orDown("sender", player, () => this.#openSender(player));
      for (const worker of workers) await this.#whileBothLive(player, worker);
    }
    for (const player of senders) await this.#orDown("sender", player, () => this.#killSender(player));
    for (const player of workers) await this.#orDown("worker", player, () => this.#killWorker(player));
  }

  /** One that does not start, or ends when it should not, fails what it takes part in; the others go on. */
  async #orDown(part: "sender" | "worker", { row }: Player, act: () => Promise<unknown>): Promise<void> {
    try {
      await act();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#settings.say(`the ${part} of ${row.title} is down: ${firstLine(why)}`);
      this.#down.set(`${part} ${row.name}`, why);
      for (const cell of this.#left(part, row.name)) this.#matrix.put({ ...cell, result: { is: "failed", why } });
    }
  }

  /** What it was to take part in and has not. */
  #left(part: "sender" | "worker", name: string): readonly Omit<Cell, "result">[] {
    const { senders, workers, scenarios } = this.#settings;
    const pairs = senders.flatMap((sender) =>
      workers.map((worker) => ({ sender: sender.row.name, worker: worker.row.name })),
    );
    return pairs
      .filter((pair) => pair[part] === name)
      .flatMap((pair) => {
        const tried = this.#matrix.of(pair.sender, pair.worker).map(({ scenario }) => scenario);
        return scenarios.filter((scenario) => !tried.includes(scenario)).map((scenario) => ({ ...pair, scenario }));
      });
  }

  /** One that does not stop when it is told to has failed, whatever it did before. */
  async end(): Promise<void> {
    const senders = [...this.#senders].map(([name, seat]) => this.#stop(`the sender of ${name}`, seat));
    const workers = [...this.#workers].map(([name, seat]) => this.#stop(`the worker of ${name}`, seat));
    await Promise.all([...senders, ...workers]);
  }

  async #stop(who: string, seat: SenderSeat | WorkerSeat): Promise<void> {
    try {
      await seat.stop();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#settings.say(`${who} did not stop in order: ${firstLine(why)}`);
      this.#matrix.fault({ where: `${who}, at the end`, why });
    }
  }

  async #whileBothLive(sender: Player, worker: Player): Promise<void> {
    for (const [name, run] of Object.entries(while_alive)) {
      const scenario = name as keyof typeof while_alive;
      if (this.#isOut(sender, worker, scenario)) continue;
      const pair = this.#pair(sender, worker, capabilityOf(worker.row));
      await this.#matrix.try(place(sender, worker, scenario), () => run(pair));
    }
  }

  async #killSender(sender: Player): Promise<void> {
    const scenario = "sender_killed";
    const workers = this.#settings.workers.filter((worker) => !this.#isOut(sender, worker, scenario));
    if (workers.length === 0) return;
    this.#settings.say(`killing the sender of ${sender.row.title}`);
    const began = performance.now();
    const pairs = new Map(
      workers.map((worker) => [worker.row.name, this.#pair(sender, worker, capabilityOf(worker.row))]),
    );
    const verdicts = await killSender(pairs, async () => {
      await this.#senders.get(sender.row.name)?.kill();
      return this.#openSender(sender);
    });
    for (const worker of workers) await this.#judge(place(sender, worker, scenario), verdicts, worker.row.name, began);
  }

  async #killWorker(worker: Player): Promise<void> {
    const scenario = "worker_killed";
    const senders = this.#settings.senders.filter((sender) => !this.#isOut(sender, worker, scenario));
    const standIn = this.#standInFor(worker);
    if (standIn === null) {
      const why = "no second framework takes part in this run";
      for (const sender of senders)
        this.#matrix.put({ ...place(sender, worker, scenario), result: { is: "gap", why } });
      return;
    }
    for (let from = 0; from < senders.length; from += worker.row.slots) {
      const some = senders.slice(from, from + worker.row.slots);
      this.#settings.say(`killing the worker of ${worker.row.title}; ${standIn.row.title} stands in`);
      const began = performance.now();
      // Of its own each time: whoever stands in goes on offering it.
      const capability = `race-${worker.row.name}-${from}`;
      await this.#workers.get(worker.row.name)?.serve(`${worker.row.name}-racer-${from}`, capability);
      const pairs = new Map(some.map((sender) => [sender.row.name, this.#pair(sender, worker, capability)]));
      const verdicts = await killWorker(pairs, async () => this.#workers.get(worker.row.name)?.kill(), {
        name: standIn.row.name,
        serve: async () =>
          this.#workers.get(standIn.row.name)?.serve(`${standIn.row.name}-for-${worker.row.name}-${from}`, capability),
      });
      for (const sender of some) await this.#judge(place(sender, worker, scenario), verdicts, sender.row.name, began);
      await this.#openWorker(worker);
    }
  }

  /** The next one of another framework that can finish what was begun elsewhere. */
  #standInFor(worker: Player): Player | null {
    const { workers } = this.#settings;
    const at = workers.indexOf(worker);
    const others = [...workers.slice(at + 1), ...workers.slice(0, at)];
    const isFit = ({ row }: Player) =>
      row.worker_gaps.worker_killed === undefined && !this.#down.has(`worker ${row.name}`);
    return others.find(isFit) ?? null;
  }

  /** `began`: when the first of them did, for all wait together. */
  async #judge(cell: Omit<Cell, "result">, verdicts: Verdicts, name: string, began: number): Promise<void> {
    const verdict = verdicts.get(name);
    if (verdict !== undefined) await this.#matrix.try(cell, verdict, began);
  }

  /** A scenario that was not asked for, or a gap of either, which is written down. */
  #isOut(sender: Player, worker: Player, scenario: Scenario): boolean {
    if (!this.#settings.scenarios.includes(scenario)) return true;
    // Its cells are failed already.
    if (this.#down.has(`sender ${sender.row.name}`) || this.#down.has(`worker ${worker.row.name}`)) return true;
    const why = sender.row.sender_gaps[scenario] ?? worker.row.worker_gaps[scenario];
    if (why === undefined) return false;
    this.#matrix.put({ ...place(sender, worker, scenario), result: { is: "gap", why } });
    return true;
  }

  #pair(sender: Player, worker: Player, capability: string): Pair {
    const seat = this.#senders.get(sender.row.name);
    if (seat === undefined) throw new Error(`${sender.row.title} did not start`);
    const signed = { sender: sender.row.signs, worker: worker.row.signs };
    const { name, begins_within_ms: missed_after_ms } = worker.row;
    return {
      sender: seat,
      worker: name,
      capability,
      holds: this.#holds,
      operator: this.#operator,
      missed_after_ms,
      signed,
    };
  }

  async #openSender({ row, prepared }: Player): Promise<SenderSeat> {
    const seat = await prepared.openSender(this.#stage("sender", row));
    this.#senders.set(row.name, seat);
    return seat;
  }

  async #openWorker({ row, prepared }: Player): Promise<void> {
    const seat = await prepared.openWorker(this.#stage("worker", row));
    this.#workers.set(row.name, seat);
    await seat.serve(`${row.name}-worker`, capabilityOf(row));
  }

  #stage(part: "sender" | "worker", { name }: Row): Stage {
    const folder = join(this.#place.folder, `${name}-${part}`);
    mkdirSync(folder, { recursive: true });
    return { url: this.#place.url, folder, agent: `${name}-${part}` };
  }
}

function capabilityOf({ name }: Row): string {
  return `task-${name}`;
}

function place(sender: Player, worker: Player, scenario: Scenario): Omit<Cell, "result"> {
  return { sender: sender.row.name, worker: worker.row.name, scenario };
}
