/** Takes a planned batch to the store, and notes with each of its units what became of it. */

import { type Duration, liveLease, stays, type Time } from "@handfast/core";
import type { Batch } from "./batch.ts";
import type { ClockMark } from "./clock-mark.ts";
import type { OtherNodes } from "./other-nodes.ts";
import type { Beat, Store, Unit, Write } from "./store.ts";
import type { Pending, UnitBuilder } from "./unit.ts";

interface CommitsOptions {
  readonly store: Store;
  readonly mark: ClockMark;
  /** Null: nobody else writes to the store. */
  readonly others: OtherNodes | null;
  /** Whether a worker asks here for work of this queue, or did so a moment ago. */
  readonly isAskedFor: (namespace: string, queue: string, now: Time) => boolean;
  readonly onCommit: ((units: number, took_ms: Duration) => void) | undefined;
}

export class Commits {
  readonly #options: CommitsOptions;

  constructor(options: CommitsOptions) {
    this.#options = options;
  }

  async commit(batch: Batch, key_until: Time): Promise<void> {
    const units: Unit[] = [];
    const sent: UnitBuilder[] = [];
    for (const builder of batch.units) {
      const unit = builder.build(batch.timing, batch.now, key_until);
      builder.result = "ok";
      if (unit === null) continue;
      units.push(unit);
      sent.push(builder);
    }
    const { others } = this.#options;
    if (others !== null) await this.#shared(others, batch, units, sent);
    else if (units.length > 0) await this.#alone(batch, units, sent);
  }

  async #alone(batch: Batch, units: readonly Unit[], sent: readonly UnitBuilder[]): Promise<void> {
    const { mark } = this.#options;
    const beside = mark.beside(units, batch.now, batch.timing.resumed_at);
    const results = await this.#send(beside === null ? units : [...units, beside], sent);
    if (beside !== null && results[sent.length] === "ok") mark.committed(beside);
  }

  /** Each write for itself: of one unit some may stay here, and others not. */
  #staying(unit: Unit, now: Time): Unit {
    const { isAskedFor } = this.#options;
    const isStaying = ({ next, find, expected_version }: Write) =>
      stays(next, find, expected_version === 0, (queue) => isAskedFor(next.accepted.namespace, queue, now));
    return unit.writes.some(isStaying)
      ? { ...unit, writes: unit.writes.map((write) => (isStaying(write) ? { ...write, stays: true } : write)) }
      : unit;
  }

  /** An empty commit leaves what was kept for this batch to other nodes. */
  async #shared(
    others: OtherNodes,
    batch: Batch,
    decided: readonly Unit[],
    sent: readonly UnitBuilder[],
  ): Promise<void> {
    const { resumed_at } = batch.timing;
    const units = decided.map((unit) => ({ ...this.#staying(unit, batch.now), resumed_at }));
    others.sending(units);
    const results = await this.#send(units, sent);
    others.unsent(units.filter((_, index) => results[index] !== "ok"));
    await this.#beat(batch);
  }

  /** Another node may have taken the lease away since it was read: then the beat is decided anew, on what is there. */
  async #beat(batch: Batch): Promise<void> {
    const beats = batch.units.flatMap((unit) =>
      unit.pending.flatMap((pending) => beatOf(pending, batch).map((beat) => ({ unit, beat }))),
    );
    if (beats.length === 0) return;
    const held = await this.#options.store.sharing?.beat(beats.map(({ beat }) => beat));
    for (const [index, { unit }] of beats.entries()) if (held?.[index] === false) unit.result = "conflict";
  }

  async #send(units: readonly Unit[], sent: readonly UnitBuilder[]): Promise<Awaited<ReturnType<Store["commit"]>>> {
    const { store, onCommit } = this.#options;
    const began = performance.now();
    const results = await store.commit(units);
    if (sent.length > 0) onCommit?.(sent.length, performance.now() - began);
    for (const [index, builder] of sent.entries()) builder.result = results[index] ?? "conflict";
    return results;
  }
}

/** What this decision changed that only beats: it is worth no commit, but every node must know, unless the same batch ended the lease. */
function beatOf({ durable, next }: Pending, batch: Batch): readonly Beat[] {
  const lease = durable ? null : liveLease(next);
  if (lease === null || liveLease(batch.latest(next))?.fence !== lease.fence) return [];
  const { namespace, id } = next.accepted;
  const { agent, worker, fence, beat_at } = lease;
  return [{ namespace, id, agent, worker, fence, at: beat_at, progress: next.progress }];
}
