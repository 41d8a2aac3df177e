/**
 * A relay that is killed under load with 100,000 open handoffs in its store, and started again: how long until it says it
 * is ready, and until a handoff of a client that was connected all along has gone through.
 */

import { cpSync } from "node:fs";
import { connect } from "@handfast/client";
import { plainDisk } from "../disk/disk.ts";
import { checkAnswer, makeKilobyte } from "../drive/kilobyte.ts";
import { filledStore } from "../fill/filled-store.ts";
import { measureAtOnce } from "../measure.ts";
import type { Say } from "../obtain/say.ts";
import { freePort } from "../servers/free-port.ts";
import { startRelay } from "../servers/relay.ts";
import type { Workspace } from "../workspace.ts";

export interface Recovery {
  readonly open_handoffs: number;
  /** The same relay on an empty store, to tell what of it is Node's own start. */
  readonly empty_ready_ms: number;
  readonly kills: readonly {
    /** From the start of the process. */
    readonly ready_ms: number;
    readonly first_handoff_ms: number;
  }[];
  readonly goal_ready_ms: number;
}

export interface RecoverySettings {
  readonly workspace: Workspace;
  readonly say: Say;
  readonly open_handoffs?: number;
  readonly kills?: number;
}

const goal_ready_ms = 3_000;
const load_seconds = 2;
const load_at_once = 64;
/** The others wait in the queue. */
const share_at_work = 0.2;

export async function measureRecovery(settings: RecoverySettings): Promise<Recovery> {
  const { workspace, say, open_handoffs = 100_000, kills = 3 } = settings;
  const working = Math.round(open_handoffs * share_at_work);
  const filled = await filledStore({ queued: open_handoffs - working, working, finished: 0 }, say);
  const [directory, home] = [workspace.folder("recovery"), workspace.folder("recovery-home")];
  cpSync(filled, directory, { recursive: true });
  const empty_ready_ms = await emptyStart(settings);
  const port = await freePort();
  const start = () => startRelay({ directory, disk: plainDisk, say, port });
  let relay = await start();
  const quiet = { onWarning: () => {}, onConnection: () => {} };
  const open = (agent: string) => connect({ url: relay.url, agent, home, patience: "120s", ...quiet });
  const [sender, worker] = [await open("sender"), await open("worker")];
  const output = makeKilobyte();
  const handoff = async () => {
    const handle = await sender.send("work", makeKilobyte(), { timeout: "120s" });
    checkAnswer(await handle.result(), output);
  };
  try {
    await worker.serve({ work: () => output }, { concurrency: load_at_once, signals: false });
    const took: { ready_ms: number; first_handoff_ms: number }[] = [];
    for (let nth = 1; nth <= kills; nth += 1) {
      const load = measureAtOnce(handoff, load_at_once, load_seconds);
      await new Promise((resolve) => setTimeout(resolve, load_seconds * 500));
      await relay.kill();
      const began = performance.now();
      const first = handoff().then(() => performance.now() - began);
      relay = await start();
      took.push({ ready_ms: Math.round(relay.ready_after_ms), first_handoff_ms: Math.round(await first) });
      await load;
      say(`recovery: kill ${nth} of ${kills}: ready after ${took.at(-1)?.ready_ms} ms`);
    }
    return { open_handoffs, empty_ready_ms, kills: took, goal_ready_ms };
  } finally {
    await Promise.all([sender.close(), worker.close()]);
    await relay.kill();
    for (const path of [directory, home]) workspace.remove(path);
  }
}

async function emptyStart({ workspace, say }: RecoverySettings): Promise<number> {
  const directory = workspace.folder("recovery-empty");
  const relay = await startRelay({ directory, disk: plainDisk, say });
  await relay.kill();
  workspace.remove(directory);
  return Math.round(relay.ready_after_ms);
}

export function recoveryLines({ open_handoffs, empty_ready_ms, kills, goal_ready_ms: goal }: Recovery): string {
  const line = ({ ready_ms, first_handoff_ms }: Recovery["kills"][number]) =>
    `  ready ${ready_ms} ms after the start of its process, a handoff through after ${first_handoff_ms} ms`;
  const head = `a relay killed under load with ${open_handoffs.toLocaleString("en")} open handoffs (goal: ready within ${goal} ms):`;
  return [head, ...kills.map(line), `  on an empty store: ready after ${empty_ready_ms} ms`].join("\n");
}
