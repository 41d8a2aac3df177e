/** Everyone who acts in a simulation: who enters, who crashes, and who takes over. */

import { Desk } from "../actors/desk.ts";
import { LogReader, logReader } from "../actors/log-reader.ts";
import { Operator, operator } from "../actors/operator.ts";
import { Applied, type OnApplied, Sender } from "../actors/sender.ts";
import { Stranger, stranger } from "../actors/stranger.ts";
import { Worker } from "../actors/worker.ts";
import type { World } from "../actors/world.ts";
import { Haunting } from "../world/haunting.ts";
import type { Partitions } from "../world/partitions.ts";
import type { Relay } from "../world/relay.ts";

/** Handoffs of one sender that the relay has not answered yet. */
const most_unanswered = 60;

export class Cast {
  readonly #world: World;
  readonly #onApplied: OnApplied;
  readonly #senders = new Map<string, Sender>();
  readonly #workers = new Map<string, Worker>();
  readonly #desks = new Map<string, Desk>();
  /** What each sender durably did with outcomes. */
  readonly applied = new Map<string, Applied>();
  #lives = 0;

  constructor(world: World, onApplied: OnApplied) {
    this.#world = world;
    this.#onApplied = onApplied;
  }

  enter(): void {
    const { directory, scenario } = this.#world;
    for (const name of this.#sendingNames) this.#startSender(name);
    for (const agent of directory.agents) {
      for (let nth = 1; nth <= agent.workers; nth += 1) this.#startWorker(agent.name, `${agent.name}-${nth}`);
    }
    for (const name of directory.desks) this.#startDesk(name);
    void new Stranger(this.#world).run();
    void new Operator(this.#world).run();
    if (scenario.reads_log) void new LogReader(this.#world).run();
  }

  /** Whether a worker of this agent is as `ask` says. */
  someWorker(agent: string, ask: (worker: string) => boolean): boolean {
    for (const [name, worker] of this.#workers) if (worker.agent.name === agent && ask(name)) return true;
    return false;
  }

  /** Someone must look after what this agent sent. */
  watch(from: string, id: string): void {
    this.#senders.get(from)?.watch(id);
  }

  /** Senders hand off until told to stop. */
  sendForever(): () => void {
    const { random, timeline, scenario, directory } = this.#world;
    let over = false;
    const next = () => {
      if (over) return;
      const sender = this.#senders.get(random.pick(directory.senders));
      const count = random.chance(0.8) ? 1 : random.between(2, 8);
      // While the relay is away they pile up, but not without end.
      const ready = sender !== undefined && !sender.isResting && sender.unanswered < most_unanswered;
      if (ready) void sender.send(count, false);
      if (random.chance(0.05)) void sender?.repeat();
      timeline.schedule(random.skewed(0, 4 * scenario.pace_ms * count), next);
    };
    next();
    return () => {
      over = true;
    };
  }

  haunt(relay: Relay, partitions: Partitions, runDiskLow: () => void): Haunting {
    const { random, timeline, faults, directory, tally } = this.#world;
    const haunting = new Haunting(timeline, random.fork(), faults());
    haunting.often(
      ({ relay_crash_every_ms }) => relay_crash_every_ms,
      () => relay.crash(),
    );
    haunting.often(
      ({ relay_restart_every_ms }) => relay_restart_every_ms,
      () => void relay.restart(),
    );
    haunting.often(
      ({ relay_stall_every_ms }) => relay_stall_every_ms,
      () => relay.stall(),
    );
    haunting.often(
      ({ clock_jump_every_ms }) => clock_jump_every_ms,
      () => relay.jump(),
    );
    haunting.often(({ disk_low_every_ms }) => disk_low_every_ms, runDiskLow);
    haunting.often(
      ({ partition_every_ms }) => partition_every_ms,
      () => partitions.split(this.#networkNames),
    );
    haunting.often(
      ({ manifest_change_every_ms }) => manifest_change_every_ms,
      () => directory.changeManifest(random, relay.now),
    );
    haunting.often(
      ({ sender_crash_every_ms }) => sender_crash_every_ms,
      () => {
        tally.add("faults", "sender crash");
        this.#restartOne(random.pick([...this.#sendingNames, ...directory.desks]));
      },
    );
    return haunting;
  }

  #restartOne(name: string): void {
    const desk = this.#desks.get(name);
    if (desk === undefined) return this.#startSender(name);
    desk.crash();
    this.#startDesk(name);
  }

  /** After healing: new processes for all, which know nothing of what the old ones were about. */
  replaceAll(): void {
    for (const worker of [...this.#workers.values()]) worker.crash();
    for (const name of [...this.#senders.keys(), ...this.#desks.keys()]) this.#restartOne(name);
  }

  /** Hands off after healing; the ids come as they are accepted. */
  probe(each: number): readonly string[] {
    const ids: string[] = [];
    for (const name of this.#world.directory.senders) {
      void this.#senders
        .get(name)
        ?.send(each, true)
        .then((accepted) => ids.push(...accepted));
    }
    return ids;
  }

  #startSender(name: string): void {
    this.#senders.get(name)?.crash();
    const applied = this.applied.get(name) ?? new Applied();
    this.applied.set(name, applied);
    const sender = new Sender(this.#world, name, applied, this.#onApplied);
    this.#senders.set(name, sender);
    void sender.collectForever();
  }

  #startDesk(name: string): void {
    const desk = new Desk(this.#world, name);
    this.#desks.set(name, desk);
    void desk.run();
  }

  #startWorker(agent: string, name: string): void {
    const { directory, random, timeline } = this.#world;
    this.#lives += 1;
    const worker = new Worker(this.#world, directory.agent(agent), name, `life-${this.#lives}`, () => {
      // Back as the same worker, or as a new one that knows nothing of the old one's leases.
      const next = random.chance(0.5) ? name : `${agent}-${this.#lives}x`;
      this.#workers.delete(name);
      timeline.schedule(random.skewed(100, 20_000), () => this.#startWorker(agent, next));
    });
    this.#workers.set(name, worker);
    void worker.run();
  }

  /** Agents send, too: what they hand on. */
  get #sendingNames(): readonly string[] {
    const { senders, agents } = this.#world.directory;
    return [...senders, ...agents.map(({ name }) => name)];
  }

  get #networkNames(): readonly string[] {
    return [...this.#sendingNames, ...this.#workers.keys(), ...this.#desks.keys(), operator, stranger, logReader];
  }
}
