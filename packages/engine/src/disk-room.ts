/**
 * Whether there is room on disk for what is asked. First submits are refused, then everything large: what is left is room for
 * every open handoff to end with a small body. Bytes are counted twice, because they go through the write-ahead log into
 * the database.
 */

import type { JobClass } from "./jobs.ts";
import type { EngineLimits } from "./limits.ts";

export class DiskRoom {
  readonly #limits: EngineLimits;
  /** Null: the store cannot tell. */
  free_bytes: number | null = null;
  /** Asked for since the disk was last looked at. */
  #unseen_bytes = 0;

  constructor(limits: EngineLimits) {
    this.#limits = limits;
  }

  /** The disk was looked at while so many bytes were still to be written. */
  seen(free_bytes: number | null, pending_bytes: number): void {
    this.free_bytes = free_bytes;
    this.#unseen_bytes = pending_bytes;
  }

  asked(bytes: number): void {
    this.#unseen_bytes += bytes;
  }

  lacks(jobClass: JobClass, bytes: number, open_handoffs: number): boolean {
    if (this.free_bytes === null || jobClass === "timer") return false;
    const { reserve_bytes, reserve_per_open_bytes, small_body_bytes } = this.#limits;
    const free = this.free_bytes - 2 * this.#unseen_bytes;
    const ends = open_handoffs * reserve_per_open_bytes;
    if (jobClass === "submit") return free - 2 * bytes < reserve_bytes + ends;
    return bytes > small_body_bytes && free - 2 * bytes < reserve_bytes / 2 + ends;
  }
}
