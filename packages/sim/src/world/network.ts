/** The way between an actor and the relay: delays, losses both ways, copies, cuts; and with the delays, another order. */

import type { Duration } from "@handfast/core";
import { EngineFault } from "@handfast/engine";
import type { Coverage } from "../coverage/coverage.ts";
import { type CallName, type Fault, otherCalls } from "../coverage/rows.ts";
import type { Random } from "../random.ts";
import type { Tally } from "../run/tally.ts";
import type { Faults } from "../scenario/faults.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { InjectedFault } from "./faulty-store.ts";
import type { Partitions } from "./partitions.ts";
import type { Relay } from "./relay.ts";
import type { Front, RelayProcess } from "./relay-process.ts";
import type { RelayTimes } from "./relay-times.ts";
import type { Timeline } from "./timeline.ts";

/** What a caller hears: an answer, that the relay could not, or nothing. */
export type Reply<T> =
  | { readonly kind: "answer"; readonly value: T }
  | { readonly kind: "fault"; readonly code: number }
  | { readonly kind: "lost" };

export interface Call<T> {
  readonly name: CallName;
  /** Who calls: a process, by name. */
  readonly actor: string;
  /** Runs at the relay; what it returns is on its way when it resolves. */
  readonly act: (front: Front, process: RelayProcess) => Promise<T>;
  readonly patience_ms: Duration;
  /** Of several copies, one that says nothing is not the last word. */
  readonly saysNothing?: (value: T) => boolean;
  /** The relay noticed that the answer did not arrive. */
  readonly undelivered?: (value: T, front: Front) => void;
  /** The relay could not carry it out. */
  readonly onFault?: (fault: EngineFault) => void;
}

interface NetworkOptions {
  readonly timeline: Timeline;
  readonly random: Random;
  readonly scenario: Scenario;
  readonly faults: () => Faults;
  readonly relay: Relay;
  readonly partitions: Partitions;
  readonly times: RelayTimes;
  readonly coverage: Coverage;
  readonly tally: Tally;
  readonly isDiskLow: () => boolean;
  readonly onBug: (error: unknown) => void;
}

/** How much likelier something happens to a call that this seed hunts. */
const hunted_rate = 0.1;
const hunted_crash = 0.02;
const hunted_cut = 0.02;
/** Calls so soon after the relay was away count as made under that fault. */
const soon_ms = 5_000;
const undecided: ReadonlySet<CallName> = new Set(otherCalls);

export class Network {
  readonly #options: NetworkOptions;
  /** Per actor: how many messages it sent, and the latest of them that arrived. */
  readonly #order = new Map<string, { sent: number; arrived: number }>();

  constructor(options: NetworkOptions) {
    this.#options = options;
  }

  call<T>(call: Call<T>): Promise<Reply<T>> {
    const { timeline, faults } = this.#options;
    this.#cutHunted(call);
    return new Promise((resolve) => {
      let copies = 1;
      let over = false;
      const finish = (reply: Reply<T>) => {
        copies -= 1;
        const last = copies <= 0 || (reply.kind === "answer" && call.saysNothing?.(reply.value) !== true);
        if (over || !last) return;
        over = true;
        giveUp();
        resolve(reply);
      };
      const giveUp = timeline.schedule(call.patience_ms, () => {
        copies = 0;
        finish({ kind: "lost" });
      });
      if (this.#happens(call.name, faults().duplicated)) {
        this.#hit(call.name, "copied");
        copies += 1;
        this.#send(call, finish);
      }
      this.#send(call, finish);
    });
  }

