/** For tests: one node's engine on a disk that another node writes to as well, with virtual time. */

import { type Handoff, queueOf } from "@handfast/core";
import { draft, idOf, start } from "@handfast/core/testing";
import { openSqliteStore } from "@handfast/store-sqlite";
import { SharedDisk } from "../../../sim/src/nodes/shared-disk.ts";
import { Timeline } from "../../../sim/src/world/timeline.ts";
import { Engine } from "../engine.ts";
import type { EngineOptions } from "../options.ts";
import type { Claim, Submission } from "../requests.ts";
import type { Body, Store } from "../store.ts";

const body: Body = { kind: "handoff", number: 0, document: "{}", proof: null, payload: new Uint8Array([123, 125]) };
const most_ms = 3_600_000;

export class SharedBench {
  readonly timeline = new Timeline(start);
  readonly engine: Engine;
  /** The disk as the engine's node sees it, and as another does. */
  readonly own: Store;
  readonly other: Store;
  readonly bugs: unknown[] = [];
  #ids = 0;

  private constructor(store: Store, options: Partial<EngineOptions>) {
    const { timeline } = this;
    const disk = new SharedDisk(store, timeline, {});
    this.own = disk.openFor({ alive: true, step: async () => {} });
    this.other = disk.openFor({ alive: true, step: async () => {} });
    this.engine = new Engine({
      store: this.own,
      surroundings: {
        now: () => timeline.now,
        random: () => 0.5,
        randomBytes: (count) => new Uint8Array(count),
        schedule: (delay_ms, callback) => timeline.schedule(delay_ms, callback),
        defer: (callback) => void timeline.schedule(0, callback),
      },
      others: () => 1,
      onBug: (error) => this.bugs.push(error),
      ...options,
    });
  }

  static async open(options: Partial<EngineOptions> = {}): Promise<SharedBench> {
    const bench = new SharedBench(await openSqliteStore({ memory: true }), options);
    await bench.answered(bench.engine.start());
    return bench;
  }

  /** Lets things happen until there is an answer. */
  async answered<Answer>(asked: Promise<Answer>): Promise<Answer> {
    let is_over = false;
    const over = () => {
      is_over = true;
    };
    asked.then(over, over);
    await this.timeline.run(() => is_over, this.timeline.now + most_ms);
    return asked;
  }

  async advance(duration_ms: number): Promise<void> {
    await this.timeline.run(() => false, this.timeline.now + duration_ms);
  }

  /** One for each of these capabilities, accepted together or not at all. */
  async submit(capabilities: readonly string[]): Promise<readonly string[]> {
    const submissions = capabilities.map((capability): Submission => {
      this.#ids += 1;
      const id = idOf(this.#ids, this.timeline.now);
      const target = { kind: "fits", except: [] } as const;
      return { draft: draft({ id, idempotency_key: id, capability }), queue_if_absent: true, target, body };
    });
    const answer = await this.answered(this.engine.submit(submissions));
    if (!answer.ok) throw new Error(`not accepted: ${JSON.stringify(answer)}`);
    return answer.submitted.map(({ id }) => id);
  }

  claim(capability: string, patch: Partial<Claim> = {}): Promise<readonly Handoff[]> {
    this.#ids += 1;
    return this.answered(
      this.engine.claim({
        namespace: "default",
        agent: "bob",
        worker: "bob-1",
        queues: () => new Set([queueOf({ to: null, capability })]),
        slots: 1,
        request_id: `request ${this.#ids}`,
        wait_ms: 0,
        offer: () => ({ manifest: null, attempt_ms: null, idempotent: true, since: 0, check: () => null }),
        ...patch,
      }),
    );
  }

  async close(): Promise<void> {
    await this.answered(this.engine.stop());
    await this.own.close();
  }
}
