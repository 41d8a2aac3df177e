/** What was found out about schemas, as it is said to a person. */

import type { SchemaVerdict } from "@handfast/protocol/wire";
import type { Verdicts } from "./schema-judge.ts";

/** A value that is longer is shown by its beginning. */
const value_chars = 200;

/** Of what is proven or unknown. */
export function schemaWords({ input, output }: Verdicts): readonly string[] {
  return [
    ...sentence(input, "It takes what you have", "Whether it takes what you have"),
    ...sentence(output, "It gives what you want", "Whether it gives what you want"),
  ];
}

function sentence(verdict: SchemaVerdict, proven: string, unknown: string): readonly string[] {
  if (verdict.verdict === "proven")
    return [`${proven}: proven${verdict.because === undefined ? "" : `, ${verdict.because}`}.`];
  if (verdict.verdict === "unknown") return [`${unknown} is unknown: ${placed(verdict)}.`];
  return [];
}

export function refutations({ input, output }: Verdicts): number {
  return (input.verdict === "refuted" ? 1 : 0) + (output.verdict === "refuted" ? 1 : 0);
}

/** Of what is refuted. */
export function refutedWords({ input, output }: Verdicts): readonly string[] {
  return [
    ...(input.verdict === "refuted" ? [`It does not take ${shown(input)}: ${placed(input)}.`] : []),
    ...(output.verdict === "refuted" ? [`It may give ${shown(output)}: ${placed(output)}.`] : []),
  ];
}

function placed({ path, because = "nobody can tell" }: SchemaVerdict): string {
  return path === undefined || path === "" ? because : `at ${path}, ${because}`;
}

function shown({ counterexample }: SchemaVerdict): string {
  const text = JSON.stringify(counterexample) ?? "nothing";
  return text.length > value_chars ? `${text.slice(0, value_chars)}…` : text;
}
