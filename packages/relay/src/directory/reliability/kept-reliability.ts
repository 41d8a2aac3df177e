/**
 * Measured reliability that survives the relay. Events are counted as they are committed; every few seconds what changed is
 * written, together with a mark: the last event that was counted. A relay that starts reads what was written, and then what
 * the log has after the mark. So each event counts once, wherever the process died.
 *
 * On a shared store every node counts the log of all, and one of them writes. Another that takes over writes everything: which
 * place in which chunk a pair has, each node decides for itself.
 */

import type { HandoffEvent, Time } from "@handfast/core";
import { type RecordWrite, readResumes, type Store, type Surroundings } from "@handfast/engine";
import type { RelayLimits } from "../../limits.ts";
import { OneWriter } from "../one-writer.ts";
import { Turns } from "../turns.ts";
import { Reliability, type ReliabilityOptions } from "./reliability.ts";
import { type ReplayOptions, recallHistory, recallLeases, replay } from "./replay.ts";
import { head_key, type Mark, record_kind, Snapshot } from "./snapshot.ts";

export interface KeptOptions {
  readonly namespace: string;
  readonly store: Pick<Store, "events" | "list" | "records" | "record" | "sharing">;
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

/** An event of a log that several nodes write. */
interface Told {
  readonly event: HandoffEvent;
  readonly resumed_at: Time;
  readonly pos: number;
}

export class KeptReliability {
  readonly figures: Reliability;
  readonly #options: KeptOptions;
  readonly #replay: ReplayOptions;
  readonly #snapshot: Snapshot;
  readonly #turns = new Turns();
  readonly #is_shared: boolean;
  readonly #writer: OneWriter;
  /** On a shared store: told and read events are counted one after the other. */
  readonly #counting = new Turns();
  #told: Told[] = [];
  /** Up to here the log was counted. */
  #pos = 0;
  /** Something that was told could not be counted: the log must be read. */
  #is_behind = false;
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
    this.#is_shared = store.sharing !== undefined;
    this.#writer = new OneWriter(this.#is_shared);
    this.figures = new Reliability({ limits, knownSince, hears_late: this.#is_shared });
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
    kept.#writer.mayWrite(kept.#snapshot.head_version);
    await kept.#catchUp(await readResumes(options.store));
    // Where others write meanwhile, what is held now may be newer than what was counted: events bring it along when they come.
    if (!kept.#is_shared) await recallLeases(kept.#replay, figures);
    return kept;
  }

  /** Events of one handoff, in order, once they are safe. */
  apply(events: readonly HandoffEvent[], resumed_at: Time, pos?: number): void {
    if (events[0]?.namespace !== this.#options.namespace) return;
    if (pos !== undefined) return this.#tell(events, resumed_at, pos);
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
    const catchUp = async () => this.#catchUp([...(await readResumes(store)), resumed_at]);
    await (this.#is_shared ? this.#counting.take(catchUp) : catchUp());
  }

  #tell(events: readonly HandoffEvent[], resumed_at: Time, pos: number): void {
    const isCounted = this.#told.length === 0;
    for (const event of events) this.#told.push({ event, resumed_at, pos });
    if (isCounted) void this.#counting.take(() => this.#countTold());
  }

  /** The log has them too: what cannot be counted now is read there with the next. */
  async #countTold(): Promise<void> {
    const told = this.#told;
    this.#told = [];
    try {
      if (this.#is_behind) await this.#catchUp(await readResumes(this.#options.store));
      for (const one of told) await this.#countOne(one);
      this.#is_behind = false;
      this.#writeLater();
    } catch (error) {
      this.#is_behind = true;
      this.#options.onUnwritten(error);
    }
  }

  async #countOne({ event, resumed_at, pos }: Told): Promise<void> {
    if (pos <= this.#pos) return;
    if (this.figures.lacks(event)) await recallHistory(this.#replay, this.figures, event.handoff, pos);
    this.figures.apply(event, resumed_at);
    this.#last = event;
    this.#pos = pos;
  }

  /** Writes what is not written yet. What is committed afterwards, the next start finds in the log. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelWrite?.();
    await this.#write();
  }

  async #catchUp(resumes: readonly Time[]): Promise<void> {
    const before = this.#marked();
    await replay(this.#replay, this.figures, before, resumes, (mark, pos) => {
      this.#mark = mark;
      this.#pos = pos;
    });
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
    this.#cancelWrite = this.#options.schedule(delay_ms * this.#writer.patience, () => {
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
      if (this.#is_shared && !(await this.#isMine())) return;
      const mark = this.#marked();
      const { pairs } = this.figures;
      if (mark === null || (mark === this.#written && !pairs.isChanged)) return;
      const chunks = pairs.takeChanged();
      this.#last_chunks = chunks.length;
      try {
        const is_written = await this.#put(this.#snapshot.writes(pairs, chunks, mark));
        if (is_written) this.#written = mark;
      } catch (error) {
        pairs.changedStill(chunks);
        this.#writeLater();
        if (!this.#isStopped) this.#options.onUnwritten(error);
      }
    });
  }

  async #put(writes: readonly RecordWrite[]): Promise<boolean> {
    const { put, store, namespace } = this.#options;
    if (await put(writes)) {
      this.#snapshot.written(writes);
      this.#writer.wrote(this.#snapshot.head_version);
      return true;
    }
    if (this.#is_shared) {
      this.#writer.lost();
      await this.#learnOthers();
      this.#writeLater();
      return false;
    }
    this.#snapshot.learnVersions(await store.records(namespace, record_kind));
    throw new Error("the figures of reliability were written by somebody else");
  }

  /** Whether this node is the one to write now; if not, when to look again. */
  async #isMine(): Promise<boolean> {
    const { store, namespace, onUnwritten } = this.#options;
    try {
      const record = await store.record(namespace, record_kind, head_key);
      const { version, mark } = this.#snapshot.head(record === null ? [] : [record]);
      const own = this.#marked();
      const is_mine = this.#writer.mayWrite(version);
      if (!is_mine) await this.#learnOthers();
      // Somebody has written all that this node knows.
      if (own === null || (mark?.handoff === own.handoff && mark.seq === own.seq)) return false;
      if (!is_mine) this.#writeLater();
      return is_mine;
    } catch (error) {
      if (!this.#isStopped) onUnwritten(error);
      this.#writeLater();
      return false;
    }
  }

  async #learnOthers(): Promise<void> {
    const { store, namespace } = this.#options;
    this.#snapshot.learnVersions(await store.records(namespace, record_kind));
    this.figures.pairs.allChanged();
    this.figures.pairs.changedStill(this.#snapshot.storedChunks());
  }
}
