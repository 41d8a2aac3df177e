/**
 * Agents that are registered elsewhere: imported by an operator, refreshed before their lease ends, gone from discovery when it
 * has. The first key that signed for a name is the only one, until an operator drops the import.
 */

import type { Time } from "@handfast/core";
import type { Surroundings } from "@handfast/engine";
import type { LivenessView } from "@handfast/protocol/wire";
import type { RelayLimits } from "../../limits.ts";
import { Problem } from "../../problem.ts";
import type { Schemas } from "../../schemas/schemas.ts";
import type { Provider } from "../discovery/entry.ts";
import { commitChanges, RecordTable } from "../record-table.ts";
import type { Records } from "../records.ts";
import { Turns } from "../turns.ts";
import type { FetchForeign } from "./fetch-foreign.ts";
import { type ImportRecord, leaseUntil, type Told } from "./import-record.ts";
import { originOf, readImportUrl } from "./import-url.ts";
import { readTold, unproven } from "./read-told.ts";

export interface ImportsOptions {
  readonly namespace: string;
  readonly records: Records;
  readonly schemas: Schemas;
  readonly limits: RelayLimits;
  readonly surroundings: Pick<Surroundings, "schedule">;
  readonly now: () => Time;
  readonly fetch: FetchForeign;
  /** Told whenever something is known anew of an imported agent; null: it is gone. */
  readonly onChange: (name: string, provider: Provider | null) => void;
  /** A refresh of its own accord came to nothing; it is tried again. */
  readonly onFailure: (name: string, error: unknown) => void;
}

/** How the refreshes of one import go: forgotten when the relay stops. */
interface Attempts {
  readonly failures: number;
  readonly failure: string | null;
  readonly next_at: Time;
}

export interface Import extends ImportRecord, Omit<Attempts, "next_at"> {
  readonly next_refresh_at: Time;
  readonly lease_until: Time;
}

export class Imports {
  readonly turns: Turns;
  readonly #options: ImportsOptions;
  readonly #rows: RecordTable<ImportRecord>;
  readonly #attempts = new Map<string, Attempts>();
  #started = false;
  #refreshing = false;
  #cancel = () => {};

