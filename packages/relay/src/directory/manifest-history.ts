/**
 * Every manifest that was in force, on disk: an entry for each time one came into force, numbered per agent, and the place of each
 * digest. Read on demand, never held in memory. Bounded per agent and over all; what is dropped is the agent's own oldest,
 * and it is logged.
 */

import type { Time } from "@handfast/core";
import type { RecordWrite } from "@handfast/engine";
import { type ManifestContent, manifestContent } from "@handfast/protocol";
import type { RelayLimits } from "../limits.ts";
import type { AgentRecord, HistoryMark, SignedRegistration } from "./agent.ts";
import type { Records } from "./records.ts";

/** What is stored (record kind `manifest_entry`, by agent and number). It ends where the next one begins. */
interface Entry {
  readonly digest: string;
  readonly version: number | null;
  readonly since: Time;
  readonly signed: boolean;
  readonly registration: SignedRegistration | null;
  /** Null: it stands in the registration. */
  readonly manifest: ManifestContent | null;
}

/** Record kind `manifest_place`, by digest: where it was last in force. */
interface Place {
  readonly agent: string;
  readonly number: number;
}

export interface PastManifest extends Omit<Entry, "manifest"> {
  readonly agent: string;
  readonly number: number;
  /** Null: it is in force. */
  readonly until: Time | null;
  readonly manifest: ManifestContent;
}

interface NewEntry {
  readonly digest: string;
  readonly manifest: ManifestContent;
  readonly since: Time;
  readonly registration: SignedRegistration | null;
}

export interface HistoryOptions {
  readonly namespace: string;
  readonly records: Records;
  readonly limits: RelayLimits;
  /** Told when something had to be dropped. */
  readonly onDropped: (agent: string, digest: string) => void;
}

const entryKind = "manifest_entry";
const placeKind = "manifest_place";
const nothing: HistoryMark = { first: 0, next: 0, bytes: 0 };

export class ManifestHistory {
  private readonly options: HistoryOptions;
  /** Of all agents. */
  private total_bytes = 0;

  constructor(options: HistoryOptions) {
    this.options = options;
  }

  /** From what the agents' own records say. */
  load(marks: Iterable<HistoryMark | undefined>): void {
    this.total_bytes = 0;
    for (const mark of marks) this.total_bytes += mark?.bytes ?? 0;
  }

  /** What goes into it with this change of an agent. `old`: what was in force before. */
  async follow(
    current: AgentRecord | undefined,
    next: Omit<AgentRecord, "history">,
    offers: Omit<ManifestContent, "agent_id"> | null,
    old: ManifestContent | undefined,
  ): Promise<{ readonly history: { readonly history?: HistoryMark }; readonly writes: readonly RecordWrite[] }> {
    const { history, manifest: before = null } = current ?? {};
    const { name, manifest, registration } = next;
    const same = { history: history === undefined ? {} : { history }, writes: [] };
    if (offers === null || manifest === null) return same;
    const is_same = before?.digest === manifest.digest;
    if (is_same && history !== undefined) {
      // Signed anew by another key: the one that signed it first may be worth nothing by now.
      const is_said = before.signed && signerOf(current?.registration ?? null) === signerOf(registration);
      if (is_said || registration === null) return same;
      return { ...same, writes: await this.sign(name, history, registration) };
    }
    const entries: NewEntry[] = [];
    // It was in force under a relay that kept none.
    if (before !== null && old !== undefined && history === undefined && !is_same) {
      const { digest, since } = before;
      entries.push({ digest, since, manifest: manifestContent(old), registration: current?.registration ?? null });
    }
    const { digest, since } = manifest;
    entries.push({ digest, since, manifest: manifestContent({ ...offers, agent_id: name }), registration });
    const { mark, writes } = await this.append(name, history, entries);
    return { history: { history: mark }, writes };
  }

  /** Adds what came into force, oldest first; the mark belongs into the agent's record, in the same commit. */
  private async append(
    agent: string,
    mark: HistoryMark = nothing,
    entries: readonly NewEntry[],
  ): Promise<{ readonly mark: HistoryMark; readonly writes: readonly RecordWrite[] }> {
    let { first, next, bytes } = mark;
    const writes: RecordWrite[] = [];
    const places = new Map<string, number>();
    for (const entry of entries) {
      const value = entryOf(entry);
      bytes += sizeOf(value);
      writes.push(this.write(entryKind, keyOf(agent, next), 0, value));
      places.set(entry.digest, next);
      next++;
    }
    const { limits } = this.options;
    const isOver = () =>
      next - first > limits.manifests_remembered_per_agent ||
      bytes > limits.manifest_history_bytes_per_agent ||
      this.total_bytes - mark.bytes + bytes > limits.manifest_history_bytes_total;
    for (let dropped = 0; isOver() && first < mark.next && dropped < limits.manifests_dropped_at_once; dropped++) {
      const gone = await this.drop(agent, first++, places);
      bytes -= gone.bytes;
      writes.push(...gone.writes);
    }
    for (const [digest, number] of places) writes.push(await this.place(digest, { agent, number }));
    return { mark: { first, next, bytes }, writes };
  }

