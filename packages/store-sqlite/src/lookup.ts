/**
 * Rows and keys by name, on the writer's connection. What was just looked for, by the engine to decide or here to check,
 * is not looked for again: between a read and the commit that follows it nobody else can write.
 */

import type { StatementSync } from "node:sqlite";
import type { Handoff } from "@handfast/core";
import { type Connection, text } from "./connection.ts";
import { type KnownRow, KnownRows } from "./known-rows.ts";
import { handoffText, parseHandoff } from "./row.ts";
import { findRow, loadHandoff } from "./sql/handoff.ts";
import { findKey } from "./sql/key.ts";

export class Lookup {
  readonly #connection: Connection;
  readonly #rows = new KnownRows();
  /** Keys that were looked for in vain since the last commit. */
  #freeKeys = new Set<string>();
  readonly #findRow: StatementSync;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#findRow = connection.db.prepare(findRow);
    this.#findRow.setReturnArrays(true);
  }

  row(namespace: string, id: string): KnownRow | null {
    const known = this.#rows.get(namespace, id);
    if (known !== undefined) return known;
    const found: unknown = this.#findRow.get(namespace, id);
    if (!Array.isArray(found)) {
      this.#rows.set(namespace, id, null);
      return null;
    }
    const [pos, version, ...values] = found;
    const [state] = values;
    const row = { pos, version, state, values };
    this.#rows.set(namespace, id, row);
    return row;
  }

  handoff(namespace: string, id: string): Handoff | null {
    if (this.#rows.get(namespace, id) === null) return null;
    const row = this.#connection.get(loadHandoff, namespace, id);
    if (row === undefined) this.#rows.set(namespace, id, null);
    return row === undefined ? null : parseHandoff(handoffText(row));
  }

  /** A key that is the id of the handoff it stands for has no row of its own while the handoff is there. */
  key(namespace: string, from: string, key: string): { readonly id: string; readonly content: string } | null {
    const name = keyName(namespace, from, key);
    if (this.#freeKeys.has(name)) return null;
    const row = this.#connection.get(findKey, namespace, from, key);
    if (row !== undefined) return { id: text(row, "id"), content: text(row, "content") };
    const accepted = this.row(namespace, key) === null ? undefined : this.handoff(namespace, key)?.accepted;
    if (accepted?.from === from && accepted.idempotency_key === key) return { id: key, content: accepted.content };
    this.#freeKeys.add(name);
    return null;
  }

  /** The row is so from now on; null: it is gone. */
  wrote(namespace: string, id: string, row: KnownRow | null): void {
    this.#rows.set(namespace, id, row);
  }

  tookKey(namespace: string, from: string, key: string): void {
    this.#freeKeys.delete(keyName(namespace, from, key));
  }

  /** The next commit looks anew: what is remembered stays small. */
  forgetKeys(): void {
    // A new one: a set that is cleared keeps leading to what stood in it.
    if (this.#freeKeys.size > 0) this.#freeKeys = new Set();
  }
}

/** The lengths keep apart names that would otherwise read alike. */
function keyName(namespace: string, from: string, key: string): string {
  return `${namespace.length} ${from.length} ${namespace} ${from} ${key}`;
}
