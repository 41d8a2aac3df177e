/**
 * OpenClaw as this plugin sees it: the parts of its plugin interface that are used, in types of our own, so that the
 * project can be checked without 650 MB of OpenClaw. The tests run against the real one.
 */

import { UsageError } from "@handfast/client";
import manifest from "../package.json" with { type: "json" };

export interface Logger {
  debug?(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

export interface PluginApi {
  /** What it is loaded for: only in `full` and `discovery` there is a runtime. */
  readonly registrationMode?: string;
  readonly pluginConfig?: unknown;
  readonly logger: Logger;
  readonly runtime: Runtime;
  registerTool(make: (context: ToolContext) => readonly Tool[] | null, options: { readonly names: string[] }): void;
  registerService(service: Service): void;
}

interface Service {
  readonly id: string;
  start(): void | Promise<void>;
  stop(): void | Promise<void>;
}

export interface Runtime {
  readonly version?: string;
  readonly subagent?: Sessions;
  readonly state: { resolveStateDir(): string };
  readonly events?: {
    onAgentEvent(listener: (event: AgentEvent) => void): () => void;
  };
}

/** Turns in sessions. */
export interface Sessions {
  run(turn: Turn): Promise<{ readonly runId: string }>;
  /** `timeout` and `pending`: it goes on. */
  waitForRun(wait: { readonly runId: string; readonly timeoutMs: number }): Promise<Waited>;
  getSessionMessages(wanted: {
    readonly sessionKey: string;
    readonly limit?: number;
  }): Promise<{ readonly messages: readonly unknown[] }>;
}

interface Turn {
  readonly sessionKey: string;
  readonly message: string;
  readonly extraSystemPrompt?: string;
  readonly lane?: string;
  /** Whether the reply goes to the channel of the session. */
  readonly deliver?: boolean;
  /** A second run with the same key is the first one. */
  readonly idempotencyKey?: string;
  readonly toolsAlsoAllow?: string[];
}

interface Waited {
  readonly status: "ok" | "error" | "timeout" | "pending";
  readonly error?: string;
  readonly endedAt?: number;
}

export interface AgentEvent {
  readonly runId: string;
  readonly stream: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly sessionKey?: string;
}

/** Who calls a tool. */
export interface ToolContext {
  readonly agentId?: string;
  readonly sessionKey?: string;
  readonly sessionId?: string;
  /** Where replies of the session go. */
  readonly deliveryContext?: { readonly channel?: string; readonly to?: string };
}

export interface Tool {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly parameters: object;
  execute(
    callId: string,
    parameters: Readonly<Record<string, unknown>>,
    signal?: AbortSignal,
    onUpdate?: (partial: ToolResult) => void,
  ): Promise<ToolResult>;
}

export interface ToolResult {
  readonly content: readonly { readonly type: "text"; readonly text: string }[];
  readonly details: unknown;
}

/** The oldest that was tried, and the first that is not expected to fit. */
const least = [2026, 9, 0] as const;
const beyond = [2027, 9, 0] as const;

/** What of OpenClaw turns need; throws where this is no OpenClaw that the plugin fits. */
export function checkHost(runtime: Runtime): Sessions {
  const found = runtime.version ?? "unknown";
  const wanted = `from ${least.join(".")} to before ${beyond.join(".")}`;
  const misfit = (why: string) =>
    new UsageError(
      `${manifest.name} ${manifest.version} does not fit OpenClaw ${found}: ${why}.`,
      `Use OpenClaw ${wanted}, or a version of ${manifest.name} that fits OpenClaw ${found}.`,
      "framework_version",
    );
  const version = /^v?(\d+)\.(\d+)\.(\d+)/.exec(found)?.slice(1).map(Number);
  if (version === undefined) throw misfit(`its version cannot be read; wanted is ${wanted}`);
  if (isBefore(version, least)) throw misfit(`it is too old; wanted is ${wanted}`);
  if (!isBefore(version, beyond)) throw misfit(`it is too new; wanted is ${wanted}`);
  const { subagent } = runtime;
  if (subagent === undefined) throw misfit("it offers plugins no turns in sessions (api.runtime.subagent)");
  return subagent;
}

function isBefore(version: readonly number[], other: readonly number[]): boolean {
  const at = other.findIndex((part, index) => part !== version[index]);
  return at !== -1 && (version[at] ?? 0) < (other[at] ?? 0);
}