  /** To be told after the commit. */
  committed(before: HistoryMark = nothing, after: HistoryMark = nothing): void {
    this.total_bytes += after.bytes - before.bytes;
  }

  /** What is in force was unsigned, or signed by another key, and has now been signed. */
  private async sign(
    agent: string,
    mark: HistoryMark,
    registration: SignedRegistration,
  ): Promise<readonly RecordWrite[]> {
    const stored = await this.options.records.find(entryKind, keyOf(agent, mark.next - 1));
    if (stored === null) return [];
    const signed: Entry = { ...(stored.value as Entry), signed: true, registration };
    return [this.write(entryKind, stored.key, stored.version, signed)];
  }

  /** Newest first, those below the number `before`. */
  async list(
    agent: string,
    mark: HistoryMark = nothing,
    before: number,
    limit: number,
  ): Promise<readonly PastManifest[]> {
    const found: PastManifest[] = [];
    const newest = Math.min(before, mark.next) - 1;
    let until = (await this.entry(agent, newest + 1))?.since ?? null;
    for (let number = newest; number >= mark.first && found.length < limit; number--) {
      const entry = await this.entry(agent, number);
      if (entry === null) continue;
      found.push(past(agent, number, until, entry));
      until = entry.since;
    }
    return found;
  }

  async find(digest: string): Promise<PastManifest | null> {
    const place = (await this.options.records.find(placeKind, digest))?.value as Place | undefined;
    if (place === undefined) return null;
    const { agent, number } = place;
    const entry = await this.entry(agent, number);
    if (entry === null) return null;
    return past(agent, number, (await this.entry(agent, number + 1))?.since ?? null, entry);
  }

  /** The writes that make nothing remain of an agent's manifests. */
  async ending(agent: string, mark: HistoryMark = nothing): Promise<readonly RecordWrite[]> {
    const writes: RecordWrite[] = [];
    for (let number = mark.first; number < mark.next; number++) {
      writes.push(...(await this.drop(agent, number)).writes);
    }
    return writes;
  }

  /** `kept`: digests whose place is written anew in the same commit. Null: nobody need be told that it went. */
  private async drop(agent: string, number: number, kept: ReadonlyMap<string, number> | null = null) {
    const stored = await this.options.records.find(entryKind, keyOf(agent, number));
    if (stored === null) return { bytes: 0, writes: [] };
    const entry = stored.value as Entry;
    const writes = [this.write(entryKind, stored.key, stored.version, undefined)];
    const place = await this.options.records.find(placeKind, entry.digest);
    // It may have come into force again later.
    const isLast = place !== null && (place.value as Place).number === number;
    if (isLast && kept?.has(entry.digest) !== true) {
      writes.push(this.write(placeKind, place.key, place.version, undefined));
    }
    if (kept !== null) this.options.onDropped(agent, entry.digest);
    return { bytes: sizeOf(entry), writes };
  }

  private async place(digest: string, place: Place): Promise<RecordWrite> {
    const known = await this.options.records.find(placeKind, digest);
    return this.write(placeKind, digest, known?.version ?? 0, place);
  }

  private async entry(agent: string, number: number): Promise<Entry | null> {
    return ((await this.options.records.find(entryKind, keyOf(agent, number)))?.value as Entry | undefined) ?? null;
  }

  private write(kind: string, key: string, expected_version: number, value: Entry | Place | undefined): RecordWrite {
    return { namespace: this.options.namespace, kind, key, expected_version, value };
  }
}

/** The thumbprint in its proof. */
function signerOf(registration: SignedRegistration | null): unknown {
  const proof = registration?.proof;
  return typeof proof === "object" && proof !== null && "key" in proof ? proof.key : null;
}

function entryOf({ digest, manifest, since, registration }: NewEntry): Entry {
  const signed = registration !== null;
  return { digest, version: manifest.version ?? null, since, signed, registration, manifest: signed ? null : manifest };
}

function past(agent: string, number: number, until: Time | null, entry: Entry): PastManifest {
  const { manifest, registration } = entry;
  // One of the two is always there.
  const content = manifest ?? manifestContent(JSON.parse(registration?.document ?? "{}") as ManifestContent);
  return { ...entry, agent, number, until, manifest: content };
}

/** No name has a slash in it. */
function keyOf(agent: string, number: number): string {
  return `${agent}/${number}`;
}

function sizeOf(entry: Entry): number {
  return Buffer.byteLength(JSON.stringify(entry));
}
