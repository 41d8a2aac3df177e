/** A promise that was not kept, as a person is told of it: what the specification says, and what came instead. */

export class Broken extends Error {
  override name = "Broken";
  readonly expected: string;
  readonly got: string;
  /** Where an operation was expected to succeed and was answered otherwise, with what. */
  readonly status: number | null;

  constructor(expected: string, got: string, status: number | null = null) {
    super(`expected ${expected}; got ${got}`);
    this.expected = expected;
    this.got = got;
    this.status = status;
  }
}

/** The relay did not answer at all: its process is gone, or the connection broke. */
export class Unreached extends Error {
  override name = "Unreached";
}

const longest_shown = 400;

/** A value of a stranger, for a person: short, and on one line. */
export function shown(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing");
  return text.length > longest_shown ? `${text.slice(0, longest_shown)}… (${text.length} characters)` : text;
}

/** JSON of the relay; what is none breaks the promise that it is. */
export function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Broken(`${what} that is JSON`, shown(text));
  }
}
