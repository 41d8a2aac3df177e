/** Tries a relay: every check over every transport it is for, side by side, and those that need a restart together. */

import { randomBytes } from "node:crypto";
import { type Check, type Need, transportsOf } from "../check.ts";
import { Presence } from "./presence.ts";
import { Pulse } from "./pulse.ts";
import { meetRelay, type RelayUnderTest } from "./relay-under-test.ts";
import { Rendezvous } from "./rendezvous.ts";
import { type Run, type Trial, tryOne } from "./try-one.ts";
import type { ConformanceReport, Tried, Verdict } from "./verdict.ts";

/** The relay to be tried, and what may be done to it. */
export interface Target {
  readonly url: string;
  /** Admits the checks' agents where the relay does not by itself, and does what only an operator may. */
  readonly operator_token: string | null;
  /**
   * Kills the relay, as a loss of power would, and starts it again on its data; resolves when it is ready. Where it
   * rejects, what needs it counts as not tried, with the error's message as the reason.
   */
  readonly restart: (() => Promise<void>) | null;
  /** Another relay of the same kind that keeps ended handoffs for seconds: see docs/conformance.md. */
  readonly short_lived: Omit<Target, "short_lived"> | null;
}

export interface RunOptions {
  readonly checks: readonly Check[];
  /** Told of each check as it is done. */
  readonly onTried?: (tried: Tried, done: number, of: number) => void;
}

/** Checks that wait for a clock cost nothing meanwhile; the others share the machine with the relay. */
const waiting_at_once = 32;
const busy_at_once = 6;

/** Throws Unreached, NoRelay or NotAdmitted where the relay cannot be tried at all. */
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
  const hindrances = new Set<string>();
  const trialOf = (which: RelayUnderTest, restart: Target["restart"]) =>
    prepare(which, restart, prefix, (why) => hindrances.add(why));
  await Promise.all([
    tryAll(trialOf(relay, target.restart), ofFirst, (run) => needs(run, "restart"), tell),
    second === null
      ? null
      : tryAll(
          trialOf(second, short_lived?.restart ?? null),
          ofSecond,
          (run) => needs(run, "short_lived_restart"),
          tell,
        ),
  ]);
  const order = new Map(checks.map((check, index) => [check, index]));
  tried.sort((a, b) => (order.get(a.check) ?? 0) - (order.get(b.check) ?? 0) || (a.transport < b.transport ? -1 : 1));
  const cut_short = hindrances.size === 0 ? null : [...hindrances].join("; ");
  return { url: relay.url, about: relay.about, took_ms: performance.now() - began, tried, cut_short };
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

interface Prepared extends Trial {
  readonly rendezvous: Rendezvous;
}

function prepare(
  relay: RelayUnderTest,
  restart: Target["restart"],
  prefix: string,
  onHindrance: Trial["onHindrance"],
): Prepared {
  const { url } = relay;
  const presence = new Presence({ url, restart });
  const rendezvous = new Rendezvous(() => presence.restart());
  return {
    ...{ relay, prefix, presence, rendezvous, onHindrance },
    pulse: new Pulse(url),
    restart: () => rendezvous.meet(),
  };
}

async function tryAll(
  trial: Prepared,
  runs: readonly Run[],
  needsRestart: (run: Run) => boolean,
  tell: Tell,
): Promise<void> {
  const { pulse, rendezvous } = trial;
  const one = async (run: Run) => tell({ ...run, verdict: await tryOne(trial, run) });
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
