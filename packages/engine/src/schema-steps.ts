/** How far the schema of a store is, and what would bring it to the newest one. */

export interface SchemaStep {
  /** Counted from 1: this step leads from schema `step` − 1 to `step`. */
  readonly step: number;
  readonly name: string;
  /** The version of the code that knows so many steps is the oldest one that can use the schema after this one. */
  readonly oldest_reader: number;
  readonly applied: boolean;
}

export interface SchemaSteps {
  /** Where the store is, as it may be shown. */
  readonly place: string;
  /** The newest step that the store has; 0: it is not there yet. */
  readonly found: number;
  /** The newest step that this code knows. */
  readonly known: number;
  /** Those that this code knows, and those of the store that it does not. */
  readonly steps: readonly SchemaStep[];
}
