/**
 * Kills. One kill of a worker serves every sender that has work with it, and one of a sender every worker that it has given
 * work to: each pair has its own handoff and its own verdict, and a framework that takes half a minute to start is
 * started once.
 */

import { equal } from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { completedBy, type Pair, sendHeld } from "./pair.ts";

/** The shortest there is, so that a loss is noticed soon. */
const lease_ms = 2_000;
/** Long enough to see an outcome that is told twice. */
const listen_ms = 300;

export type Verdicts = ReadonlyMap<string, () => Promise<void>>;

/** Every sender's work is under way; the worker dies; a worker of another framework, offering the same, finishes. */
export async function killWorker(
  pairs: ReadonlyMap<string, Pair>,
  kill: () => Promise<void>,
  standIn: { readonly name: string; serve(): Promise<void> },
): Promise<Verdicts> {
  const begun = await begin(pairs, { lease_ms });
  await kill();
  for (const attempt of begun.values()) (await quiet(attempt))?.hold.go();
  await standIn.serve();
  return verdicts(pairs, begun, async (pair, { tag }) => {
    completedBy({ worker: standIn.name }, await pair.sender.heard(tag, "outcome"), "HELD");
  });
}

/** Work is under way with every worker; the sender dies, and starts again, and gets every outcome, once. */
export async function killSender(
  pairs: ReadonlyMap<string, Pair>,
  again: () => Promise<Pair["sender"]>,
): Promise<Verdicts> {
  const begun = await begin(pairs, {});
  const sender = await again();
  sender.tell({ resume: {} });
  for (const attempt of begun.values()) (await quiet(attempt))?.hold.go();
  return verdicts(pairs, begun, async (pair, { tag }) => {
    completedBy(pair, await sender.heard(tag, "outcome"), "HELD");
    await sleep(listen_ms);
    equal(sender.count(tag, "outcome"), 1, "the outcome was told more than once");
  });
}

type Begun = Awaited<ReturnType<typeof sendHeld>>;

/** One that could not begin fails alone. */
async function begin(
  pairs: ReadonlyMap<string, Pair>,
  more: { readonly lease_ms?: number },
): Promise<ReadonlyMap<string, Promise<Begun>>> {
  const begun = new Map([...pairs].map(([name, pair]) => [name, sendHeld(pair, more)]));
  await Promise.allSettled(begun.values());
  return begun;
}

/** Null: it failed, which its verdict tells. */
function quiet(attempt: Promise<Begun>): Promise<Begun | null> {
  return attempt.catch(() => null);
}

function verdicts(
  pairs: ReadonlyMap<string, Pair>,
  begun: ReadonlyMap<string, Promise<Begun>>,
  check: (pair: Pair, begun: Begun) => Promise<void>,
): Verdicts {
  return new Map(
    [...pairs].map(([name, pair]) => [
      name,
      async () => {
        const attempt = begun.get(name);
        if (attempt === undefined) throw new Error("it was not begun");
        await check(pair, await attempt);
      },
    ]),
  );
}
