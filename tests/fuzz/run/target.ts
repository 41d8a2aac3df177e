/** A relay that is ready to be fired at: with its honest agents, and what a run counts and keeps. */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { HonestAgents } from "../cast/honest.ts";
import { Slow } from "../inputs/slow.ts";
import type { Stage } from "../inputs/stage.ts";
import { Ledger } from "../judge/ledger.ts";
import { Tally } from "../judge/tally.ts";
import { RawSocket } from "../wire/raw-socket.ts";
import { type RelayOptions, RelayUnderFire } from "./relay-under-fire.ts";

const backups_in_a_run = 4;

export interface Target {
  readonly relay: RelayUnderFire;
  readonly honest: HonestAgents;
  readonly stage: Stage;
}

export interface TargetOptions extends RelayOptions {
  readonly seed: number;
  readonly answer_within_ms: number;
  /** Requests that are left half-sent at a time. */
  readonly slow_at_once: number;
}

export async function aim(options: TargetOptions): Promise<Target> {
  const { seed, answer_within_ms, slow_at_once } = options;
  const relay = await RelayUnderFire.start(options);
  try {
    const home = join(relay.room, "home");
    mkdirSync(home);
    const honest = await HonestAgents.start(relay.url, seed, home);
    const stage: Stage = {
      port: relay.port,
      url: relay.url,
      tally: new Tally(),
      ledger: new Ledger(),
      slow: new Slow(slow_at_once),
      honest_ids: honest.ids,
      backups_left: backups_in_a_run,
      has_addresses: await hasAddresses(relay.port),
      answer_within_ms,
    };
    return { relay, honest, stage };
  } catch (error) {
    await relay.dispose();
    throw error;
  }
}

async function hasAddresses(port: number): Promise<boolean> {
  try {
    const socket = await RawSocket.open(port, "127.1.2.3", () => {});
    socket.drop();
    return true;
  } catch {
    return false;
  }
}
