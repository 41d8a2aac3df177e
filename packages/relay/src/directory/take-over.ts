/**
 * Takes what other nodes wrote into the tables of this one. Told only the names, it reads the records themselves in a turn of
 * whoever writes them here: then nothing of this node is under way that it could overwrite, or be overwritten by.
 */

import type { RecordName, StoredRecord, Surroundings } from "@handfast/engine";
import type { OtherWriters, Taking } from "./records.ts";
import type { Turns } from "./turns.ts";

/** A record as another node left it; null: it is gone. */
export interface TakenRecord {
  readonly kind: string;
  readonly key: string;
  readonly record: StoredRecord | null;
}

/** Whoever writes records of these kinds, and keeps them in memory. */
export interface RecordOwner {
  readonly kinds: readonly string[];
  readonly turns: Turns;
  /** Without which records this one cannot be understood: it may be newer than the news of it, and they not told of yet. */
  readonly needs?: (record: StoredRecord) => readonly Pick<RecordName, "kind" | "key">[];
  /** `take` puts them into their tables; what else is derived from them is put right around it, at once. */
  takeOver(changes: readonly TakenRecord[], take: () => void): void;
  /** Reads everything anew. */
  reload(): Promise<void>;
}

export interface TakeOverOptions {
  readonly namespace: string;
  /** These records as they are now; those that are gone are left out. */
  readonly read: (names: readonly RecordName[]) => Promise<readonly StoredRecord[]>;
  /** Has everything told that was committed until now. */
  readonly look: () => Promise<void>;
  readonly schedule: Surroundings["schedule"];
  readonly retry_ms: number;
  /** It is tried again. */
  readonly onFault: (error: unknown) => void;
}

export class TakeOver implements OtherWriters {
  readonly tables = new Map<string, Taking>();
  readonly #options: TakeOverOptions;
  readonly #owners: RecordOwner[] = [];
  /** Of each owner: the keys of each kind that are to be read, or null for everything. */
  readonly #due = new Map<RecordOwner, Map<string, Set<string>> | null>();
  #last: Promise<void> = Promise.resolve();
  #looked: Promise<void> | null = null;
  #trouble: string | null = null;
  #cancel: () => void = () => {};
  #is_stopped = false;

  constructor(options: TakeOverOptions) {
    this.#options = options;
  }

  /** Why this node does not know what others wrote; null: it does. */
  get trouble(): string | null {
    return this.#trouble;
  }

  own(...owners: readonly RecordOwner[]): void {
    this.#owners.push(...owners);
  }

  /** These were written by another node; null: any may have been. */
  tell(names: readonly RecordName[] | null): void {
    if (names === null) for (const owner of this.#owners) this.#due.set(owner, null);
    for (const { namespace, kind, key } of names ?? []) {
      const owner = this.#owners.find(({ kinds }) => kinds.includes(kind));
      if (owner !== undefined && namespace === this.#options.namespace) this.#note(owner, kind, key);
    }
    if (this.#due.size > 0) this.#work().catch(() => {});
  }

  /** Whoever asks while a look has not begun shares it: a crowd of strangers costs no more than one. */
  catchUp(): Promise<void> {
    this.#looked ??= this.#last
      .catch(() => {})
      .then(() => {
        this.#looked = null;
        return this.#options.look();
      })
      .then(() => this.#work());
    return this.#looked;
  }

  stop(): void {
    this.#is_stopped = true;
    this.#cancel();
  }

  #note(owner: RecordOwner, kind: string, key: string): void {
    const due = this.#due.get(owner) ?? new Map<string, Set<string>>();
    // Where everything is due, this is too.
    if (this.#due.get(owner) === null) return;
    due.set(kind, (due.get(kind) ?? new Set()).add(key));
    this.#due.set(owner, due);
  }

  #work(): Promise<void> {
    const mine = this.#last.catch(() => {}).then(() => this.#takeDue());
    this.#last = mine;
    return mine;
  }

  async #takeDue(): Promise<void> {
    if (this.#is_stopped) return;
    try {
      for (const [owner, due] of [...this.#due]) {
        this.#due.delete(owner);
        await this.#takeOne(owner, due).catch((error: unknown) => {
          this.#putBack(owner, due);
          throw error;
        });
      }
      this.#trouble = null;
    } catch (error) {
      this.#trouble = error instanceof Error ? error.message : String(error);
      this.#options.onFault(error);
      this.#cancel();
      this.#cancel = this.#options.schedule(this.#options.retry_ms, () => void this.#work().catch(() => {}));
      throw error;
    }
  }

  #takeOne(owner: RecordOwner, due: ReadonlyMap<string, ReadonlySet<string>> | null): Promise<void> {
    return owner.turns.take(async () => {
      if (due === null) return owner.reload();
      const { namespace } = this.#options;
      const names = [...due].flatMap(([kind, keys]) => Array.from(keys, (key) => ({ namespace, kind, key })));
      const told = await this.#read(names);
      const needed = told.flatMap(({ record }) => (record === null ? [] : (owner.needs?.(record) ?? [])));
      const lacking = needed.filter(({ kind, key }) => due.get(kind)?.has(key) !== true && !this.#has(kind, key));
      const changes = [...(await this.#read(lacking.map((name) => ({ namespace, ...name })))), ...told];
      owner.takeOver(changes, () => {
        for (const { kind, key, record } of changes) this.tables.get(kind)?.take(key, record);
      });
    });
  }

  #has(kind: string, key: string): boolean {
    return this.tables.get(kind)?.has(key) === true;
  }

  async #read(names: readonly RecordName[]): Promise<readonly TakenRecord[]> {
    if (names.length === 0) return [];
    const read = await this.#options.read(names);
    const found = new Map(read.map((record) => [JSON.stringify([record.kind, record.key]), record]));
    return names.map(({ kind, key }) => ({ kind, key, record: found.get(JSON.stringify([kind, key])) ?? null }));
  }

  #putBack(owner: RecordOwner, due: ReadonlyMap<string, ReadonlySet<string>> | null): void {
    if (due === null) this.#due.set(owner, null);
    for (const [kind, keys] of due ?? []) for (const key of keys) this.#note(owner, kind, key);
  }
}
