/**
 * What became of the handoffs under each contract, counted from the log's events and kept across restarts. What was counted is
 * written together with a mark, the last event that was told; a relay that starts reads the log after it. So each end
 * counts once, wherever the process died. On a shared store every node counts the log of all, and one of them writes.
 */

import type { ContractVerdict, HandoffEvent } from "@handfast/core";
import type { RecordWrite, Store, StoredRecord, Surroundings } from "@handfast/engine";
import { OneWriter } from "../directory/one-writer.ts";
import { Turns } from "../directory/turns.ts";
import type { RelayLimits } from "../limits.ts";
import { type Counts, counted, nothingCounted } from "./fulfilment.ts";
import { eventsAfter, lastEvent, type Mark, markOf } from "./log-mark.ts";

const kind = "contract_tally";
/** No contract is called so: their names are hexadecimal. */
const mark_key = "mark";

export interface TallyOptions {
  readonly namespace: string;
  readonly store: Pick<Store, "events" | "records" | "record" | "sharing">;
  readonly put: (writes: readonly RecordWrite[]) => Promise<boolean>;
  readonly schedule: Surroundings["schedule"];
  readonly limits: RelayLimits;
  /** It could not be written; it is tried again. */
  readonly onUnwritten: (error: unknown) => void;
}

export class Tally {
  readonly #options: TallyOptions;
  readonly #turns = new Turns();
  readonly #counts = new Map<string, Counts>();
  readonly #versions = new Map<string, number>();
  /** Contracts whose counts the store does not have yet. */
  readonly #changed = new Set<string>();
  readonly #is_shared: boolean;
  readonly #writer: OneWriter;
  /** On a shared store: up to here the log was counted. */
  #pos = 0;
  #last: HandoffEvent | null = null;
  #mark: Mark | null = null;
  /** Told since the mark was last written. */
  #told = 0;
  #cancelWrite: (() => void) | null = null;
  #isStopped = false;

  private constructor(options: TallyOptions) {
    this.#options = options;
    this.#is_shared = options.store.sharing !== undefined;
    this.#writer = new OneWriter(this.#is_shared);
  }

  /** To be called before anything is committed: from then on every event is told by `apply`. */
  static async open(options: TallyOptions): Promise<Tally> {
    const tally = new Tally(options);
    const records = await options.store.records(options.namespace, kind);
    tally.#learnVersions(records);
    tally.#writer.mayWrite(tally.#versions.get(mark_key) ?? 0);
    for (const { key, value } of records) {
      if (key === mark_key) tally.#mark = value as Mark;
      else tally.#counts.set(key, value as Counts);
    }
    // A log from before there were contracts has nothing to count, and need not be read ever again.
    const is_first = tally.#mark === null && (await options.store.records(options.namespace, "contract")).length === 0;
    if (is_first) tally.#last = await lastEvent(options.store, options.namespace);
    else await tally.#catchUp();
    return tally;
  }

  of(contract_id: string): Counts {
    return this.#counts.get(contract_id) ?? nothingCounted;
  }

