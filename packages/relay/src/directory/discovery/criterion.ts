/** One thing that a need asks for: whether a candidate has it, and how to say so. */

import type { Candidate } from "./candidate.ts";
import type { Entry } from "./entry.ts";

/** What there is to know of one without asking anybody: what it says, and how well its words fit. */
export interface Looked {
  readonly entry: Entry;
  readonly text: number;
}

export interface Criterion<Of = Candidate> {
  /** How far off one is that does not have it; 1 unless said. What is called otherwise is further off than what costs more. */
  readonly distance?: number;
  readonly meets: (candidate: Of) => boolean;
  /** Of one that does, in a sentence. */
  readonly why: (candidate: Of) => string;
  /** Of one that does not, in a sentence. */
  readonly lacks: (candidate: Of) => string;
}

/** The names of things in a sentence: "a, b and c". */
export function listed(names: readonly string[]): string {
  const last = names.at(-1) ?? "";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} and ${last}`;
}
