/** For tests: all that a store tells, by every way there is to ask it, to be held against another's. */

import { queueOf, type Time } from "@handfast/core";
import type { ListQuery, Store } from "@handfast/engine";
import { agents } from "../../../core/src/testing/world.ts";

const namespace = "default";
const page = 7;

export async function everything(store: Store, now: Time) {
  const events = await allEvents(store);
  const told = events.slice(0, -1).map(({ json }): { readonly handoff: string } => JSON.parse(json));
  const ids = [...new Set(told.map(({ handoff }) => handoff))];
  const handoffs = await store.load(namespace, ids);
  return {
    events,
    handoffs,
    bodies: await each(ids, (id) => store.bodies(namespace, id)),
    keys: await each(ids, (id) => store.key(namespace, "alice", id)),
    purged: await each(ids, (id) => store.wasPurged(namespace, id)),
    children: await each(ids, (id) => store.openChildren(namespace, id, page)),
    lists: await each(queriesOf(ids), (query) => allOf(store, query)),
    candidates: await each(["", ...agents], (agent) => store.candidates(candidatesFor(agent))),
    held: await each(agents, (agent) => store.held(namespace, agent, `${agent}-a`)),
    due: await store.due(now + 86_400_000, 1_000),
    next_due: await store.nextDue(),
    leases: (await store.leases()).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    counts: await store.counts(namespace),
    open: (await store.openBySender()).toSorted((a, b) => (a.from < b.from ? -1 : 1)),
    referrers: await store.referrers(namespace, "e".repeat(64), 1_000),
    of_agents: await each(agents, (agent) => allEvents(store, { agent })),
    of_handoffs: await each(ids.slice(0, page), (handoff) => allEvents(store, { handoff })),
    correlated: await each(["a", "b", ...ids.slice(0, page)], (correlation_id) => allEvents(store, { correlation_id })),
    lately: await allEvents(store, { at_from: now - 60_000, at_until: now - 1_000 }),
    records: await store.records("", "clock"),
    latest: await store.latest(),
  };
}

function candidatesFor(agent: string): Parameters<Store["candidates"]>[0] {
  const queues = [queueOf({ to: null, capability: "summarize" }), queueOf({ to: "bob", capability: null })];
  return { namespace, queues, agent, limit: page };
}

function queriesOf(ids: readonly string[]): readonly Partial<ListQuery>[] {
  return [
    {},
    { from: "alice" },
    { party: "bob" },
    { capability: "summarize" },
    { to: "carol" },
    { untaken: true },
    { untaken: true, from: "alice" },
    { dead_letter: "any" },
    { dead_letter: "open", code: 408 },
    { question_to: ["", "summarize"] },
    { label: { key: "team", value: "blue 0" } },
    { label: { key: "odd\u0000key", value: 'quo"te\\ {}, NULL' } },
    { conversation_id: 'talk, "0" {ä😀}' },
    { correlation_id: "a" },
    ...ids.slice(0, 3).map((id) => ({ causation_id: id })),
    ...["queued", "delivered", "working", "waiting", "completed", "failed", "canceled", "expired", "rejected"].map(
      (state) => ({ state }),
    ),
    { code: 200 },
    { code: 410 },
  ];
}

async function allOf(store: Store, query: Partial<ListQuery>): Promise<readonly string[]> {
  const found: string[] = [];
  for (const order of ["oldest", "newest"] as const) {
    let after: string | undefined;
    do {
      const asked = { namespace, order, limit: page, ...query, ...(after !== undefined && { after }) };
      const got = await store.list(asked);
      found.push(...got.handoffs.map(({ accepted }) => accepted.id));
      after = got.after ?? undefined;
    } while (after !== undefined);
  }
  return found;
}

/** And at the end where the log begins and ends. */
async function allEvents(store: Store, query: Partial<Parameters<Store["events"]>[0]> = {}) {
  const found: { readonly pos: number; readonly json: string }[] = [];
  for (;;) {
    const { events, floor, head } = await store.events({
      namespace,
      after_pos: found.at(-1)?.pos ?? 0,
      limit: 40,
      ...query,
    });
    found.push(...events);
    if (events.length < 40) return [...found, { pos: head, json: `"floor ${floor}"` }];
  }
}

async function each<Item, Answer>(
  items: readonly Item[],
  ask: (item: Item) => Promise<Answer>,
): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (const item of items) answers.push(await ask(item));
  return answers;
}
