/**
 * A crash run: a relay, workers and senders, each a process of its own, all of them killed again and again under load.
 * Then everybody heals, everything is drained, and what anybody was ever told is held against what the relay has kept.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { goesWithUs } from "../support/end-at-once.ts";
import { type Bug, withBug } from "../support/put-back.ts";
import { RelayProcess } from "../support/relay-process.ts";
import { type Cast, startCast } from "./cast.ts";
import { type Evidence, gatherEvidence } from "./evidence.ts";
import { readJournal } from "./journal.ts";
import { killThem, type Tally } from "./kills.ts";
import type { SenderLine } from "./lines.ts";
import { judge, type Verdict } from "./verdict.ts";

export interface CrashPlan {
  readonly relay: number;
  readonly worker: number;
  readonly sender: number;
  /** Told now and then how it goes. */
  readonly say: (line: string) => void;
  /** Put back into the relay, to see whether the run finds it. */
  readonly bug?: Bug;
}

export interface CrashReport extends Verdict {
  readonly kills: Readonly<Tally>;
  readonly took_ms: number;
  /** Where everything still lies; null: it was removed, since nothing was found. */
  readonly directory: string | null;
}

const generous = ["--requests-per-second", "100000", "--request-burst", "100000", "--log-level", "warn"];
const tell_every_ms = 10_000;
/** After the last kill: the longest lease, and a machine that is busy with something else. */
const drain_within_ms = 300_000;

export async function runCrashes(plan: CrashPlan): Promise<CrashReport> {
  const began = performance.now();
  const directory = mkdtempSync(join(tmpdir(), "handfast-crash-"));
  const keep = goesWithUs(directory);
  const kills: Tally = { relay: 0, worker: 0, sender: 0, starting: 0, relay_back_at: [] };
  const { violations, figures } = await crashAndJudge(plan, directory, kills, keep);
  const is_clean = violations.length === 0;
  if (is_clean) rmSync(directory, { recursive: true });
  keep();
  const took_ms = performance.now() - began;
  return { violations, figures, kills, took_ms, directory: is_clean ? null : directory };
}

/** `keep` is called once something was found: from then on not even a signal takes the folder away. */
async function crashAndJudge(plan: CrashPlan, directory: string, kills: Tally, keep: () => void): Promise<Verdict> {
  const cache = join(directory, "cache");
  const environment = plan.bug === undefined ? { NODE_COMPILE_CACHE: cache } : withBug(plan.bug);
  const relay = await RelayProcess.start(generous, join(directory, "data"), { environment });
  const failure = Promise.withResolvers<never>();
  const over = new AbortController();
  let cast: Cast = { workers: [], senders: [] };
  const everybody = () => [...cast.workers, ...cast.senders];
  const crash = async () => {
    // Compiled code is kept at an orderly end: the next starts are quicker.
    await relay.end("SIGTERM");
    await relay.start();
    cast = await startCast(relay.url, directory, cache, failure.reject);
    await killThem(plan, relay, cast, kills, over.signal);
    plan.say("no more kills: draining");
    await drain(cast, over.signal);
    return gatherEvidence(relay, everybody(), kills.relay_back_at);
  };
  const stopTelling = tellRegularly(plan.say, () => progressOf(cast, kills));
  const crashed = crash();
  try {
    const verdict = await judged(relay, Promise.race([failure.promise, crashed]));
    if (verdict.violations.length > 0) keep();
    return verdict;
  } finally {
    stopTelling();
    over.abort();
    await Promise.all(everybody().map((party) => party.dispose()));
    await Promise.allSettled([crashed]);
    await relay.end("SIGKILL");
  }
}

async function judged(relay: RelayProcess, evidence: Promise<Evidence>): Promise<Verdict> {
  try {
    const { violations, figures } = judge(await evidence);
    return { violations: [...violations, ...(await faultsOfStore(relay))], figures };
  } catch (error) {
    // A party that gave up, a relay that does not start, a drain that does not end: each is a finding.
    return { violations: [error instanceof Error ? error.message : String(error)], figures: {} };
  }
}

/** Senders finish first: what they wait for is done by workers. */
async function drain({ workers, senders }: Cast, signal: AbortSignal): Promise<void> {
  const finished = async () => {
    await Promise.all(senders.map((sender) => sender.finish()));
    await Promise.all(workers.map((worker) => worker.finish()));
  };
  const late = async () => {
    await sleep(drain_within_ms, undefined, { signal, ref: false });
    throw new Error(`not everything has ended ${drain_within_ms / 1_000} s after the last kill`);
  };
  await Promise.race([finished(), late()]);
}

/** As SQLite itself sees it, after a last kill; and the relay still starts on it. */
async function faultsOfStore(relay: RelayProcess): Promise<readonly string[]> {
  await relay.end("SIGKILL");
  const db = new DatabaseSync(join(relay.directory, "handfast.db"));
  const found = db.prepare("PRAGMA integrity_check").all();
  db.close();
  await relay.start();
  await relay.end("SIGTERM");
  return found.flatMap(({ integrity_check }) => (integrity_check === "ok" ? [] : [`the store: ${integrity_check}`]));
}

function progressOf({ senders }: Cast, { relay, worker, sender }: Tally): string {
  const lines = senders.flatMap(({ role }) => readJournal<SenderLine>(role.settings.journal));
  const accepted = lines.filter(({ said }) => said === "accepted").length;
  const taken = lines.filter(({ said }) => said === "taken").length;
  const killed = `killed the relay ${relay}, workers ${worker}, senders ${sender} times`;
  return `${killed}; ${accepted} accepted, ${taken} taken`;
}

function tellRegularly(say: (line: string) => void, progress: () => string): () => void {
  const began = performance.now();
  const seconds = () => Math.round((performance.now() - began) / 1_000);
  const timer = setInterval(() => say(`${seconds()} s: ${progress()}`), tell_every_ms);
  return () => clearInterval(timer);
}
