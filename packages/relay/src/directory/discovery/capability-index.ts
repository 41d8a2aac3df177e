/**
 * All capabilities of all agents, found by name, by tag, by words and by schemas. A change of one agent touches its own entries only.
 * Texts that are alike, as those of many agents with one program, are kept once.
 */

import type { Capability } from "@handfast/protocol";
import type { RelayLimits } from "../../limits.ts";
import { nodeCrypto } from "../../proof/node-crypto.ts";
import { Few } from "../few.ts";
import { capabilityText } from "./capability-text.ts";
import type { Entry, Provider, SharedText } from "./entry.ts";
import { ShapeIndex } from "./shape-index.ts";
import { type Wanted, WordIndex } from "./word-index.ts";

export class CapabilityIndex {
  readonly #limits: RelayLimits;
  readonly #byAgent = new Map<string, readonly Entry[]>();
  readonly #byName = new Map<string, Set<Entry>>();
  readonly #byTag = new Map<string, Set<Entry>>();
  readonly #texts = new Map<string, SharedText>();
  readonly shapes = new ShapeIndex();
  #size = 0;
  readonly #words: WordIndex<SharedText>;

  constructor(limits: RelayLimits) {
    this.#limits = limits;
    this.#words = new WordIndex(limits.discovery_words_per_part);
  }

  get size(): number {
    return this.#size;
  }

  /** All that the agent offers from now on. */
  set(provider: Provider): void {
    const known = this.#byAgent.get(provider.name)?.[0]?.provider;
    if (known !== undefined && isSame(known, provider)) return;
    this.remove(provider.name);
    const entries = provider.capabilities.map((capability) => this.#entry(provider, capability));
    if (entries.length > 0) this.#byAgent.set(provider.name, entries);
    for (const entry of entries) this.#add(entry);
  }

  remove(agent: string): void {
    for (const entry of this.#byAgent.get(agent) ?? []) this.#drop(entry);
    this.#byAgent.delete(agent);
  }

  named(name: string): ReadonlySet<Entry> {
    return this.#byName.get(name) ?? nothing;
  }

  tagged(tag: string): ReadonlySet<Entry> {
    return this.#byTag.get(tag) ?? nothing;
  }

  /** Agent by agent, those that said last what they offer first: the oldest are the likeliest to be gone. */
  *all(): Generator<Entry> {
    for (const entries of [...this.#byAgent.values()].reverse()) yield* entries;
  }

  names(): Iterable<string> {
    return this.#byName.keys();
  }

  wanted(words: readonly string[]): Wanted<SharedText> {
    return this.#words.wanted(words);
  }

  #entry(provider: Provider, capability: Capability): Entry {
    const { input_schema, output_schema } = capability;
    return {
      provider,
      capability,
      input: input_schema === undefined ? null : this.shapes.share(input_schema),
      output: output_schema === undefined ? null : this.shapes.share(output_schema),
      text: this.#text(capability),
    };
  }

  #text(capability: Capability): SharedText {
    const parts = capabilityText(capability, this.#limits);
    const key = nodeCrypto.sha256Hex(JSON.stringify(parts));
    const known = this.#texts.get(key);
    if (known !== undefined) return known;
    const text = { key, entries: new Few<Entry>() };
    this.#texts.set(key, text);
    this.#words.add(text, parts);
    return text;
  }

  #add(entry: Entry): void {
    this.#size += 1;
    join(this.#byName, entry.capability.name, entry);
    for (const tag of entry.capability.tags ?? []) join(this.#byTag, tag, entry);
    this.shapes.add(entry);
    entry.text.entries.add(entry);
  }

  #drop(entry: Entry): void {
    this.#size -= 1;
    leave(this.#byName, entry.capability.name, entry);
    for (const tag of entry.capability.tags ?? []) leave(this.#byTag, tag, entry);
    this.shapes.remove(entry);
    const { text, capability } = entry;
    text.entries.delete(entry);
    if (text.entries.size > 0) return;
    this.#texts.delete(text.key);
    // Made anew: kept, these strings would be a tenth of all that a full collection has to visit.
    this.#words.remove(text, capabilityText(capability, this.#limits));
  }
}

/** A manifest's digest is over all that it offers. */
function isSame(one: Provider, other: Provider): boolean {
  return (
    one.manifest === other.manifest &&
    one.signed === other.signed &&
    one.discovery_endpoint === other.discovery_endpoint &&
    one.foreign?.fetched_at === other.foreign?.fetched_at &&
    one.foreign?.url === other.foreign?.url
  );
}

const nothing: ReadonlySet<Entry> = new Set();

function join(sets: Map<string, Set<Entry>>, key: string, entry: Entry): void {
  const entries = sets.get(key) ?? new Set();
  sets.set(key, entries.add(entry));
}

function leave(sets: Map<string, Set<Entry>>, key: string, entry: Entry): void {
  const entries = sets.get(key);
  entries?.delete(entry);
  if (entries?.size === 0) sets.delete(key);
}
