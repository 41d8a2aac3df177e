/** One check over one transport: its stage, its time, and what came of it. */

import { Broken, Unreached } from "../broken.ts";
import type { Check, Transport } from "../check.ts";
import { Stage } from "../stage/stage.ts";
import { NotRestarted } from "../untriable.ts";
import type { Presence } from "./presence.ts";
import type { Pulse } from "./pulse.ts";
import type { RelayUnderTest } from "./relay-under-test.ts";
import { type Failure, mistake, type Verdict } from "./verdict.ts";

export interface Run {
  readonly check: Check;
  readonly transport: Transport;
}

/** What all checks of a relay share. */
export interface Trial {
  readonly relay: RelayUnderTest;
  /** Begins the names of all agents. */
  readonly prefix: string;
  /** Restarts the relay, together with the other checks that wait for it. */
  readonly restart: () => Promise<void>;
  readonly pulse: Pulse;
  readonly presence: Presence;
  /** Told why something cannot be tried that should be. */
  readonly onHindrance: (why: string) => void;
}

const longest_check_ms = 90_000;
const most_tries = 3;

/** Again, a few times, where it broke while the relay stood still. A restart is shared with others, so that is not. */
export async function tryOne(trial: Trial, run: Run): Promise<Verdict> {
  const { presence, pulse, relay, onHindrance } = trial;
  if (presence.isGone) return { outcome: "not_tried", reason: "the relay had gone away" };
  const most = run.check.needs?.some((need) => need.endsWith("restart")) === true ? 1 : most_tries;
  for (let tries = 1; ; tries += 1) {
    const began = performance.now();
    const verdict = await tryOnce(trial, run, tries);
    if (verdict.outcome !== "broken") return verdict;
    if (await presence.isGoneNow()) {
      onHindrance(`${relay.url} went away`);
      return { outcome: "not_tried", reason: "the relay went away while it was tried" };
    }
    if (tries === most || !pulse.hasStalledSince(began)) return verdict;
  }
}

async function tryOnce(trial: Trial, { check, transport }: Run, tries: number): Promise<Verdict> {
  const { relay, prefix, restart, onHindrance } = trial;
  const began = performance.now();
  const name = `${prefix}${tries === 1 ? "" : tries}-${check.id.toLowerCase()}-${transport === "http" ? "h" : "w"}`;
  const stage = new Stage({ relay, transport, prefix: name, restart });
  const took_ms = () => performance.now() - began;
  try {
    await inTime(check.run(stage));
    return { outcome: "kept", took_ms: took_ms(), tries };
  } catch (error) {
    if (!(error instanceof NotRestarted)) {
      return { outcome: "broken", took_ms: took_ms(), failure: failureOf(error, stage) };
    }
    const [what = ""] = error.message.split("\n");
    onHindrance(what);
    return { outcome: "not_tried", reason: error.message };
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
