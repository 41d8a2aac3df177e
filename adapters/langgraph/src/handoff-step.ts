/**
 * The two halves of a handoff in a graph, each a node of its own: the first sends, and is done; the second waits by an
 * interrupt. In between LangGraph keeps the state, so what was sent is known before anybody waits.
 */

import { type FailedOutcome, type Outcome, outcomeOf, refusalAsOutcome } from "@handfast/adapter-kit";
import { type Client, HandoffError, type SendOptions, type Target } from "@handfast/client";
import * as langgraph from "@langchain/langgraph";
import { contextOf, taskOf, threadOf, untilKept } from "./config.ts";

/** The labels by which an outcome finds the thread that waits for it. */
export const labels = { graph: "langgraph.graph", thread: "langgraph.thread", node: "langgraph.node" } as const;

/** What the first half hands to the second: a handoff, or an outcome because there is none. */
export type Sent = { readonly handoff: string } | { readonly refused: FailedOutcome };

/** The value of the interrupt, and what the thread is resumed with, both under one key. */
export interface Waiting {
  readonly handfast: { readonly handoff: string; readonly outcome?: Outcome };
}

export interface Sending {
  readonly client: () => Promise<Client>;
  readonly graph: string;
  readonly node: string;
  readonly target: Target;
  readonly options: SendOptions;
}

export async function sendOnce(
  sending: Sending,
  input: unknown,
  config: langgraph.LangGraphRunnableConfig,
): Promise<Sent> {
  await untilKept(config);
  const { graph, node, target, options } = sending;
  const thread = threadOf(config);
  const context = contextOf(config);
  // A served graph waits for its own handoffs, so nobody is to look for its thread.
  const marks = context === null ? { [labels.graph]: graph, [labels.thread]: thread, [labels.node]: node } : {};
  const full: SendOptions = {
    ...options,
    idempotencyKey: keyOf(taskOf(config), thread),
    labels: { ...options.labels, ...marks },
    ...(config.signal === undefined ? {} : { signal: config.signal }),
  };
  try {
    const { id } = await (context ?? (await sending.client())).send(target, input, full);
    return { handoff: id };
  } catch (error) {
    return { refused: refusalAsOutcome(error) };
  }
}

/** The idempotency key of what a node of a thread sends. */
export function keyOf(task: string, thread: string): string {
  return `${task}:${thread}`;
}

const look_within_ms = 5_000;

/**
 * Pauses the graph until it is resumed with the outcome of this very handoff. A served graph does so in any case: whoever
 * serves it takes what he gave it. In one that is not, an outcome that is there already is used at once; it is taken by
 * whoever resumes the graph's threads.
 */
export async function waitFor(
  sent: Sent,
  config: langgraph.LangGraphRunnableConfig,
  client: () => Promise<Client>,
): Promise<Outcome> {
  if ("refused" in sent) return sent.refused;
  const { handoff } = sent;
  const waiting: Waiting = { handfast: { handoff } };
  for (;;) {
    let resumed: unknown;
    try {
      resumed = langgraph.interrupt<Waiting, unknown>(waiting);
    } catch (error) {
      const looks = langgraph.isGraphInterrupt(error) && contextOf(config) === null;
      const ended = looks ? await endedAlready(await client(), handoff) : null;
      if (ended === null) throw error;
      return ended;
    }
    // Something else resumed the thread without naming whom it meant: this goes on waiting.
    const outcome = outcomeIn(resumed, handoff);
    if (outcome !== null) return outcome;
  }
}

function outcomeIn(resumed: unknown, handoff: string): Outcome | null {
  const told = (resumed as Partial<Waiting> | null)?.handfast;
  return told?.handoff === handoff ? (told.outcome ?? null) : null;
}

/**
 * Its outcome may have been taken long ago, when this is a run from an earlier state: then nobody would wake the thread.
 * One that has just ended need not pause at all. A relay that is away is no reason to fail: the thread waits.
 */
async function endedAlready(hf: Client, id: string): Promise<Outcome | null> {
  try {
    const handle = hf.handle(id);
    const { ended_at, dead_letter } = await handle.status({ signal: AbortSignal.timeout(look_within_ms) });
    // As for whoever resumes: the outcome of its redrive counts.
    if (dead_letter?.status === "redriven" && dead_letter.id !== undefined) return endedAlready(hf, dead_letter.id);
    return ended_at === null ? null : await outcomeOf(handle);
  } catch (error) {
    if (error instanceof HandoffError && error.problem === null) throw error;
    return null;
  }
}
