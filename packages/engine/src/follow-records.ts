/**
 * Which records other nodes wrote to a shared store: told to whoever keeps records in memory. Only their names: whoever is told
 * reads them when nobody there is half-way between reading and writing them, and so never takes an old one for the newest.
 */

import { engineLimits } from "./limits.ts";
import type { RecordName, Sharing } from "./store.ts";

/** Of whoever keeps records in memory. */
export interface RecordsFollowed {
  /** Where the changes ended before anything was read into memory. */
  readonly after: number;
  /** Must not wait for anything. Null: which ones is not known, it may be all. */
  readonly tell: (names: readonly RecordName[] | null) => void;
}

export class FollowRecords {
  readonly #sharing: Sharing;
  readonly #tell: RecordsFollowed["tell"];
  readonly #limit: number;
  #after: number;
  #looking: Promise<void> = Promise.resolve();

  private constructor(sharing: Sharing, { after, tell }: RecordsFollowed, limit: number) {
    this.#sharing = sharing;
    this.#tell = tell;
    this.#limit = limit;
    this.#after = after;
  }

  /** Null: nobody else writes, or nobody here wants to know. */
  static of(sharing?: Sharing, followed?: RecordsFollowed, limit = engineLimits.follow_records): FollowRecords | null {
    return sharing === undefined || followed === undefined ? null : new FollowRecords(sharing, followed, limit);
  }

  /** Whatever was committed before this was called has been told when it resolves. One look after the other. */
  look(): Promise<void> {
    const mine = this.#looking.then(() => this.#look());
    this.#looking = mine.catch(() => {});
    return mine;
  }

  /** All that is new is told at once: what was committed together is not told in parts. */
  async #look(): Promise<void> {
    const names: RecordName[] = [];
    let after = this.#after;
    for (;;) {
      const changed = await this.#sharing.changedRecords(after, this.#limit);
      if (changed === null) {
        this.#after = await this.#sharing.recordHead();
        return this.#tell(null);
      }
      names.push(...changed.names);
      after = changed.after;
      if (!changed.is_cut) break;
    }
    this.#after = after;
    if (names.length > 0) this.#tell(names);
  }
}
