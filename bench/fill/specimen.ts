/** One handoff that waits and one that was done, as a real relay and a real client leave them: what a filled store is made of. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@handfast/client";
import type { Handoff } from "@handfast/core";
import type { Body } from "@handfast/engine";
import { openSqliteStore } from "@handfast/store-sqlite";
import { plainDisk } from "../disk/disk.ts";
import { makeKilobyte } from "../drive/kilobyte.ts";
import type { Say } from "../obtain/say.ts";
import { startRelay } from "../servers/relay.ts";

export interface Specimen {
  readonly handoff: Handoff;
  readonly bodies: readonly Body[];
}

export interface Specimens {
  readonly queued: Specimen;
  readonly finished: Specimen;
}

/** So that nothing ends by itself while the store is used. */
const longest = "30d";

export async function makeSpecimens(say: Say): Promise<Specimens> {
  const directory = mkdtempSync(join(tmpdir(), "handfast-specimen-"));
  const home = mkdtempSync(join(tmpdir(), "handfast-specimen-home-"));
  try {
    const ids = await leaveTwo(directory, home, say);
    return await read(directory, ids);
  } finally {
    rmSync(directory, { recursive: true, force: true });
    rmSync(home, { recursive: true, force: true });
  }
}

async function leaveTwo(directory: string, home: string, say: Say): Promise<{ queued: string; finished: string }> {
  const relay = await startRelay({ directory, disk: plainDisk, say });
  const open = (agent: string) => connect({ url: relay.url, agent, home });
  const [sender, worker] = [await open("filler"), await open("filled")];
  try {
    const serving = await worker.serve({ finished: () => makeKilobyte() }, { signals: false });
    const waits = await sender.send("backlog", makeKilobyte(), { timeout: longest, queueIfAbsent: true });
    const done = await sender.send("finished", makeKilobyte(), { timeout: longest });
    await done.result();
    await serving.stop();
    return { queued: waits.id, finished: done.id };
  } finally {
    await sender.close();
    await worker.close();
    await relay.stop();
  }
}

async function read(directory: string, ids: { queued: string; finished: string }): Promise<Specimens> {
  const store = await openSqliteStore({ directory });
  try {
    const specimen = async (id: string) => {
      const [handoff] = await store.load("default", [id]);
      if (handoff == null) throw new Error(`the relay left no handoff ${id}`);
      return { handoff, bodies: await store.bodies("default", id) };
    };
    return { queued: await specimen(ids.queued), finished: await specimen(ids.finished) };
  } finally {
    await store.close();
  }
}
