/** The plugin's configuration, as the manifest's schema has let it through; everything is optional. */

import { type ConnectOptions, type Duration, UsageError } from "@handfast/client";

export interface Settings {
  readonly connect: Pick<ConnectOptions, "url" | "agent" | "key" | "token" | "home">;
  readonly concurrency: number;
  /** Whether what the agent says to a late outcome goes to the channel of its session. */
  readonly replies_late: boolean;
  readonly capabilities: ReadonlyMap<string, Served>;
}

/** A capability that an agent of this gateway offers to others. */
export interface Served {
  readonly name: string;
  /** OpenClaw's id of the agent that does it. */
  readonly agent: string;
  readonly description?: string;
  readonly instructions?: string;
  readonly input?: object;
  readonly output?: object;
  readonly timeout?: Duration;
  readonly idempotent?: boolean;
  readonly tags?: readonly string[];
}

const default_concurrency = 4;

export function readSettings(config: unknown): Settings {
  const { concurrency, late, capabilities, ...connect } = record(config ?? {}, "The plugin's config");
  const served = Object.entries(record(capabilities ?? {}, "capabilities")).map(([name, each]): [string, Served] => {
    const { agent, ...more } = record(each, `The capability ${name}`);
    return [name, { ...more, name, agent: typeof agent === "string" ? agent : "main" }];
  });
  return {
    connect,
    concurrency: typeof concurrency === "number" ? concurrency : default_concurrency,
    replies_late: late !== "quiet",
    capabilities: new Map(served),
  };
}

function record(value: unknown, what: string): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new UsageError(
    `${what} is ${JSON.stringify(value)}, not an object.`,
    "Look at plugins.entries.handfast.config in openclaw.json; docs/frameworks/openclaw.md shows one.",
  );
}
