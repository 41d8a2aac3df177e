/**
 * For tests: one store, and relays that live on it one after the other, each an engine with its kept figures. One that died
 * does nothing any more: no timer of it runs, and nothing it asked of the store is answered or begun.
 */

import { type Handoff, type HandoffEvent, liveLease, queueOf, type Time } from "@handfast/core";
import { type DraftPatch, draft, idOf, payload, start } from "@handfast/core/testing";
import { Engine, type EngineOptions, readResumes, type Store, type Surroundings, type Unit } from "@handfast/engine";
import { openSqliteStore } from "@handfast/store-sqlite";
import { VirtualSurroundings } from "../../../../../engine/src/testing/virtual-surroundings.ts";
import { type RelayLimits, limits as relayLimits } from "../../../limits.ts";
import { KeptReliability } from "../kept-reliability.ts";
import { Reliability } from "../reliability.ts";

type Command = Parameters<Engine["perform"]>[2];
/** Before or after the bytes of a commit are on disk; `untold`: after it, before anybody heard of it. */
export type Mishap = "fails before" | "fails after" | "dies before" | "dies untold";

/** Shorter than any retention in these tests. */
const look_every_ms = 20_000;

export interface LivesOptions {
  readonly limits?: Partial<RelayLimits>;
  readonly engine?: Pick<EngineOptions, "limits" | "coreLimits">;
  /** Default: the disk has room. */
  readonly hasRoom?: boolean;
}

export class Lives {
  readonly surroundings = new VirtualSurroundings(start);
  readonly store: Store;
  readonly bugs: unknown[] = [];
  readonly #options: LivesOptions;
  readonly #limits: RelayLimits;
  /** Everything that ever came into the log, and when the relay came back. */
  readonly #log: HandoffEvent[] = [];
  readonly #resumes = new Set<Time>();
  #read_pos = 0;
  #life: Life | null = null;
  #ids = 0;

  private constructor(store: Store, options: LivesOptions) {
    this.store = store;
    this.#options = options;
    this.#limits = { ...relayLimits, ...options.limits };
  }

  static async begin(options: LivesOptions = {}): Promise<Lives> {
    const lives = new Lives(await openSqliteStore({ memory: true }), options);
    await lives.begin();
    return lives;
  }

  get #alive(): Life {
    if (this.#life === null) throw new Error("no relay is alive");
    return this.#life;
  }

  get figures(): Reliability {
    return this.#alive.kept.figures;
  }

  now(): Time {
    return this.#alive.engine.now();
  }

