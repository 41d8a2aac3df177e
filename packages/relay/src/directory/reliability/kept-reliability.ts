/**
 * Measured reliability that survives the relay. Events are counted as they are committed; every few seconds what changed is
 * written, together with a mark: the last event that was counted. A relay that starts reads what was written, and then what
 * the log has after the mark. So each event counts once, wherever the process died.
 */

import type { HandoffEvent, Time } from "@handfast/core";
import { type RecordWrite, readResumes, type Store, type Surroundings } from "@handfast/engine";
import type { RelayLimits } from "../../limits.ts";
import { Turns } from "../turns.ts";
import { Reliability, type ReliabilityOptions } from "./reliability.ts";
import { type ReplayOptions, recallLeases, replay } from "./replay.ts";
import { type Mark, record_kind, Snapshot } from "./snapshot.ts";

export interface KeptOptions {
  readonly namespace: string;
  readonly store: Pick<Store, "events" | "list" | "records" | "record">;
  /** All of them in one commit, or none. False: a version was not as expected. */
  readonly put: (writes: readonly RecordWrite[]) => Promise<boolean>;
  /** False: what can do without should not be written now. The log has it all. */
  readonly hasRoom: () => boolean;
  readonly schedule: Surroundings["schedule"];
  readonly limits: RelayLimits;
  readonly knownSince: ReliabilityOptions["knownSince"];
  /** It could not be written; it is tried again. */
  readonly onUnwritten: (error: unknown) => void;
}

export class KeptReliability {
  readonly figures: Reliability;
  readonly #options: KeptOptions;
  readonly #replay: ReplayOptions;
  readonly #snapshot: Snapshot;
  readonly #turns = new Turns();
  #mark: Mark | null = null;
  /** The last event that was told and is not part of the mark yet: made into one when it is needed. */
  #last: HandoffEvent | null = null;
  /** What the store has. */
  #written: Mark | null = null;
  /** How many records the last write was of. */
  #last_chunks = 0;
  #cancelWrite: (() => void) | null = null;
  #isStopped = false;

  private constructor(options: KeptOptions) {
    const { namespace, store, limits, knownSince } = options;
    this.#options = options;
    this.#replay = { store, namespace, first_events: limits.reliability_first_events };
    this.figures = new Reliability({ limits, knownSince });
    this.#snapshot = new Snapshot({
      namespace,
      half_life_ms: limits.reliability_half_life_ms,
      chunk_pairs: limits.reliability_chunk_pairs,
    });
  }

  /** To be called before anything is committed: from then on every event is told by `apply`. */
  static async open(options: KeptOptions): Promise<KeptReliability> {
    const kept = new KeptReliability(options);
    const { figures } = kept;
    const records = await options.store.records(options.namespace, record_kind);
    kept.#snapshot.learnVersions(records);
    kept.#written = kept.#snapshot.restore(records, figures.pairs);
    kept.#mark = kept.#written;
    figures.restored();
    await kept.#catchUp(await readResumes(options.store));
    await recallLeases(kept.#replay, figures);
    return kept;
  }

  /** Events of one handoff, in order, once they are safe. */
  apply(events: readonly HandoffEvent[], resumed_at: Time): void {
    if (events[0]?.namespace !== this.#options.namespace) return;
    for (const event of events) {
      this.figures.apply(event, resumed_at);
      this.#last = event;
    }
    if (this.#cancelWrite === null) this.#writeLater();
  }

  /** After a commit of which nobody knew what is on disk: the log says what became of it, and the store of our own writes. */
  async reread(resumed_at: Time): Promise<void> {
    const { store, namespace } = this.#options;
    this.#snapshot.learnVersions(await store.records(namespace, record_kind));
    await this.#catchUp([...(await readResumes(store)), resumed_at]);
  }

  /** Writes what is not written yet. What is committed afterwards, the next start finds in the log. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelWrite?.();
    await this.#write();
  }

  async #catchUp(resumes: readonly Time[]): Promise<void> {
    const before = this.#marked();
    this.#mark = await replay(this.#replay, this.figures, before, resumes);
    if (this.#mark !== before || this.figures.pairs.isChanged) this.#writeLater();
  }

  #marked(): Mark | null {
    if (this.#last !== null) {
      const { at, handoff, seq } = this.#last;
      this.#mark = { at, handoff, seq };
      this.#last = null;
    }
    return this.#mark;
  }

  #writeLater(): void {
    if (this.#isStopped || this.#cancelWrite !== null) return;
    const { reliability_write_ms, reliability_write_chunks } = this.#options.limits;
    const delay_ms = reliability_write_ms * Math.max(1, this.#last_chunks / reliability_write_chunks);
    this.#cancelWrite = this.#options.schedule(delay_ms, () => {
      void this.#write();
    });
  }

  /** One write at a time: the next is made when it is known what became of the last. */
  #write(): Promise<void> {
    return this.#turns.take(async () => {
      // From here on, what is told belongs to the next write.
      this.#cancelWrite?.();
      this.#cancelWrite = null;
      if (!this.#options.hasRoom()) return this.#writeLater();
      const mark = this.#marked();
      const { pairs } = this.figures;
      if (mark === null || (mark === this.#written && !pairs.isChanged)) return;
      const chunks = pairs.takeChanged();
      this.#last_chunks = chunks.length;
      try {
        await this.#put(this.#snapshot.writes(pairs, chunks, mark));
        this.#written = mark;
      } catch (error) {
        pairs.changedStill(chunks);
        this.#writeLater();
        if (!this.#isStopped) this.#options.onUnwritten(error);
      }
    });
  }

  async #put(writes: readonly RecordWrite[]): Promise<void> {
    const { put, store, namespace } = this.#options;
    if (await put(writes)) return this.#snapshot.written(writes);
    this.#snapshot.learnVersions(await store.records(namespace, record_kind));
    throw new Error("the figures of reliability were written by somebody else");
  }
}