  /** Events of one handoff, in order, once they are safe. */
  apply(events: readonly HandoffEvent[], pos?: number): void {
    if (events[0]?.namespace !== this.#options.namespace) return;
    if (pos !== undefined) {
      if (pos <= this.#pos) return;
      this.#pos = pos;
    }
    for (const event of events) this.#count(event);
    this.#last = events.at(-1) ?? this.#last;
    this.#told += events.length;
    if (this.#changed.size > 0 || this.#told >= this.#options.limits.contract_mark_events) this.#writeLater();
  }

  /** After a commit of which nobody knew what is on disk: the log says what became of it. */
  async reread(): Promise<void> {
    const { store, namespace } = this.#options;
    this.#learnVersions(await store.records(namespace, kind));
    await this.#catchUp();
  }

  /** The writes that forget the counts of a contract; `forgotten` once they are committed. */
  ending(contract_id: string): readonly RecordWrite[] {
    const expected_version = this.#versions.get(contract_id);
    if (expected_version === undefined) return [];
    return [{ namespace: this.#options.namespace, kind, key: contract_id, expected_version, value: undefined }];
  }

  forgotten(contract_id: string): void {
    this.#counts.delete(contract_id);
    this.#versions.delete(contract_id);
    this.#changed.delete(contract_id);
  }

  /** Writes what is not written yet. What is committed afterwards, the next start finds in the log. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#write();
  }

  #count(event: HandoffEvent): void {
    const verdict = verdictOf(event);
    if (verdict === null) return;
    this.#counts.set(verdict.id, counted(this.of(verdict.id), verdict));
    this.#changed.add(verdict.id);
  }

  async #catchUp(): Promise<void> {
    const { store, namespace } = this.#options;
    for await (const { event, pos } of eventsAfter(store, namespace, this.#marked())) {
      this.#count(event);
      this.#last = event;
      this.#pos = pos;
      this.#told += 1;
    }
    if (this.#changed.size > 0) this.#writeLater();
  }

  #marked(): Mark | null {
    if (this.#last !== null) this.#mark = markOf(this.#last);
    this.#last = null;
    return this.#mark;
  }

  #writeLater(): void {
    if (this.#isStopped || this.#cancelWrite !== null) return;
    const delay_ms = this.#options.limits.contract_write_ms * this.#writer.patience;
    this.#cancelWrite = this.#options.schedule(delay_ms, () => {
      void this.#write();
    });
  }

  /** One write at a time: the next is made when it is known what became of the last. */
  #write(): Promise<void> {
    return this.#turns.take(async () => {
      this.#cancelWrite?.();
      this.#cancelWrite = null;
      if (this.#last === null && this.#changed.size === 0) return;
      if (this.#is_shared && !(await this.#isMine())) return;
      const mark = this.#marked();
      const changed = [...this.#changed];
      this.#changed.clear();
      this.#told = 0;
      const writes = [this.#record(mark_key, mark), ...changed.map((id) => this.#record(id, this.of(id)))];
      let is_lost = false;
      try {
        is_lost = !(await this.#options.put(writes));
        if (is_lost) throw new Error("the counts of contracts were written by somebody else");
        for (const { key, expected_version } of writes) this.#versions.set(key, expected_version + 1);
        this.#writer.wrote(this.#versions.get(mark_key) ?? 0);
      } catch (error) {
        for (const id of changed) this.#changed.add(id);
        this.#writer.lost();
        if (this.#isStopped) return;
        // Several nodes write: that another was faster is nothing to tell of, and the next look finds out.
        if (!is_lost || !this.#is_shared) this.#options.onUnwritten(error);
        this.#writeLater();
      }
    });
  }

  /** Whether this node is the one to write now; if not, when to look again. */
  async #isMine(): Promise<boolean> {
    const { store, namespace, onUnwritten } = this.#options;
    try {
      const record = await store.record(namespace, kind, mark_key);
      const is_mine = this.#writer.mayWrite(record?.version ?? 0);
      if (!is_mine) this.#learnOthers(await store.records(namespace, kind));
      const [own, written] = [this.#marked(), (record?.value ?? null) as Mark | null];
      // Somebody has written all that this node knows.
      if (own?.handoff === written?.handoff && own?.seq === written?.seq) return false;
      if (!is_mine) this.#writeLater();
      return is_mine;
    } catch (error) {
      if (!this.#isStopped) onUnwritten(error);
      this.#writeLater();
      return false;
    }
  }

  /** Counts that another node has dropped were of a contract that is over. */
  #learnOthers(records: readonly StoredRecord[]): void {
    const stored = new Set(records.map(({ key }) => key));
    for (const key of [...this.#versions.keys()]) if (!stored.has(key)) this.forgotten(key);
    this.#learnVersions(records);
  }

  #record(key: string, value: unknown): RecordWrite {
    return { namespace: this.#options.namespace, kind, key, expected_version: this.#versions.get(key) ?? 0, value };
  }

  #learnVersions(records: readonly StoredRecord[]): void {
    this.#versions.clear();
    for (const { key, version } of records) this.#versions.set(key, version);
  }
}

function verdictOf(event: HandoffEvent): ContractVerdict | null {
  return "contract" in event && typeof event.contract === "object" ? event.contract : null;
}