  /** A new process starts on the store. */
  async begin(): Promise<void> {
    this.#life = await Life.begin(this.store, this.surroundings, this.#limits, {
      ...this.#options.engine,
      onBug: (error) => this.bugs.push(error),
      onResume: (at) => this.#resumes.add(at),
      hasRoom: this.#options.hasRoom ?? true,
    });
  }

  /** SIGKILL. */
  die(): void {
    this.#life?.die();
    this.#life = null;
  }

  async stop(): Promise<void> {
    if (this.#life !== null) await Promise.race([this.#life.stop(), this.#life.death]);
    this.die();
  }

  get isAlive(): boolean {
    return this.#life?.isDead === false;
  }

  mishap(what: Mishap): void {
    this.#alive.mishap = what;
  }

  async pass(ms: number): Promise<void> {
    for (let left_ms = ms; left_ms > 0; left_ms -= look_every_ms) {
      await this.surroundings.advance(Math.min(left_ms, look_every_ms));
      await this.look();
    }
  }

  async accept(patch: DraftPatch = {}): Promise<void> {
    this.#ids += 1;
    const own = draft({ id: idOf(this.#ids, this.now()), ...patch });
    const body = { kind: "handoff", number: 0, document: "{}", proof: null, payload: null } as const;
    const submission = { draft: own, queue_if_absent: false, target: { kind: "fits", except: [] }, body } as const;
    await this.#ask(({ engine }) => engine.submit([submission]));
  }

  async claim(agent: string, capability: string): Promise<Handoff | undefined> {
    this.#ids += 1;
    const leases = await this.#ask(({ engine }) =>
      engine.claim({
        namespace: "default",
        agent,
        worker: `${agent}-1`,
        queues: () => new Set([queueOf({ to: null, capability })]),
        slots: 1,
        request_id: `request-${this.#ids}`,
        wait_ms: 0,
        offer: () => ({ manifest: null, attempt_ms: null, idempotent: true, since: 0, check: () => null }),
      }),
    );
    return leases?.[0];
  }

  /** What the holder of this lease, or anybody, does to the handoff. */
  async act({ accepted }: Handoff, command: Command): Promise<void> {
    await this.#ask(({ engine }) => engine.perform("default", accepted.id, command));
  }

  /** An entry of the log that is of no handoff, and of no concern here. */
  async note(): Promise<void> {
    const entry = { namespace: "default", type: "looked", by: "alice", agents: ["bob"], capability: "draw" } as const;
    await this.#ask(({ engine }) => engine.note([entry]));
  }

  /** The figures of a relay that never died: of all that the log ever had, in order. */
  async expected(): Promise<Reliability> {
    await this.look();
    const figures = new Reliability({ limits: this.#limits, knownSince: () => 0 });
    const resumes = [...this.#resumes].sort((a, b) => a - b);
    for (const event of this.#log) figures.apply(event, resumes.findLast((at) => at <= event.at) ?? event.at);
    return figures;
  }

  /** Remembers what came into the log; called often enough, retention drops nothing before. */
  async look(): Promise<void> {
    for (const at of await readResumes(this.store)) this.#resumes.add(at);
    const query = { namespace: "default", after_pos: this.#read_pos, limit: 100_000 };
    for (const { pos, json } of (await this.store.events(query)).events) {
      this.#log.push(JSON.parse(json));
      this.#read_pos = pos;
    }
  }

  /** Undefined: it was refused, or the relay died over it. */
  async #ask<Answer>(ask: (life: Life) => Promise<Answer>): Promise<Answer | undefined> {
    const life = this.#alive;
    const answer = await Promise.race([ask(life).catch(() => undefined), life.death]);
    if (life.isDead) this.#life = null;
    await this.surroundings.rest();
    await this.look();
    return answer ?? undefined;
  }
}

interface LifeOptions extends Pick<EngineOptions, "limits" | "coreLimits" | "onBug"> {
  readonly onResume: (at: Time) => void;
  readonly hasRoom: boolean;
}

class Life {
  isDead = false;
  mishap: Mishap | null = null;
  readonly death: Promise<void>;
  readonly engine: Engine;
  #kept: KeptReliability | null = null;
  #tellDeath = () => {};

  private constructor(store: Store, surroundings: VirtualSurroundings, options: LifeOptions) {
    this.death = new Promise((resolve) => {
      this.#tellDeath = resolve;
    });
    const { onResume, hasRoom: _, ...given } = options;
    this.engine = new Engine({
      store: this.#mortal(store),
      surroundings: this.#around(surroundings),
      others: () => 1,
      onEvents: (events, resumed_at) => this.kept.apply(events, resumed_at),
      reread: async (resumed_at) => {
        onResume(resumed_at);
        await this.kept.reread(resumed_at);
      },
      ...given,
    });
  }

  static async begin(
    store: Store,
    surroundings: VirtualSurroundings,
    limits: RelayLimits,
    options: LifeOptions,
  ): Promise<Life> {
    const life = new Life(store, surroundings, options);
    life.#kept = await KeptReliability.open({
      namespace: "default",
      store,
      put: (writes) => life.engine.putRecords(writes),
      hasRoom: () => options.hasRoom,
      schedule: life.#around(surroundings).schedule,
      limits,
      knownSince: () => 0,
      onUnwritten: () => {},
    });
    await life.engine.start();
    return life;
  }

  get kept(): KeptReliability {
    if (this.#kept === null) throw new Error("it is not open yet");
    return this.#kept;
  }

  die(): void {
    this.isDead = true;
    this.#tellDeath();
  }

  async stop(): Promise<void> {
    await this.kept.stop();
    await this.engine.stop();
  }

  #around(given: VirtualSurroundings): Surroundings {
    const alive = (callback: () => void) => () => {
      if (!this.isDead) callback();
    };
    return {
      now: () => given.now(),
      random: () => given.random(),
      randomBytes: (count) => given.randomBytes(count),
      schedule: (delay_ms, callback) => given.schedule(delay_ms, alive(callback)),
      defer: (callback) => given.defer(alive(callback)),
    };
  }

  #mortal(store: Store): Store {
    return new Proxy(store, {
      get: (target, name) => {
        if (name === "commit") return (units: readonly Unit[]) => this.#commit(target, units);
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  }

  async #commit(store: Store, units: readonly Unit[]) {
    const { mishap } = this;
    this.mishap = null;
    if (mishap === "fails before") throw new Error("disk on fire");
    if (mishap === "dies before") this.die();
    if (this.isDead) return never();
    const results = await store.commit(units);
    if (mishap === "dies untold") this.die();
    if (this.isDead) return never();
    if (mishap === "fails after") throw new Error("disk on fire, but the bytes are there");
    return results;
  }
}

function never(): Promise<never> {
  return new Promise(() => {});
}

/** Everything that a lease's holder can say, by name. */
export function saying(leased: Handoff, what: string): Command {
  const lease = liveLease(leased);
  const held = { agent: lease?.agent ?? "nobody", fence: lease?.fence ?? 0 };
  const said = { ...held, worker: `${held.agent}-1`, evidence: "signed", usage: null, artifacts: [] } as const;
  const error = { reason: "trouble", message: "it went wrong" };
  switch (what) {
    case "ack":
      return { type: "ack", evidence: "signed", ...held };
    case "beat":
      return { type: "beat", progress: null, ...held };
    case "complete":
      return { type: "complete", ...said, content: "done", output: payload("done"), fault: null };
    case "unfit":
      return { type: "complete", ...said, content: "unfit", output: payload("unfit"), fault: error };
    case "fail":
      return { type: "fail", ...said, content: "f", error, output: null, retryable: true, retry_after_ms: null };
    case "fail for good":
      return { type: "fail", ...said, content: "g", error, output: null, retryable: false, retry_after_ms: null };
    case "reject":
      return { type: "reject", ...said, content: "r", error };
    case "release":
      return { type: "release", ...held };
    case "ask":
    case "park":
      return { type: "ask", ...held, question: `${held.fence}`, to: null, answer_ms: 60_000, park: what === "park" };
    case "answer":
      return {
        type: "answer",
        actor: { kind: "operator", name: "olga" },
        question: `${held.fence}`,
        content: "answer",
        answer: payload("answer"),
        evidence: "signed",
        offers: [],
      };
    case "cancel":
      return { type: "cancel", actor: { kind: "relay" }, reason: null, evidence: "relay" };
    default:
      return { type: "take", actor: { kind: "agent", agent: leased.accepted.from } };
  }
}
