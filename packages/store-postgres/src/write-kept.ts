/**
 * Writes what another store kept, inside an open transaction, into tables that are empty; many rows of one kind at a time. A
 * handoff goes the way of any that is accepted (`Changes`). Its number is the place of its accept in the log, so that its
 * bodies need not look for it.
 */

import type { Body, Kept, KeptOf, KeptTable, Write } from "@handfast/engine";
import { Rows, type Shape } from "./arrays.ts";
import { Changes } from "./changes.ts";
import type { Asks } from "./connection.ts";
import { nameOf, type Target } from "./judge.ts";
import { kept_bytes, kept_rows } from "./limits.ts";
import { namesInEntry, namesInEvent } from "./names-in.ts";
import { makePartition, partitionOf, presentPartitions } from "./partitions.ts";
import { of_no_handoff } from "./sql/event.ts";
import { bodyShape, insertBodies } from "./sql/handoff.ts";
import { analyzeAll, insertPlacedEvents, placedEventShape, raiseNumbers, writeWholeLog } from "./sql/kept.ts";
import { keepKeys, keptKeyShape } from "./sql/key.ts";
import { insertRecords, recordShape } from "./sql/record.ts";

export class KeptWriter {
  readonly #asks: Asks;
  readonly #partitions: Set<number>;
  #gathered: Kept[] = [];
  #bytes = 0;
  #last_number = 0;

  private constructor(asks: Asks, partitions: Set<number>) {
    this.#asks = asks;
    this.#partitions = partitions;
  }

  static async open(asks: Asks): Promise<KeptWriter> {
    return new KeptWriter(asks, await presentPartitions(asks));
  }

  async put(kept: Kept): Promise<void> {
    const [before] = this.#gathered;
    if (before !== undefined && familyOf(before) !== familyOf(kept)) await this.#flush();
    this.#gathered.push(kept);
    this.#bytes += sizeOf(kept);
    if (this.#gathered.length >= kept_rows || this.#bytes >= kept_bytes) await this.#flush();
  }

  async finish(): Promise<void> {
    await this.#flush();
    if (this.#last_number > 0) await this.#asks.ask(raiseNumbers, this.#last_number);
    await this.#asks.ask(analyzeAll);
  }

  async #flush(): Promise<void> {
    const gathered = this.#gathered;
    this.#gathered = [];
    this.#bytes = 0;
    const [first] = gathered;
    if (first === undefined) return;
    const all = <Table extends KeptTable>(table: Table) =>
      gathered.filter((kept): kept is KeptOf<Table> => kept.table === table);
    switch (first.table) {
      case "log":
        await this.#asks.ask(writeWholeLog, first.floor, first.latest);
        return;
      case "record":
        return this.#insert(insertRecords, recordShape, all("record"));
      case "handoff":
      case "body":
        await this.#handoffs(all("handoff"));
        return this.#insert(
          insertBodies,
          bodyShape,
          all("body").map(({ pos, body }) => ({ num: pos, ...columnsOf(body) })),
        );
      case "key":
        return this.#insert(keepKeys, keptKeyShape, all("key"));
      case "event":
        return this.#events(all("event"));
      default:
        throw new TypeError(`nothing known is kept: ${JSON.stringify(first satisfies never)}`);
    }
  }

  async #insert<Of extends Shape>(
    sql: string,
    shape: Of,
    given: readonly Parameters<Rows<Of>["add"]>[0][],
  ): Promise<void> {
    if (given.length === 0) return;
    const rows = new Rows(shape);
    for (const row of given) rows.add(row);
    await this.#asks.ask(sql, ...rows.parameters());
  }

  async #handoffs(given: readonly KeptOf<"handoff">[]): Promise<void> {
    const writes = given.map(writeOf);
    const targets = new Map(writes.map((write): [string, Target] => [nameOf(write), targetOf(write)]));
    const units = [{ writes, records: [] }];
    const numbers = given.map(({ pos }) => pos);
    const changes = new Changes({ results: [], units, targets, records: new Map() }, numbers, null);
    for (const { sql, parameters } of changes.statements()) await this.#asks.ask(sql, ...parameters);
    this.#last_number = numbers.at(-1) ?? this.#last_number;
  }

  async #events(given: readonly KeptOf<"event">[]): Promise<void> {
    for (const nth of new Set(given.map(({ pos }) => partitionOf(pos)))) {
      if (this.#partitions.has(nth)) continue;
      await this.#asks.ask(makePartition(nth));
      this.#partitions.add(nth);
    }
    // Since when its node had been there only nodes tell each other: it is not part of what is moved.
    const rows = given.map((event) => ({ ...event, agents: namesIn(event), resumed_at: null }));
    await this.#insert(insertPlacedEvents, placedEventShape, rows);
  }
}

/** Bodies stand among their handoffs: these two are gathered together. */
function familyOf({ table }: Kept): KeptTable {
  return table === "body" ? "handoff" : table;
}

function writeOf({ handoff, find, body, artifacts }: KeptOf<"handoff">): Write {
  const bodies = body === null ? [] : [body];
  return { expected_version: 0, next: handoff, find, events: [], bodies, artifacts, purge: null };
}

function targetOf(write: Write): Target {
  return { before: null, first: write, last: write };
}

function columnsOf({ kind, number, document, proof, payload }: Body) {
  return { kind, number, document, proof, payload };
}

function namesIn({ handoff, json }: KeptOf<"event">): string {
  return handoff === of_no_handoff ? namesInEntry(JSON.parse(json)) : namesInEvent(JSON.parse(json));
}

function sizeOf(kept: Kept): number {
  const { body = null } = "body" in kept ? kept : {};
  const json = "json" in kept ? kept.json.length : 0;
  return json + (body?.payload?.length ?? 0) + (body?.document?.length ?? 0);
}
