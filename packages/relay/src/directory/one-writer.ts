/**
 * Of several nodes that count the same log, the one that writes what all of them counted. Whoever wrote last goes on; the others
 * wait longer than it does, and then only look whether something was written since. Where nothing was (the writer is gone), whoever
 * looks next writes. Between two that write at the same time the records' versions decide.
 */

/** Others wait so many times as long as the one that writes. */
const patience_of_others = 2;

export class OneWriter {
  readonly #is_shared: boolean;
  /** The version of the record that is part of every write, as this node last saw or wrote it. */
  #seen: number | null = null;
  #is_mine = false;

  constructor(is_shared: boolean) {
    this.#is_shared = is_shared;
  }

  /** How many times the usual pause to wait before the next write or look. */
  get patience(): number {
    return this.#is_shared && !this.#is_mine ? patience_of_others : 1;
  }

  /** Whether nobody else has written since the last look, or the last write of this node. */
  mayWrite(version: number): boolean {
    const is_as_seen = this.#seen === version;
    this.#seen = version;
    if (!is_as_seen) this.#is_mine = false;
    return is_as_seen;
  }

  wrote(version: number): void {
    this.#seen = version;
    this.#is_mine = true;
  }

  /** Another was faster. */
  lost(): void {
    this.#seen = null;
    this.#is_mine = false;
  }
}
