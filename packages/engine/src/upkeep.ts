/** Once a second: how much room is left; now and then, what retention may drop. */

import type { Time } from "@handfast/core";
import type { Clock } from "./clock.ts";
import type { DiskRoom } from "./disk-room.ts";
import type { JobQueue } from "./jobs.ts";
import type { EngineLimits } from "./limits.ts";
import type { Store } from "./store.ts";

interface UpkeepOptions {
  readonly store: Store;
  readonly room: DiskRoom;
  readonly limits: EngineLimits;
  readonly jobs: Pick<JobQueue, "bytes">;
  readonly clock: Clock;
}

export class Upkeep {
  readonly #options: UpkeepOptions;
  #pruned_at: Time = 0;

  constructor(options: UpkeepOptions) {
    this.#options = options;
  }

  async lookAtDisk(): Promise<void> {
    const { store, room, jobs } = this.#options;
    room.seen((await store.space()).free_bytes, jobs.bytes);
  }

  async run(): Promise<void> {
    await this.lookAtDisk();
    const { store, limits, clock } = this.#options;
    if (clock.now() - this.#pruned_at < limits.prune_every_ms) return;
    this.#pruned_at = clock.now();
    const { events, keys } = await store.prune(clock.now(), clock.now() - limits.keep_events_ms, limits.prune_rows);
    // More is left than one short transaction may drop: go on at the next pulse.
    if (events >= limits.prune_rows || keys >= limits.prune_rows) this.#pruned_at = 0;
  }
}
