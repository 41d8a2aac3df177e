/** Tries a relay: every check over every transport it is for, side by side, and those that need a restart together. */

import { randomBytes } from "node:crypto";
import { Broken, Unreached } from "../broken.ts";
import { type Check, type Need, type Transport, transportsOf } from "../check.ts";
import { Stage } from "../stage/stage.ts";
import { Pulse } from "./pulse.ts";
import { meetRelay, type RelayUnderTest } from "./relay-under-test.ts";
import { Rendezvous } from "./rendezvous.ts";
import { type ConformanceReport, type Failure, mistake, type Tried, type Verdict } from "./verdict.ts";

/** The relay to be tried, and what may be done to it. */
export interface Target {
  readonly url: string;
  /** Admits the checks' agents where the relay does not by itself, and does what only an operator may. */
  readonly operator_token: string | null;
  /** Kills the relay, as a loss of power would, and starts it again on its data; resolves when it is ready. */
  readonly restart: (() => Promise<void>) | null;
  /** Another relay of the same kind that keeps ended handoffs for seconds: see docs/conformance.md. */
  readonly short_lived: Omit<Target, "short_lived"> | null;
}

export interface RunOptions {
  readonly checks: readonly Check[];
  /** Told of each check as it is done. */
  readonly onTried?: (tried: Tried, done: number, of: number) => void;
}

interface Run {
  readonly check: Check;
  readonly transport: Transport;
}

/** Checks that wait for a clock cost nothing meanwhile; the others share the machine with the relay. */
const waiting_at_once = 32;
const busy_at_once = 6;
const longest_check_ms = 90_000;
const most_tries = 3;

export async function runConformance(target: Target, { checks, onTried }: RunOptions): Promise<ConformanceReport> {
  const began = performance.now();
  const prefix = `c${randomBytes(4).toString("hex")}`;
  const relay = await meetRelay(target.url, target.operator_token, prefix);
  const { short_lived } = target;
  const second =
    short_lived === null ? null : await meetRelay(short_lived.url, short_lived.operator_token, `${prefix}s`);
  const runs = checks.flatMap((check) => transportsOf(check).map((transport) => ({ check, transport })));
  const tried: Tried[] = [];
  const tell = (one: Tried) => {
    tried.push(one);
    onTried?.(one, tried.length, runs.length);
  };
  const possible: Run[] = [];
  for (const run of runs) {
    const verdict = whyNot(run, target, relay);
    if (verdict === null) possible.push(run);
    else tell({ ...run, verdict });
  }
  const needs = (run: Run, ...wanted: Need[]) => wanted.some((need) => run.check.needs?.includes(need));
  const ofSecond = possible.filter((run) => needs(run, "short_lived", "short_lived_restart"));
  const ofFirst = possible.filter((run) => !ofSecond.includes(run));
  await Promise.all([
    tryAll(relay, ofFirst, (run) => needs(run, "restart"), target.restart, prefix, tell),
    second === null
      ? null
      : tryAll(
          second,
          ofSecond,
          (run) => needs(run, "short_lived_restart"),
          short_lived?.restart ?? null,
          prefix,
          tell,
        ),
  ]);
  const order = new Map(checks.map((check, index) => [check, index]));
  tried.sort((a, b) => (order.get(a.check) ?? 0) - (order.get(b.check) ?? 0) || (a.transport < b.transport ? -1 : 1));
  return { url: relay.url, about: relay.about, took_ms: performance.now() - began, tried };
}

const withoutNeed: Readonly<Record<Need, string>> = {
  operator: "no operator's token was given (HANDFAST_OPERATOR_TOKEN or --operator-token-file)",
  restart: "no way to kill and start the relay was given (--restart)",
  short_lived: "no second relay with short retention was given (--short-lived)",
  short_lived_restart: "no way to kill and start a relay with short retention was given (--short-lived-restart)",
};

