/** The disk of several simulated nodes keeps what a database that nodes share must keep. */

import { openSqliteStore } from "@handfast/store-sqlite";
import { describeSharedCommits } from "../../../engine/src/shared-commits.conformance.ts";
import { startOfTime } from "../../../engine/src/store.samples.ts";
import { Timeline } from "../world/timeline.ts";
import { SharedDisk } from "./shared-disk.ts";

describeSharedCommits("The simulated disk", async () => {
  const store = await openSqliteStore({ memory: true });
  const disk = new SharedDisk(store, new Timeline(startOfTime), {});
  const open = () => disk.openFor({ alive: true, step: async () => {} });
  return { one: open(), other: open(), close: () => store.close() };
});
