/** A known bug put back into the relay while its source is loaded, to see whether a test would have found it. */

export interface Bug {
  readonly name: string;
  readonly changes: readonly Change[];
}

/** `sound` must be in the file exactly once. */
interface Change {
  /** Below packages/. */
  readonly file: string;
  readonly sound: string;
  readonly broken: string;
}

/** What the hooks find it by. */
export const putBackVariable = "PUT_BACK";

/** The environment of a relay with this bug. */
export function withBug(bug: Bug): Readonly<Record<string, string>> {
  return {
    NODE_OPTIONS: `--import=${import.meta.resolve("./put-back-hooks.ts")}`,
    [putBackVariable]: JSON.stringify(bug),
  };
}
