/**
 * What is known of time only by being written down: how late it was when something was committed that the log does not tell
 * of (a lease's next wake-up, a token), and when the relay came back. Without the first, a clock that was set ahead, and
 * back again between two starts, would leave times on disk that are long in coming; without the second, whoever reads the
 * log could not tell a lease that its holder lost from one that the relay's absence cost.
 */

import type { Time } from "@handfast/core";
import type { RecordWrite, Store, Unit } from "./store.ts";

/** The relay's own, in no agent's namespace. */
const place = { namespace: "", kind: "clock" } as const;
const now_key = "now";
const resumed_key = "resumed";
/** Comings back that are remembered, newest last. */
const resumes_kept = 32;

export class ClockMark {
  readonly #store: Store;
  #now_version = 0;
  #resumed_version = 0;
  #resumes: readonly Time[] = [];

  constructor(store: Store) {
    this.#store = store;
  }

  /** How late it was; 0: that was never written. Read anew whenever it is not known what is on disk. */
  async read(): Promise<Time> {
    const now = await this.#store.record(place.namespace, place.kind, now_key);
    const resumed = await this.#store.record(place.namespace, place.kind, resumed_key);
    this.#now_version = now?.version ?? 0;
    this.#resumed_version = resumed?.version ?? 0;
    this.#resumes = timesOf(resumed?.value);
    return typeof now?.value === "number" ? now.value : 0;
  }

  /** What must be committed beside these units; null: an event tells the time, and of the coming back disk knows. */
  beside(units: readonly Unit[], now: Time, resumed_at: Time): Unit | null {
    const is_told = units.some(
      ({ writes, entries = [] }) => entries.length > 0 || writes.some(({ events }) => events.length > 0),
    );
    const is_known = this.#resumes.at(-1) === resumed_at;
    if (is_told && is_known) return null;
    const records: RecordWrite[] = [];
    if (!is_told) records.push({ ...place, key: now_key, expected_version: this.#now_version, value: now });
    if (!is_known) {
      const value = [...this.#resumes, resumed_at].slice(-resumes_kept);
      records.push({ ...place, key: resumed_key, expected_version: this.#resumed_version, value });
    }
    return { writes: [], records };
  }

  committed({ records }: Unit): void {
    for (const { key, value } of records) {
      if (key === now_key) this.#now_version += 1;
      else {
        this.#resumed_version += 1;
        this.#resumes = timesOf(value);
      }
    }
  }
}

/**
 * When the relay started, stalled or was recovered, newest last: the latest times only. What was committed after one of them
 * was committed with it or after it.
 */
export async function readResumes(store: Pick<Store, "record">): Promise<readonly Time[]> {
  return timesOf((await store.record(place.namespace, place.kind, resumed_key))?.value);
}

function timesOf(value: unknown): readonly Time[] {
  return Array.isArray(value) ? value.filter((time) => typeof time === "number") : [];
}