/** Null: it can be tried. */
function whyNot({ check, transport }: Run, target: Target, { about }: RelayUnderTest): Verdict | null {
  const { features = [], needs = [], mode } = check;
  const wanted = transport === "websocket" ? ["websocket", ...features] : features;
  const missing = wanted.filter((feature) => !about.features.includes(feature));
  if (missing.length > 0) return { outcome: "skipped", reason: `feature not offered: ${missing.join(", ")}` };
  if (mode !== undefined && mode !== about.mode) {
    return { outcome: "skipped", reason: `only in ${mode} mode; this relay is in ${about.mode} mode` };
  }
  const has: Readonly<Record<Need, boolean>> = {
    operator: target.operator_token !== null,
    restart: target.restart !== null,
    short_lived: target.short_lived !== null,
    short_lived_restart: target.short_lived?.restart != null,
  };
  const lacking = needs.find((need) => !has[need]);
  return lacking === undefined ? null : { outcome: "not_tried", reason: withoutNeed[lacking] };
}

type Tell = (tried: Tried) => void;

async function tryAll(
  relay: RelayUnderTest,
  runs: readonly Run[],
  needsRestart: (run: Run) => boolean,
  restart: (() => Promise<void>) | null,
  prefix: string,
  tell: Tell,
): Promise<void> {
  const rendezvous = new Rendezvous(restart ?? (() => Promise.reject(new Error("there is no way to restart it"))));
  const pulse = new Pulse(relay.url);
  const one = async (run: Run) => {
    const verdict = await tryOne(relay, run, prefix, () => rendezvous.meet(), pulse);
    tell({ ...run, verdict });
  };
  const plain = runs.filter((run) => !needsRestart(run));
  const waiting = plain.filter(({ check }) => check.waits === true);
  const busy = plain.filter(({ check }) => check.waits !== true);
  const watching = pulse.run();
  await Promise.all([side(waiting, waiting_at_once, one), side(busy, busy_at_once, one)]);
  pulse.stop();
  await watching;
  const restarting = runs.filter(needsRestart);
  for (const _ of restarting) rendezvous.join();
  await Promise.all(restarting.map((run) => one(run).finally(() => rendezvous.leave())));
}

/** So many at a time. */
async function side(runs: readonly Run[], at_once: number, one: (run: Run) => Promise<void>): Promise<void> {
  const left = [...runs];
  const worker = async () => {
    for (let run = left.shift(); run !== undefined; run = left.shift()) await one(run);
  };
  await Promise.all(Array.from({ length: Math.min(at_once, runs.length) }, worker));
}

/** Again, a few times, where it broke while the relay stood still. A restart is shared with others, so that is not. */
async function tryOne(
  relay: RelayUnderTest,
  run: Run,
  prefix: string,
  restart: () => Promise<void>,
  pulse: Pulse,
): Promise<Verdict> {
  const most = run.check.needs?.some((need) => need.endsWith("restart")) === true ? 1 : most_tries;
  for (let tries = 1; ; tries += 1) {
    const began = performance.now();
    const verdict = await tryOnce(relay, run, `${prefix}${tries === 1 ? "" : tries}`, restart);
    if (verdict.outcome === "kept") return { ...verdict, tries };
    if (tries === most || !pulse.hasStalledSince(began)) return verdict;
  }
}

async function tryOnce(
  relay: RelayUnderTest,
  { check, transport }: Run,
  prefix: string,
  restart: () => Promise<void>,
): Promise<Verdict> {
  const began = performance.now();
  const name = `${prefix}-${check.id.toLowerCase()}-${transport === "http" ? "h" : "w"}`;
  const stage = new Stage({ relay, transport, prefix: name, restart });
  const took_ms = () => performance.now() - began;
  try {
    await inTime(check.run(stage));
    return { outcome: "kept", took_ms: took_ms(), tries: 1 };
  } catch (error) {
    return { outcome: "broken", took_ms: took_ms(), failure: failureOf(error, stage) };
  } finally {
    stage.dispose();
  }
}

async function inTime(work: Promise<void>): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const late = new Broken(`the check to be done within ${longest_check_ms} ms`, "it goes on");
  const timer = setTimeout(() => reject(late), longest_check_ms);
  await Promise.race([work, promise]).finally(() => clearTimeout(timer));
}

/** A mistake of the suite itself is not the relay's: it is told as what it is. */
function failureOf(error: unknown, { journal }: Stage): Failure {
  const { exchanges } = journal;
  if (error instanceof Broken) return { expected: error.expected, got: error.got, exchanges };
  if (error instanceof Unreached) return { expected: "an answer of the relay", got: error.message, exchanges };
  const told = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { expected: mistake, got: told, exchanges };
}
