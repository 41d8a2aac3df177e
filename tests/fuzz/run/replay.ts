/** Plays one episode, or a part of it, against a relay of its own. */

import { setTimeout } from "node:timers/promises";
import { gather } from "../cast/troupe.ts";
import { Episode, type Failure, type Script } from "./episode.ts";
import type { RelayOptions } from "./relay-under-fire.ts";
import { aim } from "./target.ts";

/** Alone on the relay nothing has to wait for others. */
const answer_within_ms = 8_000;
/** What the last input set going may fail a moment after its answer. */
const settle_ms = 300;

export interface Replayed {
  readonly failure: Failure | null;
  readonly episode: Episode;
}

export async function replay(script: Script, options: RelayOptions): Promise<Replayed> {
  const target = await aim({ ...options, seed: script.seed, answer_within_ms, slow_at_once: 1 });
  const { relay, honest, stage } = target;
  try {
    const troupe = await gather(relay.url, relay.operator_token, script.seed, 0);
    const episode = new Episode(stage, troupe, script);
    const trouble = new Promise<string>((resolve) => relay.onTrouble(resolve));
    const failure = await Promise.race([episode.play(), trouble.then((what) => episode.failure(what))]);
    // What went wrong with the relay says more than what came of it, and may be told a moment later.
    const late = await Promise.race([setTimeout(settle_ms, null), trouble]);
    episode.stop();
    const [fault] = honest.faults;
    if (late !== null) return { failure: episode.failure(late, failure?.played ?? null), episode };
    return { failure: failure ?? (fault === undefined ? null : episode.failure(fault)), episode };
  } finally {
    honest.abandon();
    await relay.dispose();
  }
}
