/** Why a job is not taken on now: there is more to do than memory may keep, or no room on disk for what it brings. */

import type { DiskRoom } from "./disk-room.ts";
import { EngineFault, outOfSpace } from "./fault.ts";
import type { Job, JobQueue } from "./jobs.ts";

/** `open`: how many handoffs are. Null: it is taken on. */
export function turnAway(job: Job, jobs: JobQueue, room: DiskRoom, open: number): EngineFault | null {
  if (jobs.isFull(job.class)) {
    return new EngineFault(429, "busy", "the relay has more to do than it may keep in memory; try again in a moment");
  }
  return room.lacks(job.class, job.bytes, open) ? outOfSpace() : null;
}
