/**
 * One kind of record, wholly in memory with the versions the store knows. Memory changes only after the commit; the
 * writes of several tables go in one.
 */

import type { RecordWrite } from "@handfast/engine";
import { Problem } from "../problem.ts";
import type { Records } from "./records.ts";

export interface Change {
  readonly write: RecordWrite;
  apply(): void;
}

export class RecordTable<Value> {
  private readonly namespace: string;
  private readonly kind: string;
  private readonly rows = new Map<string, { readonly version: number; readonly value: Value }>();

  constructor(namespace: string, kind: string) {
    this.namespace = namespace;
    this.kind = kind;
  }

  /** Only this relay writes these records, so they are what it once wrote. */
  async load(records: Records): Promise<void> {
    const stored = await records.load(this.kind);
    this.rows.clear();
    for (const { key, version, value } of stored) this.rows.set(key, { version, value: value as Value });
  }

  get size(): number {
    return this.rows.size;
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
      apply: () => void this.rows.set(key, { version: expected_version + 1, value }),
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

/** Of what is never held in memory. */
export function withoutMemory(write: RecordWrite): Change {
  return { write, apply: () => {} };
}

export async function commitChanges(records: Records, changes: readonly Change[]): Promise<void> {
  if (changes.length === 0) return;
  if (!(await records.put(changes.map(({ write }) => write)))) {
    throw new Problem(409, "changed_meanwhile", "The record was changed by somebody else at the same time. Try again.");
  }
  for (const change of changes) change.apply();
}
