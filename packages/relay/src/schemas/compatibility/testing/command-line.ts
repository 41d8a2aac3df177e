/** The options of `npm run check-schemas`. */

import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";

export const usage = `npm run check-schemas -- [options]
  --samples N   go on until so many values were held against proofs (100000: some two minutes)
  --seed N      the same pairs of schemas, and the same values, again (drawn)
  --help        this text

Draws pairs of schemas, compares them, and tries each verdict with values. Ends with 0 when nothing contradicts a verdict,
with 1 and what does when something does, with 64 for wrong options.
`;

export class UsageError extends Error {}

export type CommandLine =
  | { readonly kind: "help" }
  | { readonly kind: "run"; readonly samples: number; readonly seed: number };

export function readCommandLine(args: readonly string[]): CommandLine {
  const values = parsed(args);
  if (values.help) return { kind: "help" };
  return {
    kind: "run",
    samples: whole("samples", values.samples, 1),
    seed: values.seed === undefined ? randomInt(2 ** 32) : whole("seed", values.seed, 0),
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        samples: { type: "string", default: "100000" },
        seed: { type: "string" },
        help: { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function whole(name: string, text: string, least: number): number {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(number) && number >= least) return number;
  throw new UsageError(`--${name} takes a whole number from ${least} on, not ${JSON.stringify(text)}`);
}
