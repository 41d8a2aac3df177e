/** From what a person wrote to the value of an option, with its units. */

import { ConfigurationError } from "./configuration.ts";
import { didYouMean } from "./did-you-mean.ts";
import type { OptionKind } from "./options.ts";

export type OptionValue = string | number | boolean | readonly string[];

/** As text from flags and environment, or as a value from TOML. `where` names the place in messages. */
export function optionValue(kind: OptionKind, raw: unknown, where: string): OptionValue {
  const refuse = (what: string): never => {
    throw new ConfigurationError(`${where} is ${JSON.stringify(raw)}. It must be ${what}.`);
  };
  switch (kind.type) {
    case "text":
    case "path":
      if (typeof raw === "string" && raw !== "") return raw;
      return refuse(
        where.startsWith("--") ? "text, not empty; a variable that is not set gives nothing" : "text, not empty",
      );
    case "flag":
      if (raw === true || raw === "true" || raw === "1") return true;
      return raw === false || raw === "false" || raw === "0" ? false : refuse("true or false");
    case "choice": {
      if (typeof raw === "string" && kind.choices.includes(raw)) return raw;
      return refuse(`one of ${kind.choices.join(", ")}${didYouMean(String(raw), kind.choices)}`);
    }
    case "number": {
      const value = typeof raw === "string" && /^\d+$/.test(raw) ? Number(raw) : raw;
      const fits = typeof value === "number" && Number.isSafeInteger(value) && within(value, kind.least, kind.most);
      return fits ? value : refuse(`a whole number from ${kind.least} to ${kind.most}`);
    }
    case "duration": {
      const value = amount(raw, milliseconds);
      return value !== null && within(value, kind.least_ms, kind.most_ms)
        ? value
        : refuse(
            `a duration with its unit, such as 30s, 15m, 12h or 7d, from ${kind.least_ms} ms to ${kind.most_ms} ms`,
          );
    }
    case "size": {
      const value = amount(raw, bytes);
      return value !== null && within(value, kind.least_bytes, kind.most_bytes)
        ? value
        : refuse(`a size with its unit, such as 64MB or 1GB, from ${kind.least_bytes} to ${kind.most_bytes} bytes`);
    }
    case "list": {
      const list = typeof raw === "string" ? raw.split(",").map((item) => item.trim()) : raw;
      if (!Array.isArray(list)) return refuse("a list of texts");
      const texts = list.filter((item): item is string => typeof item === "string" && item !== "");
      return texts.length === list.length ? texts : refuse("a list of texts, none empty");
    }
    default:
      return kind satisfies never;
  }
}

const milliseconds: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const bytes: Readonly<Record<string, number>> = { b: 1, kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12 };

function amount(raw: unknown, units: Readonly<Record<string, number>>): number | null {
  const [, number, unit] = typeof raw === "string" ? (/^(\d{1,15})\s*([A-Za-z]+)$/.exec(raw) ?? []) : [];
  const factor = unit === undefined ? undefined : units[unit.toLowerCase()];
  return number === undefined || factor === undefined ? null : Number(number) * factor;
}

function within(value: number, least: number, most: number): boolean {
  return value >= least && value <= most;
}
