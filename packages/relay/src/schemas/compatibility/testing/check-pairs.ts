/** Many pairs, drawn from a seed: how often each verdict is given, and every contradiction. */

import { hash } from "node:crypto";
import fc from "fast-check";
import type { Verdict } from "../compare.ts";
import { Tape } from "./tape.ts";
import { type Trial, tryPair } from "./trial.ts";

export interface Tally {
  pairs: number;
  /** Pairs of which the relay does not take one schema: they have no verdict. */
  refused: number;
  verdicts: Record<Verdict["kind"], number>;
  samples: number;
  /** Samples that fit the left schema of a proven pair: they could have refuted it. */
  held: number;
  /** Proven pairs of which no sample fits the left schema: nothing was tried. */
  vacuous: number;
  /** Samples that ajv alone judged too. */
  opinions: number;
  /** Pairs that were not refuted although a sample does it. */
  missed: number;
  contradictions: number;
}

/** What a pair and its values are made of. */
export const bytes = fc.noBias(fc.uint8Array({ maxLength: 1_000, size: "max" }));

const pairs_at_a_time = 500;

/** Until so many values were held against proofs. `found` is told of each pair with a contradiction, `progress` now and then. */
export function checkPairs(
  most: number,
  seed: number,
  found: (trial: Trial) => void,
  progress: (tally: Tally) => void = () => {},
): Tally {
  const tally: Tally = {
    pairs: 0,
    refused: 0,
    verdicts: { proven: 0, unknown: 0, refuted: 0 },
    samples: 0,
    held: 0,
    vacuous: 0,
    opinions: 0,
    missed: 0,
    contradictions: 0,
  };
  for (let round = 0; tally.held < most; round++) {
    for (const drawn of fc.sample(bytes, { seed: seedOf(seed, round), numRuns: pairs_at_a_time })) {
      if (tally.held >= most) break;
      const trial = tryPair(new Tape(drawn));
      count(tally, trial);
      if (trial.contradictions.length > 0) found(trial);
    }
    progress(tally);
  }
  return tally;
}

function count(tally: Tally, { verdict, samples, fit_left, opinions, missed, contradictions }: Trial): void {
  tally.pairs++;
  if (verdict === null) tally.refused++;
  else tally.verdicts[verdict.kind]++;
  tally.samples += samples;
  tally.opinions += opinions;
  if (verdict?.kind === "proven") tally.held += fit_left;
  if (verdict?.kind === "proven" && fit_left === 0) tally.vacuous++;
  if (missed) tally.missed++;
  tally.contradictions += contradictions.length;
}

/** Neighbouring seeds have nothing in common. */
function seedOf(seed: number, round: number): number {
  return hash("sha256", `${seed}/${round}`, "buffer").readInt32BE(0);
}

export function tallyText(tally: Tally): string {
  const { pairs, refused, verdicts, samples, held, vacuous, opinions, missed, contradictions } = tally;
  const judged = pairs - refused;
  const share = (part: number) => `${part} (${((100 * part) / Math.max(1, judged)).toFixed(2)} %)`;
  return [
    `pairs ${pairs}${refused === 0 ? "" : `, of which ${refused} hold a schema that the relay does not take`}`,
    `proven ${share(verdicts.proven)}, refuted ${share(verdicts.refuted)}, unknown ${share(verdicts.unknown)}`,
    `samples held against proofs ${held}, of ${samples} drawn, of which ajv alone judged ${opinions}`,
    `proven pairs of which no sample fits the left schema ${vacuous}; pairs that only a sample refutes ${missed}`,
    `contradictions ${contradictions}`,
  ].join("\n");
}
