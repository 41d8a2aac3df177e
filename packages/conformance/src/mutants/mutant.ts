/**
 * A mutant: the reference relay with one thing deliberately broken, to show that the suite would notice. The change is
 * made to a source file as Node loads it (`register.ts`); the relay itself holds no switch.
 */

import { stripTypeScriptTypes } from "node:module";

interface Edit {
  /** From the top of the repository. */
  readonly file: string;
  /** Stands in it exactly once. */
  readonly find: string;
  readonly replace: string;
}

export interface Mutant {
  readonly name: string;
  /** What is broken, in one sentence. */
  readonly breaks: string;
  /** The checks whose promise it breaks; each of them alone must notice. */
  readonly killed_by: readonly string[];
  readonly edits: readonly Edit[];
  /** It shows only on a relay with short retention. */
  readonly short_lived?: true;
}

/** The source as the mutant has it. A mutant that has rotten is refused loudly. */
export function mutate({ name, edits }: Mutant, file: string, source: string): string {
  let mutated = source;
  for (const { find, replace } of edits.filter((edit) => edit.file === file)) {
    const times = mutated.split(find).length - 1;
    if (times !== 1) {
      throw new Error(
        `The mutant ${name} has rotten: what it replaces stands ${times} times in ${file}, not once:\n${find}`,
      );
    }
    mutated = mutated.replace(find, () => replace);
  }
  try {
    stripTypeScriptTypes(mutated);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`The mutant ${name} makes no TypeScript of ${file}: ${why}`);
  }
  return mutated;
}