  /** Partitions are few, and calls in their time fewer: the one that is hunted brings its own. */
  #cutHunted({ name, actor }: Pick<Call<unknown>, "name" | "actor">): void {
    const { scenario, faults, random, partitions } = this.#options;
    const may = name === scenario.hunted && faults().partition_every_ms !== null;
    if (may && random.chance(hunted_cut)) partitions.split([actor]);
  }

  #send<T>(call: Call<T>, finish: (reply: Reply<T>) => void): void {
    const { timeline, faults, partitions } = this.#options;
    const order = this.#order.get(call.actor) ?? { sent: 0, arrived: 0 };
    this.#order.set(call.actor, order);
    order.sent += 1;
    const number = order.sent;
    const cut = partitions.between(call.actor, "inwards");
    if (cut !== null) return this.#hit(call.name, cut);
    if (this.#happens(call.name, faults().request_lost)) return this.#hit(call.name, "request lost");
    timeline.schedule(this.#delay(call.name), () => {
      if (number < order.arrived) this.#hit(call.name, "overtaken");
      order.arrived = Math.max(order.arrived, number);
      this.#arrive(call, finish);
    });
  }

  #arrive<T>(call: Call<T>, finish: (reply: Reply<T>) => void): void {
    const { timeline, random, relay } = this.#options;
    const { process } = relay;
    const broken = () => timeline.schedule(this.#delay(call.name), () => finish({ kind: "lost" }));
    if (process === null) return void broken();
    this.#circumstances(call.name, process);
    // A dead process is noticed by most callers at once, and by the others when their patience ends.
    const noticed = random.chance(0.8);
    const forget = process.onDeath(() => {
      this.#options.coverage.hit(call.name, "relay crash");
      if (noticed) broken();
    });
    process.run(() => {
      call.act(process.front, process).then(
        (value) => {
          forget();
          if (process.alive) this.#answer(call, value, process, finish);
        },
        (error: unknown) => {
          forget();
          if (process.alive) this.#refuse(call, error, finish);
        },
      );
    });
    if (call.name === this.#options.scenario.hunted && random.chance(hunted_crash)) this.#crashSoon();
  }

  #crashSoon(): void {
    const { timeline, random, relay, faults } = this.#options;
    if (faults().relay_crash_every_ms !== null) timeline.schedule(random.between(0, 5), () => relay.crash());
  }

  /** Calls that decide nothing meet the relay's own troubles when they arrive; commands when they are decided. */
  #circumstances(name: CallName, process: RelayProcess): void {
    const { times, coverage, isDiskLow } = this.#options;
    if (!undecided.has(name)) return;
    const now = process.engine.now();
    if (now - times.restarted_at <= soon_ms) coverage.hit(name, "after restart");
    if (process.isFrozen || now - times.stalled_at <= soon_ms) coverage.hit(name, "after stall");
    if (now - times.jumped_at <= soon_ms) coverage.hit(name, "after clock jump");
    if (isDiskLow()) coverage.hit(name, "disk low");
  }

  #answer<T>(call: Call<T>, value: T, process: RelayProcess, finish: (reply: Reply<T>) => void): void {
    const { timeline, random, faults, partitions } = this.#options;
    const cut = partitions.between(call.actor, "outwards");
    const fault = cut ?? (this.#happens(call.name, faults().answer_lost) ? "answer lost" : null);
    if (fault !== null) {
      this.#hit(call.name, fault);
      if (random.chance(0.3)) process.schedule(this.#delay(call.name), () => call.undelivered?.(value, process.front));
      return;
    }
    timeline.schedule(this.#delay(call.name), () => finish({ kind: "answer", value }));
  }

  #refuse<T>(call: Call<T>, error: unknown, finish: (reply: Reply<T>) => void): void {
    const { timeline, faults, tally, onBug, partitions } = this.#options;
    if (!(error instanceof EngineFault) && !(error instanceof InjectedFault)) onBug(error);
    if (error instanceof EngineFault) call.onFault?.(error);
    if (error instanceof EngineFault && error.code === 507) this.#options.coverage.hit(call.name, "disk low");
    const code = error instanceof EngineFault ? error.code : 500;
    tally.add("engine faults", error instanceof EngineFault ? error.reason : "store");
    if (partitions.between(call.actor, "outwards") !== null || this.#happens(call.name, faults().answer_lost)) return;
    timeline.schedule(this.#delay(call.name), () => finish({ kind: "fault", code }));
  }

  #delay(name: CallName): Duration {
    const { random, faults } = this.#options;
    const { slow, delay_most_ms } = faults();
    if (!this.#happens(name, slow)) return random.skewed(0, delay_most_ms);
    this.#hit(name, "slow");
    return random.skewed(delay_most_ms, 40_000);
  }

  #happens(name: CallName, rate: number): boolean {
    const { random, scenario } = this.#options;
    return rate > 0 && random.chance(name === scenario.hunted ? Math.max(rate, hunted_rate) : rate);
  }

  #hit(name: CallName, fault: Fault): void {
    this.#options.coverage.hit(name, fault);
    this.#options.tally.add("messages", fault);
  }
}
