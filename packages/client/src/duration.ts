/** Durations as people write them: milliseconds as a number, or a number with its unit. */

import { UsageError } from "./errors.ts";
import { shown } from "./shown.ts";

/** Milliseconds, or a string such as `"250ms"`, `"60s"`, `"5m"`, `"2h"`, `"7d"`. */
export type Duration = number | `${number}${"ms" | "s" | "m" | "h" | "d"}`;

const unit_ms: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const shape = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)$/;

/** In whole milliseconds. `what` names the option in the error; more than `most_ms` is refused. */
export function toMilliseconds(duration: Duration | string, what: string, most_ms = Number.POSITIVE_INFINITY): number {
  const ms = typeof duration === "number" ? duration : parse(duration);
  if (ms > most_ms)
    throw new UsageError(`${what} is ${shown(duration)}, which is too long.`, `Give ${span(most_ms)} at most.`);
  if (Number.isFinite(ms) && ms >= 0) return Math.round(ms);
  throw new UsageError(
    `${what} is ${shown(duration)}, which is not a duration.`,
    'Give milliseconds as a number, or a text such as "250ms", "60s", "5m", "2h" or "7d".',
  );
}

/** In days or minutes, of which every limit is a whole number. */
function span(ms: number): string {
  const days = ms / 86_400_000;
  return Number.isInteger(days) ? `${days} days` : `${ms / 60_000} minutes`;
}

function parse(text: unknown): number {
  const [, number, unit] = (typeof text === "string" ? shape.exec(text.trim()) : null) ?? [];
  return Number(number) * (unit_ms[unit ?? ""] ?? Number.NaN);
}
