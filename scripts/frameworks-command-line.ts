/** The options of `npm run test:frameworks`. */

import { parseArgs } from "node:util";

/** The adapters by the environment of Python that their frameworks share; null: OpenClaw's is an npm package. */
const environments = {
  langgraph: "agents",
  autogen: "agents",
  agent_framework: "agents",
  crewai: "crewai",
  openclaw: null,
} as const;

export type Adapter = keyof typeof environments;

const adapters = Object.keys(environments) as Adapter[];

export const usage = `npm run test:frameworks -- [options]

The tests of the adapters that npm test leaves out, each with its framework installed: those in Python by pytest
(python/tests/adapters), then OpenClaw's with a real gateway.

  --only LIST  these adapters
  --help       this text

adapters: ${adapters.join(", ")}

The first run installs the frameworks into interop/.cache and adapters/openclaw (about 2 GB, needs the network).
Ends with 0 when every test passed, with 1 when one failed, with 64 for wrong options.
`;

export class UsageError extends Error {}

export interface CommandLine {
  readonly help: boolean;
  /** Folders of tests, by the environment that they run in. */
  readonly python: ReadonlyMap<string, readonly Adapter[]>;
  readonly openclaw: boolean;
}

export function readCommandLine(args: readonly string[]): CommandLine {
  const { help, only } = parsed(args);
  const wanted = only === undefined ? adapters : named(only);
  const python = new Map<string, Adapter[]>();
  for (const adapter of wanted) {
    const environment = environments[adapter];
    if (environment !== null) python.set(environment, [...(python.get(environment) ?? []), adapter]);
  }
  return { help, python, openclaw: wanted.includes("openclaw") };
}

function named(text: string): readonly Adapter[] {
  const names = text.split(",").map((name) => name.trim());
  const strangers = names.filter((name) => !adapters.some((adapter) => adapter === name));
  if (strangers.length === 0) return adapters.filter((adapter) => names.includes(adapter));
  throw new UsageError(`no adapter ${strangers.join(", ")}; there are ${adapters.join(", ")}`);
}

function parsed(args: readonly string[]) {
  try {
    const options = { only: { type: "string" }, help: { type: "boolean", default: false } } as const;
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
