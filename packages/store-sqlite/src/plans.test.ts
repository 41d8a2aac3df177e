import type { EventQuery, ListQuery } from "@handfast/engine";
import { expect, test } from "vitest";
import { openMemory, text } from "./connection.ts";
import { migrate } from "./migrate.ts";
import { migrations } from "./migrations/mod.ts";
import { eventsSql } from "./read-events.ts";
import { listSql } from "./read-list.ts";

const connection = openMemory();
migrate(connection, migrations);

const planOf = (sql: string) =>
  connection.db
    .prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .all()
    .map((row) => text(row, "detail"));

/** Nothing is sorted and no table is read from end to end: the pages of a long list cost what they hold. */
const expectOrderedSearch = (sql: string) => {
  for (const step of planOf(sql)) expect(step).not.toMatch(/TEMP B-TREE|SCAN (handoffs|events|labels|accepted)/);
};

const lists: readonly Partial<ListQuery>[] = [
  {},
  { from: "a" },
  { party: "a" },
  { state: "queued" },
  { state: "completed" },
  { state: "failed" },
  { capability: "c" },
  { to: "a" },
  { correlation_id: "c" },
  { causation_id: "c" },
  { conversation_id: "c" },
  { conversation_id: "c", party: "a" },
  { label: { key: "k", value: "v" } },
  { untaken: true },
  { untaken: true, from: "a" },
  { dead_letter: "open" },
  { dead_letter: "any" },
  { question_to: ["", "desk"] },
  { code: 408 },
  { code: 200 },
  { party: "a", dead_letter: "any", state: "failed", code: 500, capability: "c" },
];
for (const query of lists) {
  for (const order of ["newest", "oldest"] as const) {
    test(`a list walks an index in order: ${order} ${JSON.stringify(query)}`, () => {
      expectOrderedSearch(listSql({ namespace: "n", limit: 10, ...query, order }));
    });
  }
}

const exports: readonly Partial<EventQuery>[] = [{}, { handoff: "h" }, { correlation_id: "c" }, { agent: "a" }];
for (const query of exports) {
  test(`events are read along an index: ${JSON.stringify(query)}`, () => {
    expectOrderedSearch(eventsSql({ namespace: "n", after_pos: 0, limit: 10, ...query }));
  });
}
