// What a look at a manifest finds: a fault, for which a relay would refuse it, or a warning about what its author may not mean.

export interface Finding {
  readonly kind: "fault" | "warning";
  /** Stable, in snake_case. */
  readonly rule: string;
  /** JSON pointer to where it is. */
  readonly path: string;
  /** What is wrong there, and with which value. */
  readonly message: string;
  /** What to do. */
  readonly remedy: string;
}

export type Report = (kind: Finding["kind"], rule: string, path: string, message: string, remedy: string) => void;

/** A value as a sentence holds it. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > shown_chars ? `${text.slice(0, shown_chars)}…` : text;
}

const shown_chars = 60;
