/**
 * Who meets a need: filters by what must hold, ranks the rest, and says of each why; of those that come near, what they lack.
 * A call costs a bounded time, however many agents there are.
 */

import { setImmediate } from "node:timers/promises";
import type { Need } from "@handfast/protocol/wire";
import type { RelayLimits } from "../../limits.ts";
import type { Schemas } from "../../schemas/schemas.ts";
import type { Candidate } from "./candidate.ts";
import { CapabilityIndex } from "./capability-index.ts";
import type { Provider } from "./entry.ts";
import type { Asker, Facts } from "./facts.ts";
import { gather } from "./gather.ts";
import { ranked } from "./rank.ts";
import { type Compare, SchemaJudge } from "./schema-judge.ts";
import { type Found, type NearMiss, Search } from "./search.ts";
import { SortedNames } from "./sorted-names.ts";

export interface DiscoveryOptions {
  readonly facts: Facts;
  readonly schemas: Schemas;
  readonly limits: RelayLimits;
  readonly compare: Compare;
  readonly elapsed_ms: () => number;
}

export interface Discovered {
  readonly hits: readonly Found[];
  /** How many meet the need, of those that were looked at. */
  readonly found: number;
  /** Whether all who might meet it were looked at. */
  readonly is_whole: boolean;
  readonly near: readonly NearMiss[];
  /** Whose prices were held against the need's, be they told of or not. */
  readonly compared: readonly Candidate[];
}

export class Discovery {
  readonly #options: DiscoveryOptions;
  readonly #index: CapabilityIndex;
  readonly #judge: SchemaJudge;
  #filled: Promise<void> = Promise.resolve();
  #stopped = false;
  /** Of the agents that are registered here. */
  readonly names = new SortedNames();

  constructor(options: DiscoveryOptions) {
    this.#options = options;
    this.#index = new CapabilityIndex(options.limits);
    this.#judge = new SchemaJudge(options);
  }

  /** How many capabilities it knows. */
  get size(): number {
    return this.#index.size;
  }

  /** The same as before costs nothing. */
  set(provider: Provider): void {
    this.#index.set(provider);
    if (provider.foreign === null) this.names.add(provider.name);
  }

  remove(agent: string): void {
    this.#index.remove(agent);
    this.names.remove(agent);
  }

  /** Reads all of these, letting others go first now and then: what is asked meanwhile waits until all are there. */
  fill(agents: Iterable<string>, read: (agent: string) => void): void {
    this.#filled = this.#fill(agents, read);
  }

  /** When all of them were read. */
  get filled(): Promise<void> {
    return this.#filled;
  }

  /** Whoever waits for that need not any more. */
  stop(): void {
    this.#stopped = true;
  }

  async #fill(agents: Iterable<string>, read: (agent: string) => void): Promise<void> {
    const { elapsed_ms, limits } = this.#options;
    let began = elapsed_ms();
    for (const agent of agents) {
      if (this.#stopped) return;
      read(agent);
      if (elapsed_ms() - began < limits.discovery_fill_ms) continue;
      await setImmediate();
      began = elapsed_ms();
    }
  }

  /** `only`: nobody but these agents. */
  async find(need: Need, asker: Asker, limit: number, only: ReadonlySet<string> | null = null): Promise<Discovered> {
    await this.#filled;
    const { limits } = this.#options;
    const search = new Search(this.#options, this.#index, this.#judge, need, asker, only);
    const gathered = gather(this.#index, search, limits);
    search.look(gathered);
    const { kept, cut } = search.best();
    const meets = await search.judged(kept);
    const hits = ranked(meets, search.best_text).slice(0, limit);
    if (hits.length === 0) search.lookFurther();
    return {
      hits: hits.map((judged) => search.found(judged)),
      found: meets.length + cut,
      is_whole: gathered.is_whole && cut === 0 && !search.are_prices_left_out,
      near: search.near(),
      compared: search.compared,
    };
  }
}
