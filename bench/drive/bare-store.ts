/**
 * The bare store: SQLite with group commit writing what a handoff leaves behind (its state, its bodies, its key, its
 * events), without rules, wire or signatures. What this disk and SQLite allow at most.
 *
 * A handoff is four steps, each safe on disk before the next begins: submit with its lease, ack, complete, take. The
 * sender has its answer after the third; the take follows, as with ours.
 */

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { makeId } from "@handfast/protocol";
import type { Address } from "../servers/server.ts";
import type { Driver } from "./driver.ts";
import { makeKilobyte } from "./kilobyte.ts";

const schema = `
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA wal_autocheckpoint = 1000;
PRAGMA cache_size = -65536;
CREATE TABLE handoffs (id TEXT PRIMARY KEY, state TEXT NOT NULL, version INTEGER NOT NULL, wake_at INTEGER, json TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE bodies (handoff TEXT NOT NULL, kind TEXT NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (handoff, kind)) STRICT, WITHOUT ROWID;
CREATE TABLE keys (key TEXT PRIMARY KEY, id TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE events (pos INTEGER PRIMARY KEY, handoff TEXT NOT NULL, json TEXT NOT NULL) STRICT`;

/** About as long as ours are. */
const state_json = JSON.stringify({ state: "s".repeat(300) });
const event_json = JSON.stringify({ event: "e".repeat(250) });

type Step = (writes: Writes) => void;
type Writes = ReturnType<typeof prepare>;

export async function openBareStore({ directory = "" }: Address): Promise<Driver> {
  const database = new DatabaseSync(join(directory, "bare.db"));
  database.exec(schema);
  const writes = prepare(database);
  const commit = groupCommit(database, writes);
  const [input, output] = [Buffer.from(JSON.stringify(makeKilobyte())), Buffer.from(JSON.stringify(makeKilobyte()))];
  return {
    handoff: async () => {
      const id = makeId(Date.now(), randomBytes(10));
      await commit((to) => {
        to.handoff.run(id, "delivered", 2, Date.now(), state_json);
        to.body.run(id, "handoff", input);
        to.key.run(id, id);
        to.event.run(id, event_json);
        to.event.run(id, event_json);
      });
      await commit((to) => {
        to.state.run("working", 3, Date.now(), state_json, id);
        to.event.run(id, event_json);
      });
      await commit((to) => {
        to.state.run("completed", 4, Date.now(), state_json, id);
        to.body.run(id, "outcome", output);
        to.event.run(id, event_json);
      });
      void commit((to) => {
        to.state.run("completed", 5, null, state_json, id);
        to.event.run(id, event_json);
      });
    },
    close: async () => {
      await commit(() => {});
      database.close();
    },
  };
}

function prepare(database: DatabaseSync) {
  return {
    handoff: database.prepare("INSERT INTO handoffs VALUES (?, ?, ?, ?, ?)"),
    state: database.prepare("UPDATE handoffs SET state = ?, version = ?, wake_at = ?, json = ? WHERE id = ?"),
    body: database.prepare("INSERT INTO bodies VALUES (?, ?, ?)"),
    key: database.prepare("INSERT INTO keys VALUES (?, ?)"),
    event: database.prepare("INSERT INTO events (handoff, json) VALUES (?, ?)"),
  };
}

/** Steps gather while others run and go as one transaction; each is answered after its commit. */
function groupCommit(database: DatabaseSync, writes: Writes): (step: Step) => Promise<void> {
  const begin = database.prepare("BEGIN IMMEDIATE");
  const end = database.prepare("COMMIT");
  let waiting: { readonly step: Step; readonly done: () => void }[] = [];
  const commitAll = () => {
    const batch = waiting;
    waiting = [];
    begin.run();
    for (const { step } of batch) step(writes);
    end.run();
    for (const { done } of batch) done();
  };
  return (step) =>
    new Promise((done) => {
      if (waiting.length === 0) setImmediate(commitAll);
      waiting.push({ step, done });
    });
}
