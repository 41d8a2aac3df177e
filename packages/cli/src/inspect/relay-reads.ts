/** What the inspecting commands read from a relay, page by page until nothing is left. */

import type { AgentView, HandoffView, OperationName, Operations } from "@handfast/protocol/wire";
import type { StoryEvent } from "./story-event.ts";

/** The part of the client that reads are made with. */
export interface Reader {
  call<Name extends OperationName>(
    name: Name,
    call: {
      readonly params?: Operations[Name]["params"];
      readonly query?: Operations[Name]["query"];
      readonly body?: Operations[Name]["body"];
    },
    options?: { readonly wait_ms?: number; readonly signal?: AbortSignal | undefined },
  ): Promise<Operations[Name]["reply"]>;
}

const page_size = 500;

/** Every event of a handoff, from the first. */
export async function allEvents(relay: Reader, id: string): Promise<readonly StoryEvent[]> {
  const events: StoryEvent[] = [];
  let cursor: string | undefined;
  for (;;) {
    const query = { limit: page_size, ...(cursor === undefined ? {} : { cursor }) };
    const page = await relay.call("handoff_events", { params: { id }, query });
    events.push(...page.events);
    if (page.events.length < page_size) return events;
    cursor = page.cursor;
  }
}

type ListQuery = Operations["list"]["query"];

/** Handoffs page by page; whoever reads may stop. */
export async function* handoffs(relay: Reader, filter: ListQuery): AsyncGenerator<HandoffView> {
  let cursor: string | null = null;
  do {
    const query: ListQuery = { ...filter, ...(cursor === null ? {} : { cursor }) };
    const page: Operations["list"]["reply"] = await relay.call("list", { query });
    yield* page.handoffs;
    cursor = page.cursor;
  } while (cursor !== null);
}

/** Those that offer a capability, or the one that is named. */
export async function agentsFor(
  relay: Reader,
  { to, capability }: Pick<HandoffView, "to" | "capability">,
): Promise<readonly AgentView[]> {
  if (to !== null) {
    const agent = await orNull(relay.call("agent", { params: { name: to } }));
    const fits = capability === null || agent?.capabilities.some(({ name }) => name === capability) === true;
    return agent !== null && fits ? [agent] : [];
  }
  if (capability === null) return [];
  const found: AgentView[] = [];
  let after: string | null = null;
  do {
    const query: Operations["agents"]["query"] = { capability, limit: page_size, ...(after === null ? {} : { after }) };
    const page: Operations["agents"]["reply"] = await relay.call("agents", { query });
    found.push(...page.agents);
    after = page.after;
  } while (after !== null);
  return found;
}

/** Null where the relay says that there is no such thing, or none for this caller. */
export async function orNull<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (codeOf(error) === 404 || codeOf(error) === 403) return null;
    throw error;
  }
}

/** The status code that an error of the client carries; null: it carries none. */
export function codeOf(error: unknown): number | null {
  return error instanceof Error && "code" in error && typeof error.code === "number" ? error.code : null;
}
