/**
 * Every pair of agent and capability that something was measured of: a bounded number, the one longest unheard of dropped
 * first. Each has a place in a chunk, and chunks are what is written to the store: which of them changed is remembered.
 */

import { Pair, type PairRules, type StoredPair } from "./pair.ts";

export interface PairsLimits {
  readonly reliability_pairs: number;
  readonly reliability_chunk_pairs: number;
}

/** So many are dropped at once, as a part of all: looking for the oldest means looking at every one. */
const dropped_part = 1 / 64;

export class Pairs {
  readonly #rules: PairRules;
  readonly #limits: PairsLimits;
  readonly #onDrop: (pair: Pair) => void;
  readonly #byName = new Map<string, Map<string, Pair>>();
  /** Undefined: free. */
  readonly #places: (Pair | undefined)[] = [];
  readonly #free: number[] = [];
  readonly #changed = new Set<number>();
  #heard = 0;

  constructor(rules: PairRules, limits: PairsLimits, onDrop: (pair: Pair) => void) {
    this.#rules = rules;
    this.#limits = limits;
    this.#onDrop = onDrop;
  }

  get size(): number {
    return this.#places.length - this.#free.length;
  }

  get(agent: string, capability: string): Pair | undefined {
    return this.#byName.get(capability)?.get(agent);
  }

  all(): readonly Pair[] {
    return this.#places.filter((pair) => pair !== undefined);
  }

  /** The pair of this name from now on, whatever was known under it. */
  make(agent: string, capability: string, since: number): Pair {
    const before = this.get(agent, capability);
    if (before !== undefined) this.#drop(before);
    else if (this.size >= this.#limits.reliability_pairs) this.#dropUnheard();
    const pair = new Pair(this.#rules, { agent, capability, since });
    this.#put(pair, this.#free.pop() ?? this.#places.length);
    return pair;
  }

  /** Something was just measured of it. */
  heard(pair: Pair): void {
    this.#heard += 1;
    pair.heard = this.#heard;
    this.#change(pair.place);
  }

  /** The numbers of the chunks that changed since this was last asked for. */
  takeChanged(): readonly number[] {
    const changed = [...this.#changed];
    this.#changed.clear();
    return changed;
  }

  /** They could not be written. */
  changedStill(chunks: readonly number[]): void {
    for (const chunk of chunks) this.#changed.add(chunk);
  }

  /** Nothing is known of what was written. */
  allChanged(): void {
    for (let place = 0; place < this.#places.length; place += this.#limits.reliability_chunk_pairs) this.#change(place);
  }

  get isChanged(): boolean {
    return this.#changed.size > 0;
  }

  /** What is in a chunk, place by place; undefined: nothing any more. */
  chunk(number: number): readonly (StoredPair | null)[] | undefined {
    const size = this.#limits.reliability_chunk_pairs;
    const pairs = this.#places.slice(number * size, (number + 1) * size);
    return pairs.some((pair) => pair !== undefined) ? pairs.map((pair) => pair?.stored() ?? null) : undefined;
  }

  /** Puts a chunk back where it was, before anything is measured. */
  restore(number: number, stored: readonly (StoredPair | null)[]): void {
    const first = number * this.#limits.reliability_chunk_pairs;
    for (const [index, pair] of stored.entries()) {
      if (pair === null) continue;
      this.#put(new Pair(this.#rules, pair), first + index);
      this.#heard = Math.max(this.#heard, pair.heard);
    }
  }

  /** When every chunk is back: places that nobody took are free. */
  restored(): void {
    this.#free.length = 0;
    for (let place = this.#places.length - 1; place >= 0; place -= 1) {
      if (this.#places[place] === undefined) this.#free.push(place);
    }
    this.#changed.clear();
  }

  #put(pair: Pair, place: number): void {
    const ofCapability = this.#byName.get(pair.capability) ?? new Map<string, Pair>();
    this.#byName.set(pair.capability, ofCapability);
    ofCapability.set(pair.agent, pair);
    while (this.#places.length < place) this.#places.push(undefined);
    this.#places[place] = pair;
    pair.place = place;
    this.#change(place);
  }

  #drop(pair: Pair): void {
    const { place } = pair;
    const ofCapability = this.#byName.get(pair.capability);
    ofCapability?.delete(pair.agent);
    if (ofCapability?.size === 0) this.#byName.delete(pair.capability);
    this.#places[place] = undefined;
    pair.place = -1;
    this.#free.push(place);
    this.#change(place);
    this.#onDrop(pair);
  }

  #dropUnheard(): void {
    const oldest = this.all().toSorted((a, b) => a.heard - b.heard);
    const most = Math.max(1, Math.floor(this.#limits.reliability_pairs * dropped_part));
    for (const pair of oldest.slice(0, most)) this.#drop(pair);
  }

  #change(place: number): void {
    this.#changed.add(Math.floor(place / this.#limits.reliability_chunk_pairs));
  }
}
