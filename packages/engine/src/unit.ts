/** Builds one unit: what must be committed together. Later writes to the same handoff join the earlier one. */

import { type Decision, type Findable, findable, type Handoff, type Time, type Timing } from "@handfast/core";
import { bodyBytes } from "./body-cache.ts";
import { handoffKey } from "./cache.ts";
import type { Body, RecordWrite, Unit, Write } from "./store.ts";

export interface Pending {
  readonly expected_version: number;
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

export class UnitBuilder {
  readonly #pending = new Map<string, Pending>();
  readonly records: RecordWrite[] = [];
  bytes = 0;

  see(key: string): Handoff | undefined {
    return this.#pending.get(key)?.next;
  }

  put(
    before: Handoff | null,
    next: Handoff,
    decision: Decision,
    body: Body | null,
    artifacts: readonly string[],
  ): void {
    const key = handoffKey(next.accepted.namespace, next.accepted.id);
    const known = this.#pending.get(key);
    const pending = known ?? {
      expected_version: before?.version ?? 0,
      next,
      durable: false,
      find: null,
      events: [],
      bodies: [],
      artifacts: [],
      purge: false,
    };
    pending.next = next;
    pending.durable ||= decision.durable;
    pending.events.push(...decision.events);
    if (body !== null) {
      pending.bodies.push(body);
      this.bytes += bodyBytes(body);
    }
    pending.artifacts.push(...artifacts);
    pending.purge ||= decision.purge;
    this.#pending.set(key, pending);
  }

  get handoffs(): ReadonlyMap<string, Handoff> {
    return new Map([...this.#pending].map(([key, { next }]) => [key, next]));
  }

  get pending(): Iterable<Pending> {
    return this.#pending.values();
  }

  /** What goes to the store; null where nothing is worth a commit. */
  build(timing: Timing, now: Time, key_until: Time): Unit | null {
    const writes: Write[] = [];
    for (const pending of this.#pending.values()) {
      const { expected_version, next, durable, events, bodies, artifacts, purge } = pending;
      if (!durable) continue;
      const find = findable(next, timing, now);
      pending.find = find;
      writes.push({ expected_version, next, find, events, bodies, artifacts, purge: purge ? { key_until } : null });
    }
    return writes.length === 0 && this.records.length === 0 ? null : { writes, records: this.records };
  }
}
