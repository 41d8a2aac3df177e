/** What may be asked of a test relay: one JSON object in a line. */

import { CliError } from "../errors.ts";

/** `do` says what. Numbers are milliseconds; moments count from 1970. */
export type Order =
  | { readonly do: "settle" | "pause" }
  | { readonly do: "run"; readonly to: number }
  | { readonly do: "resume"; readonly empty: boolean }
  | { readonly do: "restart" | "restart_empty"; readonly down_ms: number }
  | { readonly do: "events"; readonly handoff: string | null }
  | { readonly do: "reset"; readonly seed: number | null; readonly start_at: number | null }
  | { readonly do: "stop" };

type Fields = Readonly<Record<string, unknown>>;

/** Which fields each takes, and what is made of them. */
const readers: { readonly [Name in Order["do"]]: readonly [string[], (fields: Fields) => Order] } = {
  settle: [[], () => ({ do: "settle" })],
  run: [["to"], (fields) => ({ do: "run", to: moment(fields, "to") })],
  pause: [[], () => ({ do: "pause" })],
  resume: [["empty"], ({ empty }) => ({ do: "resume", empty: empty === true })],
  restart: [["down_ms"], (fields) => ({ do: "restart", down_ms: optional(fields, "down_ms") ?? 0 })],
  restart_empty: [["down_ms"], (fields) => ({ do: "restart_empty", down_ms: optional(fields, "down_ms") ?? 0 })],
  events: [["handoff"], ({ handoff }) => ({ do: "events", handoff: typeof handoff === "string" ? handoff : null })],
  reset: [
    ["seed", "start_at"],
    (fields) => ({ do: "reset", seed: optional(fields, "seed"), start_at: optional(fields, "start_at") }),
  ],
  stop: [[], () => ({ do: "stop" })],
};

/** Throws where it is none. */
export function readOrder(line: string): Order {
  const fields = parsed(line);
  const name = String(fields["do"]);
  if (!Object.hasOwn(readers, name)) {
    throw wrong(`There is nothing to do called ${JSON.stringify(fields["do"] ?? null)}.`, Object.keys(readers));
  }
  const [known, read] = readers[name as Order["do"]];
  const strange = Object.keys(fields).find((field) => field !== "do" && !known.includes(field));
  if (strange !== undefined) throw wrong(`${name} takes no ${JSON.stringify(strange)}.`, ["do", ...known]);
  return read(fields);
}

function parsed(line: string): Fields {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
  } catch {
    // Told below, as for any other value that is no object.
  }
  throw new CliError("usage", "A line is no JSON object.", 'Write one such as {"do":"settle"} in each line.');
}

function moment(fields: Fields, name: string): number {
  const value = optional(fields, name);
  if (value === null) throw new CliError("usage", `${name} is missing.`, "Give whole milliseconds since 1970.");
  return value;
}

function optional(fields: Fields, name: string): number | null {
  const value = fields[name];
  if (value === undefined) return null;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw new CliError("usage", `${name} is ${JSON.stringify(value)}.`, "Give a whole number from 0 on.");
}

function wrong(message: string, known: readonly string[]): CliError {
  return new CliError("usage", message, `There are: ${known.join(", ")}.`);
}
