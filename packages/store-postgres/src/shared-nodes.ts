/** Which nodes work on the database, by what each says of itself. */

import { randomUUID } from "node:crypto";
import type { NodeSign, SharedNodes } from "@handfast/engine";
import { Rows, textArray } from "./arrays.ts";
import type { Reads } from "./connection.ts";
import { node_gone_ms } from "./limits.ts";
import { number, type Row, text, truth } from "./rows.ts";
import { readClock } from "./sql/clock.ts";
import { askNodes, findNodes, nodeShape, putNode } from "./sql/node.ts";

type Read = <Value>(read: (reads: Reads) => Promise<Value>) => Promise<Value>;

export class PostgresNodes implements SharedNodes {
  readonly life = randomUUID();
  readonly #read: Read;
  /** No other node is on the database, as of the last sign of this one. */
  #isAlone = false;
  /** By the monotonic clock. */
  #other_heard_at = Number.NEGATIVE_INFINITY;

  constructor(read: Read) {
    this.#read = read;
  }

  async sign(sign: NodeSign): Promise<boolean> {
    const rows = new Rows(nodeShape);
    rows.add({ life: this.life, ...sign });
    const [row] = await this.#read((reads) => reads.ask(putNode, ...rows.parameters()));
    this.#isAlone = truth(row, "alone");
    return truth(row, "asked");
  }

  /** Another node said something: it may not have given a sign yet. */
  heardAnother(): void {
    this.#other_heard_at = performance.now();
  }

  /** Nobody is there to be told of anything; at worst a node that began a moment ago, and that looks by itself. */
  get isAlone(): boolean {
    return this.#isAlone && performance.now() - this.#other_heard_at > node_gone_ms;
  }

  async all() {
    const [clock] = await this.#read((reads) => reads.ask(readClock));
    const rows = await this.#read((reads) => reads.ask(findNodes));
    return { nodes: rows.map(nodeOf), read_at: number(clock, "now") };
  }

  async ask(lives: readonly string[], drain: boolean): Promise<void> {
    await this.#read((reads) => reads.ask(askNodes, textArray(lives), String(drain)));
  }
}

function nodeOf(row: Row) {
  return {
    life: text(row, "life"),
    name: text(row, "name"),
    version: text(row, "version"),
    since: number(row, "since"),
    asked: truth(row, "asked"),
    draining: truth(row, "draining"),
    connections: number(row, "connections"),
    calls: number(row, "calls"),
    claims: number(row, "claims"),
    ended: truth(row, "ended"),
    heard_at: number(row, "heard_at"),
  };
}
