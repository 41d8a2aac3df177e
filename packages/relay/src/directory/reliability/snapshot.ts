/**
 * The figures as records of the store: one head, and chunks of pairs. The head says up to which event they go, and is written
 * in one commit with every chunk that changed since: together they are the figures of one moment, never of two.
 */

import type { Duration, Time } from "@handfast/core";
import type { RecordWrite, StoredRecord } from "@handfast/engine";
import type { StoredPair } from "./pair.ts";
import type { Pairs } from "./pairs.ts";

export const record_kind = "reliability";
export const head_key = "head";
const chunk_prefix = "chunk-";
/** Of what is stored; figures of another format are measured anew from the log. */
const format = 1;

/** The last event that is part of the figures. */
export interface Mark {
  readonly at: Time;
  readonly handoff: string;
  readonly seq: number;
}

interface Head {
  readonly format: number;
  /** What the chunks were made with. */
  readonly half_life_ms: Duration;
  readonly chunk_pairs: number;
  readonly mark: Mark;
}

export interface SnapshotOptions {
  readonly namespace: string;
  readonly half_life_ms: Duration;
  readonly chunk_pairs: number;
}

export class Snapshot {
  readonly #options: SnapshotOptions;
  /** By key, as the store knows them. */
  readonly #versions = new Map<string, number>();

  constructor(options: SnapshotOptions) {
    this.#options = options;
  }

  /** Called again where it is not known what is on disk. */
  learnVersions(records: readonly StoredRecord[]): void {
    this.#versions.clear();
    for (const { key, version } of records) this.#versions.set(key, version);
  }

  /** The chunks that the store has. */
  storedChunks(): readonly number[] {
    return [...this.#versions.keys()].filter((key) => key.startsWith(chunk_prefix)).map(numberOf);
  }

  /** The version of the record that every write is part of, and up to where it goes. */
  head(records: readonly StoredRecord[]): { readonly version: number; readonly mark: Mark | null } {
    const found = records.find(({ key }) => key === head_key);
    const head = found?.value as Head | undefined;
    return { version: found?.version ?? 0, mark: head !== undefined && this.#isOurs(head) ? head.mark : null };
  }

  get head_version(): number {
    return this.#versions.get(head_key) ?? 0;
  }

  /** Fills `pairs` and says up to where they go; null: there is nothing that could be used. */
  restore(records: readonly StoredRecord[], pairs: Pairs): Mark | null {
    const head = records.find(({ key }) => key === head_key)?.value as Head | undefined;
    const chunks = records.filter(({ key }) => key.startsWith(chunk_prefix));
    if (head === undefined || !this.#isOurs(head)) {
      // They are no longer true, and must go with the next write.
      pairs.changedStill(chunks.map(({ key }) => numberOf(key)));
      return null;
    }
    for (const { key, value } of chunks) pairs.restore(numberOf(key), value as readonly (StoredPair | null)[]);
    pairs.restored();
    return head.mark;
  }

  /** What makes the store know these chunks, and the figures as they are at this moment. */
  writes(pairs: Pairs, chunks: readonly number[], mark: Mark): readonly RecordWrite[] {
    const { half_life_ms, chunk_pairs } = this.#options;
    const head: Head = { format, half_life_ms, chunk_pairs, mark };
    const changed = chunks.map((number) => this.#write(`${chunk_prefix}${number}`, pairs.chunk(number)));
    // What is gone and was never written need not be deleted.
    const needed = changed.filter(({ value, expected_version }) => value !== undefined || expected_version > 0);
    return [...needed, this.#write(head_key, head)];
  }

  written(writes: readonly RecordWrite[]): void {
    for (const { key, value, expected_version } of writes) {
      if (value === undefined) this.#versions.delete(key);
      else this.#versions.set(key, expected_version + 1);
    }
  }

  #write(key: string, value: unknown): RecordWrite {
    const { namespace } = this.#options;
    return { namespace, kind: record_kind, key, expected_version: this.#versions.get(key) ?? 0, value };
  }

  #isOurs(head: Head): boolean {
    const { half_life_ms, chunk_pairs } = this.#options;
    return head.format === format && head.half_life_ms === half_life_ms && head.chunk_pairs === chunk_pairs;
  }
}

function numberOf(key: string): number {
  return Number(key.slice(chunk_prefix.length));
}
