/**
 * One kind of record, wholly in memory with the versions the store knows. Memory changes only after the commit; the
 * writes of several tables go in one.
 */

import type { RecordWrite, StoredRecord } from "@handfast/engine";
import { Problem } from "../problem.ts";
import type { Records, Taking } from "./records.ts";

export interface Change {
  readonly write: RecordWrite;
  apply(): void;
}

/** What is derived from each record: put right where another node changed it. */
export interface DerivedFrom<Value> {
  /** As it stands in the table: the same, with parts that it shares with others. */
  hold?(value: Value): Value;
  /** While it is still in the table. */
  remove(key: string, value: Value): void;
  /** Once it is. */
  add(key: string, value: Value): void;
}

export class RecordTable<Value> implements Taking {
  private readonly namespace: string;
  private readonly kind: string;
  private readonly derived: DerivedFrom<Value> | null;
  private readonly rows = new Map<string, { readonly version: number; readonly value: Value }>();

  constructor(namespace: string, kind: string, derived: DerivedFrom<Value> | null = null) {
    this.namespace = namespace;
    this.kind = kind;
    this.derived = derived;
  }

  /** Only relays write these records, so they are what a relay once wrote. */
  async load(records: Records): Promise<void> {
    records.others?.tables.set(this.kind, this);
    const stored = await records.load(this.kind);
    this.rows.clear();
    for (const { key, version, value } of stored) this.rows.set(key, { version, value: this.hold(value as Value) });
  }

  take(key: string, record: StoredRecord | null): void {
    const known = this.rows.get(key);
    if (known !== undefined) this.derived?.remove(key, known.value);
    if (record === null) {
      this.rows.delete(key);
      return;
    }
    const value = this.hold(record.value as Value);
    this.rows.set(key, { version: record.version, value });
    this.derived?.add(key, value);
  }

  private hold(value: Value): Value {
    return this.derived?.hold?.(value) ?? value;
  }

  get size(): number {
    return this.rows.size;
  }

  has(key: string): boolean {
    return this.rows.has(key);
  }

  get(key: string): Value | undefined {
    return this.rows.get(key)?.value;
  }

  *values(): Generator<Value> {
    for (const { value } of this.rows.values()) yield value;
  }

  *entries(): Generator<[string, Value]> {
    for (const [key, { value }] of this.rows) yield [key, value];
  }

  set(key: string, value: Value): Change {
    const expected_version = this.rows.get(key)?.version ?? 0;
    return {
      write: { namespace: this.namespace, kind: this.kind, key, expected_version, value },
      apply: () => void this.rows.set(key, { version: expected_version + 1, value: this.hold(value) }),
    };
  }

  delete(key: string): Change {
    const expected_version = this.rows.get(key)?.version ?? 0;
    return {
      write: { namespace: this.namespace, kind: this.kind, key, expected_version, value: undefined },
      apply: () => void this.rows.delete(key),
    };
  }
}

export async function commitChanges(records: Records, changes: readonly Change[]): Promise<void> {
  if (changes.length === 0) return;
  if (!(await records.put(changes.map(({ write }) => write)))) throw changedMeanwhile();
  for (const change of changes) change.apply();
}

/** Of what is never held in memory. */
export function withoutMemory(write: RecordWrite): Change {
  return { write, apply: () => {} };
}

const changed_meanwhile = "changed_meanwhile";

export function changedMeanwhile(): Problem {
  return new Problem(409, changed_meanwhile, "The record was changed by somebody else at the same time. Try again.");
}

export function isChangedMeanwhile(error: unknown): boolean {
  return error instanceof Problem && error.reason === changed_meanwhile;
}
