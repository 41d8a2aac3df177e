/**
 * Three that kill: one the relay, one workers, one senders, each at moments that nobody else knows of. Each waits for
 * work to have gone on since its last kill, so that on a slow machine too every kill meets a load.
 */

import { statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { RelayProcess } from "../support/relay-process.ts";
import type { Cast } from "./cast.ts";
import type { Party } from "./party.ts";

export interface Tally {
  relay: number;
  worker: number;
  sender: number;
  /** Of those above, how many met a process that was still starting. */
  starting: number;
  /** When the relay was there again, in milliseconds since 1970. */
  readonly relay_back_at: number[];
}

type Kind = "relay" | "worker" | "sender";
type Span = readonly [least_ms: number, most_ms: number];

/** Before the next kill of a kind. */
const pause: Span = [100, 3_000];
/** Now and then the relay lives on for longer than the longest lease: each start of it gives every lease its full time anew. */
const rest: Span = [6_500, 8_000];
const rest_share = 0.1;
/** How long a killed party stays away: now and then for longer than a lease. */
const absence: Span = [0, 3_000];
const absence_share = 0.5;
/** After its start, for a kill that meets a process which is still starting. */
const starting: Span = [0, 500];
const starting_share = 0.15;
/** What senders write in their journals for about five handoffs: so much has to happen between two kills of a kind. */
const load_bytes = 3_000;
const look_every_ms = 50;
/** Nothing at all happening for so long is a finding. */
const standstill_ms = 180_000;

/** What is killed and started again. */
interface Victim {
  kill(): Promise<void>;
  /** Resolves once it is ready, or has ended before. */
  start(): Promise<void>;
  isReady(): boolean;
}

interface Hunt {
  readonly kind: Kind;
  readonly times: number;
  readonly tally: Tally;
  /** Grows with the work that is done. */
  readonly work: () => number;
  readonly signal: AbortSignal;
}

/** All three, each as often as it is told to; rejects when the signal says that the run is over. */
export async function killThem(
  times: Readonly<Record<Kind, number>>,
  relay: RelayProcess,
  { workers, senders }: Cast,
  tally: Tally,
  signal: AbortSignal,
): Promise<void> {
  const work = () => senders.reduce((bytes, { role }) => bytes + statSync(role.settings.journal).size, 0);
  const hunt = (kind: Kind): Hunt => ({ kind, times: times[kind], tally, work, signal });
  await Promise.all([
    killRelay(relay, hunt("relay")),
    killParties(workers, hunt("worker")),
    killParties(senders, hunt("sender")),
  ]);
}

async function killRelay(relay: RelayProcess, hunt: Hunt): Promise<void> {
  let is_ready = true;
  const victim: Victim = {
    kill: async () => {
      is_ready = false;
      await relay.end("SIGKILL");
    },
    start: async () => {
      try {
        await relay.start();
        is_ready = true;
        hunt.tally.relay_back_at.push(Date.now());
      } catch (error) {
        // Killed while it was starting; one that does not start by its own fault is not passed over.
        if (!relay.wasKilled) throw error;
      }
    },
    isReady: () => is_ready,
  };
  while (isOn(hunt)) {
    await lieInWait(hunt);
    await kill(victim, hunt);
    await victim.start();
  }
}

async function killParties(parties: readonly Party[], hunt: Hunt): Promise<void> {
  const away: Promise<void>[] = [];
  while (isOn(hunt)) {
    await lieInWait(hunt);
    const ready = parties.filter((party) => party.isReady());
    const party = ready[Math.floor(Math.random() * ready.length)];
    if (party === undefined) continue;
    await kill(party, hunt);
    // Others are killed while this one is away.
    away.push(comeBack(party, hunt.signal));
  }
  await Promise.all(away);
}

async function comeBack(party: Party, signal: AbortSignal): Promise<void> {
  if (Math.random() < absence_share) await sleep(within(absence), undefined, { signal });
  await party.start();
}

function isOn({ kind, times, tally }: Hunt): boolean {
  return tally[kind] < times;
}

async function lieInWait({ kind, work, signal }: Hunt): Promise<void> {
  const before = work();
  const until = performance.now() + standstill_ms;
  while (work() < before + load_bytes) {
    if (performance.now() > until) throw new Error(`hardly anything was sent or ended for ${standstill_ms / 1_000} s`);
    await sleep(look_every_ms, undefined, { signal });
  }
  await sleep(within(kind === "relay" && Math.random() < rest_share ? rest : pause), undefined, { signal });
}

/** And now and then again at once, while it is starting. */
async function kill(victim: Victim, hunt: Hunt): Promise<void> {
  const { kind, tally } = hunt;
  for (;;) {
    if (!victim.isReady()) tally.starting += 1;
    await victim.kill();
    tally[kind] += 1;
    if (!isOn(hunt) || Math.random() >= starting_share) return;
    await Promise.race([victim.start(), sleep(within(starting))]);
  }
}

function within([least_ms, most_ms]: Span): number {
  return least_ms + Math.random() * (most_ms - least_ms);
}
