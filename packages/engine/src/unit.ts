/** Builds one unit: what must be committed together. Later writes to the same handoff join the earlier one. */

import {
  type Decision,
  type Findable,
  findable,
  type Handoff,
  liveLease,
  type Time,
  type Timing,
} from "@handfast/core";
import { bodyBytes } from "./body-cache.ts";
import { Expected } from "./expected.ts";
import { Names } from "./names.ts";
import type { Body, LogEntry, RecordWrite, Unit, UnitResult, Write } from "./store.ts";

export interface Pending {
  readonly expected_version: number;
  /** The newest sign of its holder that was known. */
  readonly heard: NonNullable<Write["heard"]> | null;
  next: Handoff;
  /** False: only memory is to change. */
  durable: boolean;
  /** Set when the unit is built. */
  find: Findable | null;
  readonly events: Write["events"][number][];
  readonly bodies: Body[];
  readonly artifacts: string[];
  purge: boolean;
}

function heardIn(before: Handoff | null): NonNullable<Write["heard"]> | null {
  const lease = before === null ? null : liveLease(before);
  return lease === null ? null : { fence: lease.fence, at: lease.beat_at };
}

export class UnitBuilder {
  readonly #pending: Pending[] = [];
  /** Made for the second handoff: most units have one. */
  #byName: Names<Pending> | null = null;
  readonly records: RecordWrite[] = [];
  readonly entries: LogEntry[] = [];
  /** What it was decided on besides what it writes. */
  readonly expected = new Expected();
  bytes = 0;
  /** What the store said; null until then. */
  result: UnitResult | null = null;

  see(namespace: string, id: string): Handoff | undefined {
    return this.#find(namespace, id)?.next;
  }

  put(
    before: Handoff | null,
    next: Handoff,
    decision: Decision,
    body: Body | null,
    artifacts: readonly string[],
  ): void {
    const { events, durable, purge } = decision;
    if (body !== null) this.bytes += bodyBytes(body);
    this.#join({
      expected_version: before?.version ?? 0,
      heard: heardIn(before),
      next,
      durable,
      find: null,
      events: [...events],
      bodies: body === null ? [] : [body],
      artifacts: [...artifacts],
      purge,
    });
  }

  /** What another unit, not part of the batch, holds becomes part of this one. */
  absorb(other: UnitBuilder): void {
    for (const pending of other.#pending) this.#join(pending);
    this.records.push(...other.records);
    this.entries.push(...other.entries);
    this.expected.add(other.expected);
    this.bytes += other.bytes;
  }

  get pending(): readonly Pending[] {
    return this.#pending;
  }

  /** What goes to the store; null where nothing is worth a commit. */
  build(timing: Timing, now: Time, key_until: Time): Unit | null {
    const writes: Write[] = [];
    for (const pending of this.#pending) {
      const { expected_version, heard, next, durable, events, bodies, artifacts, purge } = pending;
      if (!durable) continue;
      const find = findable(next, timing, now);
      pending.find = find;
      const kept = { events, bodies, artifacts, purge: purge ? { key_until } : null };
      writes.push({ expected_version, next, find, ...kept, ...(heard !== null && { heard }) });
    }
    const { records, entries } = this;
    if (writes.length === 0 && records.length === 0 && entries.length === 0) return null;
    const expects = this.expected.besides(writes);
    return { writes, records, ...(entries.length > 0 && { entries }), ...(expects !== null && { expects }) };
  }

  #find(namespace: string, id: string): Pending | undefined {
    if (this.#byName !== null) return this.#byName.get(namespace, id);
    const [only] = this.#pending;
    const accepted = only?.next.accepted;
    return accepted?.id === id && accepted.namespace === namespace ? only : undefined;
  }

  #join(pending: Pending): void {
    const { namespace, id } = pending.next.accepted;
    const known = this.#find(namespace, id);
    if (known !== undefined) {
      known.next = pending.next;
      known.durable ||= pending.durable;
      known.events.push(...pending.events);
      known.bodies.push(...pending.bodies);
      known.artifacts.push(...pending.artifacts);
      known.purge ||= pending.purge;
      return;
    }
    const [first] = this.#pending;
    if (first !== undefined && this.#byName === null) {
      this.#byName = new Names();
      this.#byName.set(first.next.accepted.namespace, first.next.accepted.id, first);
    }
    this.#byName?.set(namespace, id, pending);
    this.#pending.push(pending);
  }
}
