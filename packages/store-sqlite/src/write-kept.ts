/** Writes what another store kept, inside an open transaction, into tables that are empty. */

import { type Kept, type KeptOf, stateJson } from "@handfast/engine";
import type { Connection } from "./connection.ts";
import { Counts } from "./counts.ts";
import { Inserts } from "./inserts.ts";
import { changingValues, fixedValues } from "./row.ts";
import { insertBodies } from "./sql/body.ts";
import { insertEvents } from "./sql/event.ts";
import { insertAccepted, insertArtifact, insertLabel, insertRow } from "./sql/handoff.ts";
import { writeWholeLog } from "./sql/kept.ts";
import { insertKey } from "./sql/key.ts";
import { putRecord } from "./sql/record.ts";

export class KeptWriter {
  readonly #connection: Connection;
  readonly #counts: Counts;
  readonly #bodies: Inserts;
  readonly #events: Inserts;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#counts = new Counts(connection);
    this.#bodies = new Inserts(connection, insertBodies);
    this.#events = new Inserts(connection, insertEvents);
  }

  put(kept: Kept): void {
    switch (kept.table) {
      case "log":
        this.#connection.run(writeWholeLog, kept.floor, kept.latest);
        return;
      case "record":
        this.#connection.run(putRecord, kept.namespace, kept.kind, kept.key, kept.version, kept.json);
        return;
      case "handoff":
        return this.#handoff(kept);
      case "body": {
        const { kind, number, document, proof, payload } = kept.body;
        return this.#bodies.add(kept.pos, kind, number, document, proof, payload);
      }
      case "key":
        this.#connection.run(insertKey, kept.namespace, kept.sender, kept.key, kept.id, kept.content, kept.until);
        return;
      case "event":
        return this.#events.add(kept.pos, kept.namespace, kept.handoff, kept.correlation_id, kept.at, kept.json);
      default:
        throw new TypeError(`nothing known is kept: ${JSON.stringify(kept satisfies never)}`);
    }
  }

  finish(): void {
    this.#bodies.flush();
    this.#events.flush();
    this.#counts.write();
  }

  #handoff({ pos, handoff, find, body, artifacts }: KeptOf<"handoff">): void {
    const { accepted, version, status } = handoff;
    const { namespace, id, from, idempotency_key, content, labels } = accepted;
    const write = { expected_version: 0, next: handoff, find, events: [], bodies: [], artifacts, purge: null };
    const values = changingValues(write);
    this.#connection.run(insertRow, ...fixedValues(pos, handoff), version, stateJson(handoff), ...values);
    this.#connection.run(
      insertAccepted,
      pos,
      JSON.stringify(accepted),
      body === null ? 0 : 1,
      body?.document ?? null,
      body?.proof ?? null,
      body?.payload ?? null,
    );
    if (idempotency_key !== id) {
      this.#connection.run(insertKey, namespace, from, idempotency_key, id, content, null);
    }
    for (const [key, value] of Object.entries(labels)) this.#connection.run(insertLabel, namespace, key, value, pos);
    for (const sha256 of artifacts) this.#connection.run(insertArtifact, namespace, sha256, pos);
    this.#counts.move(namespace, from, null, status.state);
  }
}
