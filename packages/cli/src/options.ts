/** What was given for the options of a command, read by name and kind. */

import { CliError } from "./errors.ts";
import { span } from "./moments.ts";

export class Options {
  readonly #values: ReadonlyMap<string, unknown>;

  /** By the long flag without its dashes: "timeout", "no-wait". Missing: not given. */
  constructor(values: ReadonlyMap<string, unknown>) {
    this.#values = values;
  }

  text(name: string): string | undefined {
    const value = this.#values.get(name);
    return value === undefined ? undefined : String(value);
  }

  flag(name: string): boolean {
    return this.#values.get(name) === true;
  }

  list(name: string): readonly string[] {
    const value = this.#values.get(name);
    return Array.isArray(value) ? value.map(String) : [];
  }

  number(name: string, least: number, most: number): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new CliError(
      "usage",
      `--${name} is ${JSON.stringify(text)}.`,
      `Give a whole number from ${least} to ${most}.`,
    );
  }

  /** In milliseconds. */
  duration(name: string, most_ms = Number.POSITIVE_INFINITY): number | undefined {
    const text = this.text(name);
    const ms = text === undefined ? undefined : milliseconds(text, `--${name}`);
    if (ms === undefined || ms <= most_ms) return ms;
    throw new CliError("usage", `--${name} is ${JSON.stringify(text)}.`, `Give ${span(most_ms)} at most.`);
  }
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** In milliseconds; null: it is none. */
export function readDuration(text: string): number | null {
  const [, amount, unit = ""] = /^(\d{1,12}(?:\.\d{1,3})?)(ms|s|m|h|d)$/.exec(text.trim()) ?? [];
  const factor = units[unit];
  return amount === undefined || factor === undefined ? null : Math.round(Number(amount) * factor);
}

function milliseconds(text: string, where: string): number {
  const ms = readDuration(text);
  if (ms !== null) return ms;
  throw new CliError(
    "usage",
    `${where} is ${JSON.stringify(text)}.`,
    "Give a duration with its unit, such as 250ms, 60s, 5m, 2h or 7d.",
  );
}
