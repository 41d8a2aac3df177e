/**
 * Makes a failing seed smaller: fewer handoffs, then fewer faults, as long as the same promise is broken. What is left
 * is what it takes.
 */

import { isFaultName, noFaults } from "../scenario/faults.ts";
import { type Failure, failureOf, type SeedsOptions, setupOf } from "./run-seeds.ts";
import { simulate } from "./simulate.ts";

const least_handoffs = 1;

export async function shrink(failure: Failure, onLine: (line: string) => void): Promise<Failure> {
  let smallest = failure;
  const breaksToo = async (change: Partial<SeedsOptions>): Promise<boolean> => {
    const found = await failing({ ...optionsOf(smallest), ...change });
    if (found?.invariant !== failure.invariant) return false;
    smallest = found;
    onLine(`still broken with ${found.handoffs} handoffs, without ${found.without.join(", ") || "nothing"}`);
    return true;
  };
  const fewer = async () => {
    for (let step = Math.ceil(smallest.handoffs / 2); step >= 1; ) {
      const handoffs = smallest.handoffs - step;
      if (handoffs < least_handoffs || !(await breaksToo({ handoffs }))) step = step === 1 ? 0 : Math.ceil(step / 2);
    }
  };
  await fewer();
  for (const name of faultNames) await breaksToo({ without: [...smallest.without, name] });
  await fewer();
  return smallest;
}

const faultNames = Object.keys(noFaults).filter(isFaultName);

async function failing(options: SeedsOptions): Promise<Failure | null> {
  const result = await simulate({ ...setupOf(options, options.first), trace: true });
  return failureOf(options, result, null);
}

function optionsOf({ seed, handoffs, without, mistake }: Failure): SeedsOptions {
  return { first: seed, seeds: 1, handoffs, without, mistake };
}
