/**
 * What a node learns from the configuration that LangGraph runs it with: its thread, its task, and whether the state from
 * which it was started is on disk. LangGraph has no public names for the last two; the tests hold them against the version
 * that is installed.
 */

import { type Client, type Context, connect, UsageError } from "@handfast/client";
import type { BaseCheckpointSaver, LangGraphRunnableConfig } from "@langchain/langgraph";

/** A client, or how to come by one; called once. */
export type ClientSource = Client | (() => Client | Promise<Client>);

/** The key in `configurable` under which a served graph finds the handoff that it works on. */
export const context_key = "handfast_context";

/** The longest thread id that a label can carry beside an idempotency key. */
const longest_thread_chars = 200;

/** Control characters and lone surrogates. */
const no_label = /[\p{Cc}\p{Cs}]/u;

type Configurable = Readonly<Record<string, unknown>>;

function configurableOf(config: LangGraphRunnableConfig): Configurable {
  return (config.configurable ?? {}) as Configurable;
}

export function contextOf(config: LangGraphRunnableConfig): Context | null {
  return (configurableOf(config)[context_key] as Context | undefined) ?? null;
}

export function threadOf(config: LangGraphRunnableConfig): string {
  const thread = String(configurableOf(config)["thread_id"] ?? "");
  const is_short = thread.length <= longest_thread_chars;
  if (thread !== "" && is_short && !no_label.test(thread)) return thread;
  const what = is_short ? `is ${JSON.stringify(thread)}` : `has ${thread.length} characters`;
  throw new UsageError(
    thread === "" ? "A handoff needs a thread." : `The thread id ${what}.`,
    `Run the graph with { configurable: { thread_id } }, of 1 to ${longest_thread_chars} characters without control characters.`,
  );
}

/** The same in every run of the same step from the same state: a node that is run again has it again. */
export function taskOf(config: LangGraphRunnableConfig): string {
  return String(configurableOf(config)["__pregel_task_id"] ?? "");
}

const looks_ms = [0, 5, 20, 50, 100, 250, 500, 1_000] as const;

/**
 * Resolves once the state that this step began with is kept. A send before that could happen twice: a process that is
 * killed right after it would find an older state, and another task for the same step.
 */
export async function untilKept(config: LangGraphRunnableConfig): Promise<void> {
  const saver = configurableOf(config)["__pregel_checkpointer"] as BaseCheckpointSaver | undefined;
  if (saver === undefined) throw noSaver();
  const { durability, checkpointDuring } = config as { durability?: string; checkpointDuring?: boolean };
  if (durability === "exit" || checkpointDuring === false) throw notKept();
  const namespace = String(configurableOf(config)["checkpoint_ns"] ?? "");
  const parent = namespace.split("|").slice(0, -1).join("|");
  const checkpoints = (configurableOf(config)["checkpoint_map"] ?? {}) as Readonly<Record<string, string>>;
  const place = { thread_id: threadOf(config), checkpoint_ns: parent, checkpoint_id: checkpoints[parent] };
  for (const look_ms of looks_ms) {
    if (look_ms > 0) await new Promise((resolve) => setTimeout(resolve, look_ms));
    if ((await saver.getTuple({ configurable: place })) !== undefined) return;
  }
  throw notKept();
}

function notKept(): UsageError {
  return new UsageError(
    "The state before this handoff is not kept, so it could be sent twice.",
    'Run the graph with { durability: "sync" }; "exit" keeps nothing until the end.',
    "not_kept",
  );
}

export function noSaver(): UsageError {
  return new UsageError(
    "The graph has no checkpointer, so it cannot wait for an outcome.",
    "Compile it with one: graph.compile({ checkpointer }).",
    "no_checkpointer",
  );
}

/** One for all graphs that name none, from the environment. */
let common: Promise<Client> | null = null;

export function clientFrom(source: ClientSource | undefined): () => Promise<Client> {
  let client: Promise<Client> | null = null;
  return () => {
    if (source === undefined) {
      common ??= connect();
      return common;
    }
    client ??= Promise.resolve(typeof source === "function" ? source() : source);
    return client;
  };
}
