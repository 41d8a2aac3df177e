/** For tests: an engine on a real store in memory, with virtual time, and the shortest way to ask it things. */

import { type Handoff, liveLease, queueOf } from "@handfast/core";
import { type DraftPatch, draft, idOf, payload, start } from "@handfast/core/testing";
import { openSqliteStore } from "@handfast/store-sqlite";
import { Engine } from "../engine.ts";
import type { EngineOptions } from "../options.ts";
import type { Answer, Claim, PublicCommand, Submission } from "../requests.ts";
import type { Body, Store, Unit } from "../store.ts";
import { VirtualSurroundings } from "./virtual-surroundings.ts";

const noBody: Body = {
  kind: "handoff",
  number: 0,
  document: "{}",
  proof: null,
  payload: new Uint8Array([123, 125]),
};

export class Bench {
  readonly surroundings: VirtualSurroundings;
  readonly store: Store;
  engine: Engine;
  readonly commits: (readonly Unit[])[] = [];
  /** Queues of each look for ready work on disk. */
  readonly looks: (readonly string[])[] = [];
  readonly bugs: unknown[] = [];
  readonly recoveries: boolean[] = [];
  #failing: "before" | "after" | null = null;
  #refusing = false;
  #away = 0;
  #delay_ms = 0;
  #free_bytes: number | null = null;
  readonly #broken = new Set<string>();
  readonly #options: Partial<EngineOptions>;
  #ids = 0;

  private constructor(store: Store, options: Partial<EngineOptions>) {
    this.#options = options;
    this.surroundings = new VirtualSurroundings(start);
    this.store = this.#watched(store);
    this.engine = this.#newEngine();
  }

  static async open(options: Partial<EngineOptions> = {}): Promise<Bench> {
    const bench = new Bench(await openSqliteStore({ memory: true }), options);
    await bench.engine.start();
    return bench;
  }

  /** The relay's process dies and a new one starts on the same store. */
  async restart(): Promise<void> {
    this.engine = this.#newEngine();
    await this.engine.start();
  }

  /** The next commit fails, with nothing or with everything of it on disk. */
  failNextCommit(when: "before" | "after"): void {
    this.#failing = when;
  }

  /** The next commit takes so long, while time passes for everybody. */
  delayNextCommit(delay_ms: number): void {
    this.#delay_ms = delay_ms;
  }

  /** The store fails on its own, between two commits, and refuses everything until it is recovered. */
  failStore(): void {
    this.#refusing = true;
  }

  /** The store fails, and so many tries to recover it find nobody there. */
  loseStore(tries: number): void {
    this.#refusing = true;
    this.#away = tries;
  }

  /** The disk has so much room from now on. */
  async setFreeBytes(free_bytes: number): Promise<void> {
    this.#free_bytes = free_bytes;
    await this.surroundings.advance(1_000);
  }

  /** Reading these handoffs' bodies fails, as if by a mistake of ours. */
  breakBodies(ids: readonly string[]): void {
    for (const id of ids) this.#broken.add(id);
  }

  nextId(): string {
    this.#ids += 1;
    return idOf(this.#ids, this.engine.now());
  }

  submission(patch: DraftPatch = {}): Submission {
    return {
      draft: draft({ id: this.nextId(), ...patch }),
      queue_if_absent: false,
      target: { kind: "fits", except: [] },
      body: noBody,
    };
  }

  /** Submits one handoff that is expected to be accepted. */
  async accept(patch: DraftPatch = {}): Promise<Handoff> {
    const answer = await this.engine.submit([this.submission(patch)]);
    const handoff = answer.ok ? answer.submitted[0]?.handoff : undefined;
    if (handoff == null) throw new Error(`not accepted: ${JSON.stringify(answer)}`);
    return handoff;
  }

  claim(patch: Partial<Claim> = {}): Promise<readonly Handoff[]> {
    return this.engine.claim({
      namespace: "default",
      agent: "bob",
      worker: "bob-1",
      queues: () =>
        new Set([
          queueOf({ to: null, capability: "summarize" }),
          queueOf({ to: patch.agent ?? "bob", capability: null }),
        ]),
      slots: 1,
      request_id: `request-${this.nextId()}`,
      wait_ms: 0,
      offer: () => ({ manifest: null, attempt_ms: null, idempotent: true, since: 0, check: () => null }),
      ...patch,
    });
  }

  /** Claims one handoff that is expected to be there. */
  async lease(patch: Partial<Claim> = {}): Promise<Handoff> {
    const [handoff] = await this.claim(patch);
    if (handoff === undefined) throw new Error("nothing was leased");
    return handoff;
  }

  perform(handoff: Handoff, command: PublicCommand): Promise<Answer> {
    return this.engine.perform("default", handoff.accepted.id, command);
  }

  async ack(handoff: Handoff): Promise<Answer> {
    return this.perform(handoff, { type: "ack", evidence: "signed", ...holder(handoff) });
  }

  async complete(handoff: Handoff, content = "done"): Promise<Answer> {
    return this.perform(handoff, {
      type: "complete",
      ...holder(handoff),
      worker: "bob-1",
      output: payload(content),
      fault: null,
      content,
      evidence: "signed",
      usage: null,
      artifacts: [],
    });
  }

  async state(handoff: Handoff): Promise<string | undefined> {
    return (await this.engine.get("default", handoff.accepted.id))?.status.state;
  }

  #newEngine(): Engine {
    return new Engine({
      store: this.store,
      surroundings: this.surroundings,
      others: () => 1,
      onBug: (error) => this.bugs.push(error),
      onRecovery: (_error, recovered) => this.recoveries.push(recovered),
      ...this.#options,
    });
  }

  async #stayAway(): Promise<never> {
    this.#away -= 1;
    await new Promise<void>((resolve) => this.surroundings.schedule(10_000, resolve));
    throw Object.assign(new Error("nobody answers there"), { is_away: true });
  }

  /** The real store; commits are counted, and fail when told to. */
  #watched(store: Store): Store {
    return new Proxy(store, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        if (name === "recover" && this.#away > 0) return () => this.#stayAway();
        if (name === "recover") this.#refusing = false;
        if (this.#refusing) return async () => Promise.reject(new Error("the store has failed"));
        if (name === "space" && this.#free_bytes !== null) {
          return async () => ({ free_bytes: this.#free_bytes, used_bytes: 0 });
        }
        if (name === "body") {
          return async (...asked: Parameters<Store["body"]>) => {
            if (this.#broken.has(asked[1])) throw new Error("this body cannot be read");
            return target.body(...asked);
          };
        }
        if (name === "candidates") {
          return async (query: Parameters<Store["candidates"]>[0]) => {
            this.looks.push(query.queues);
            return target.candidates(query);
          };
        }
        if (name !== "commit") return value.bind(target);
        return async (units: readonly Unit[]) => {
          this.commits.push(units);
          const failing = this.#failing;
          this.#failing = null;
          if (failing === "before") throw new Error("disk on fire");
          const delay_ms = this.#delay_ms;
          this.#delay_ms = 0;
          if (delay_ms > 0) await new Promise<void>((resolve) => this.surroundings.schedule(delay_ms, resolve));
          const results = await target.commit(units);
          if (failing === "after") throw new Error("disk on fire, but the bytes are there");
          return results;
        };
      },
    });
  }
}

export function holder(handoff: Handoff): { readonly agent: string; readonly fence: number } {
  const lease = liveLease(handoff);
  if (lease === null) throw new Error("nobody holds it");
  return { agent: lease.agent, fence: lease.fence };
}