  private constructor(options: ImportsOptions) {
    this.#options = options;
    this.turns = new Turns(options.records.others);
    this.#rows = new RecordTable(options.namespace, "import", {
      remove: (name) => {
        this.#attempts.delete(name);
        options.onChange(name, null);
      },
      add: (name, record) => options.onChange(name, providerOf(record)),
    });
  }

  static async open(options: ImportsOptions): Promise<Imports> {
    const imports = new Imports(options);
    await imports.load();
    return imports;
  }

  /** Reads everything from the store; again, after a commit of which nobody knows what is on disk. */
  async load(): Promise<void> {
    const before = Array.from(this.#rows.values(), ({ name }) => name);
    await this.#rows.load(this.#options.records);
    for (const name of before) if (this.#rows.get(name) === undefined) this.#options.onChange(name, null);
    for (const record of this.#rows.values()) this.#options.onChange(record.name, providerOf(record));
  }

  /** Others may have imported what is due sooner. */
  takenOver(): void {
    if (!this.#refreshing) this.#arm();
  }

  /** Refreshes what is due, from now on until `stop`. */
  start(): void {
    this.#started = true;
    this.#arm();
  }

  stop(): void {
    this.#started = false;
    this.#cancel();
  }

  list(): readonly Import[] {
    return Array.from(this.#rows.values(), (record) => this.#shown(record)).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  get(name: string): Import | undefined {
    const record = this.#rows.get(name);
    return record === undefined ? undefined : this.#shown(record);
  }

  /** What an import is to discovery: nobody here hears of its workers. */
  liveness(name: string): LivenessView | undefined {
    const record = this.#rows.get(name);
    if (record === undefined) return undefined;
    const lease_until = leaseUntil(record);
    const state = this.#options.now() < lease_until ? "idle" : "lapsed";
    return { state, last_seen_at: record.fetched_at, lease_until, workers: 0 };
  }

  /** The same URL again refreshes. */
  async import(text: string): Promise<Import> {
    const url = readImportUrl(text);
    const told = await this.#fetch(url);
    return this.turns.take(() => this.#keep(nameOf(told, url), url, told));
  }

  async refresh(name: string): Promise<Import> {
    const url = new URL(this.#known(name).url);
    try {
      const told = await this.#fetch(url);
      // What is said of another agent is none of this one's: it would be found under a name that is not its own.
      if (nameOf(told, url) !== name) throw tellsOfAnother(name, url, told);
      return await this.turns.take(() => {
        this.#known(name);
        return this.#keep(name, url, told);
      });
    } catch (error) {
      this.#failed(name, error);
      throw error;
    }
  }

  drop(name: string): Promise<void> {
    return this.turns.take(async () => {
      this.#known(name);
      await commitChanges(this.#options.records, [this.#rows.delete(name)]);
      this.#attempts.delete(name);
      this.#options.onChange(name, null);
    });
  }

  /** One after another: a thousand of them are no reason to fetch from a thousand places at once. */
  async #refreshDue(): Promise<void> {
    if (this.#refreshing) return;
    this.#refreshing = true;
    const now = this.#options.now();
    for (const { name, next_refresh_at } of this.list()) {
      if (!this.#started) break;
      if (next_refresh_at > now || this.#rows.get(name) === undefined) continue;
      await this.refresh(name).catch((error: unknown) => this.#options.onFailure(name, error));
    }
    this.#refreshing = false;
  }

  /** Nothing is looked at before something is due. */
  #arm(): void {
    this.#cancel();
    if (!this.#started || this.#rows.size === 0) return;
    const { now, surroundings, limits } = this.#options;
    const due = Math.min(...this.list().map(({ next_refresh_at }) => next_refresh_at));
    const pause_ms = Math.min(Math.max(due - now(), limits.import_pause_ms), limits.import_look_ms);
    this.#cancel = surroundings.schedule(pause_ms, () => void this.#refreshDue().then(() => this.#arm()));
  }

  async #fetch(url: URL): Promise<Told> {
    const { fetch, surroundings, limits, schemas } = this.#options;
    const controller = new AbortController();
    const late = new Problem(400, "import_unreachable", `${url.href} did not answer in ${limits.import_fetch_ms} ms.`, {
      fields: ["/url"],
    });
    const cancel = surroundings.schedule(limits.import_fetch_ms, () => controller.abort(late));
    try {
      const bytes = await fetch(url, controller.signal);
      return await readTold(url, bytes, { limits, schemas });
    } catch (error) {
      throw controller.signal.aborted ? late : error;
    } finally {
      cancel();
    }
  }

  async #keep(name: string, url: URL, told: Told): Promise<Import> {
    const current = this.#rows.get(name);
    if (current === undefined) this.#checkRoom();
    else checkFollows(current, told);
    const fetched_at = this.#options.now();
    const imported_at = current?.imported_at ?? fetched_at;
    const record: ImportRecord = { name, url: url.href, told, imported_at, fetched_at };
    await commitChanges(this.#options.records, [this.#rows.set(name, record)]);
    this.#attempts.delete(name);
    this.#options.onChange(name, providerOf(record));
    this.#arm();
    return this.#shown(record);
  }

  #shown(record: ImportRecord): Import {
    const lease_until = leaseUntil(record);
    const half_ms = (lease_until - record.fetched_at) / 2;
    const tried = this.#attempts.get(record.name);
    return {
      ...record,
      lease_until,
      failures: tried?.failures ?? 0,
      failure: tried?.failure ?? null,
      // While half of the lease is left, many refreshes may fail before it ends.
      next_refresh_at: tried?.next_at ?? record.fetched_at + half_ms,
    };
  }

  #failed(name: string, error: unknown): void {
    if (this.#rows.get(name) === undefined) return;
    const { limits, now } = this.#options;
    const failures = (this.#attempts.get(name)?.failures ?? 0) + 1;
    const pause_ms = Math.min(limits.import_retry_ms * 2 ** Math.min(failures - 1, 20), limits.import_retry_most_ms);
    const failure = error instanceof Error ? error.message : String(error);
    this.#attempts.set(name, { failures, failure, next_at: now() + pause_ms });
  }

  #known(name: string): ImportRecord {
    const record = this.#rows.get(name);
    if (record !== undefined) return record;
    throw new Problem(404, "unknown_import", `Nothing was imported as ${name}. GET /v1/imports lists what was.`);
  }

  #checkRoom(): void {
    const most = this.#options.limits.imports;
    if (this.#rows.size < most) return;
    throw new Problem(507, "imports_full", `The relay has imported ${most} agents, which is all it takes. Drop some.`);
  }
}

function nameOf({ agent_id }: Told, url: URL): string {
  return `${agent_id}@${originOf(url)}`;
}

function tellsOfAnother(name: string, url: URL, { agent_id }: Told): Problem {
  return unproven(
    url,
    `it tells of ${agent_id} now, and ${name} was imported from there. Import it anew, and drop ${name}`,
  );
}

/** Whether what was told now may take the place of what was told before. */
function checkFollows({ name, told: before }: ImportRecord, told: Told): void {
  if ((before.key?.thumbprint ?? null) !== (told.key?.thumbprint ?? null)) {
    const [was, is] = [before, told].map(({ key }) => key?.thumbprint ?? "nobody");
    const next = "If the agent really has a new key, drop the import and import it anew.";
    const message = `${name} was signed by ${was} and is signed by ${is} now. ${next}`;
    throw new Problem(409, "import_key_changed", message, { was, is });
  }
  const isOlder = before.version !== null && (told.version === null || told.version < before.version);
  const isOther = before.version !== null && told.version === before.version && told.manifest !== before.manifest;
  if (!isOlder && !isOther) return;
  const what = isOlder ? `older than version ${before.version}, which is known` : "another of the same number";
  const message = `${name} shows version ${told.version ?? "none"} of its manifest, ${what}. Fetch it from where it is current.`;
  throw new Problem(409, "import_older", message, { known: before.version, told: told.version });
}

function providerOf({ name, url, told, fetched_at }: ImportRecord): Provider {
  return {
    name,
    capabilities: told.capabilities,
    manifest: told.manifest,
    signed: told.key !== null,
    discovery_endpoint: url,
    foreign: { url, fetched_at, verified: told.key !== null },
  };
}
