/** What a judged batch changes, as rows for a few statements, whatever the number of its units. */

import { type Accepted, type Handoff, type HandoffEvent, liveLease } from "@handfast/core";
import {
  type Body,
  type FollowedEvent,
  type LogEntry,
  type RecordWrite,
  stateJson,
  type Write,
} from "@handfast/engine";
import { type Cell, Rows, type Shape } from "./arrays.ts";
import { combine, type Statement } from "./combine.ts";
import { ensure } from "./errors.ts";
import { type Judgement, nameOf, type Target } from "./judge.ts";
import { namesInEntry, namesInEvent } from "./names-in.ts";
import { appendEvents, eventShape, of_no_handoff } from "./sql/event.ts";
import * as handoff from "./sql/handoff.ts";
import { keepKeys, keptKeyShape } from "./sql/key.ts";
import * as record from "./sql/record.ts";
import { insertRecordChanges, lockRecordChanges, recordChangeShape } from "./sql/record-change.ts";
import { type Facet, facetsOf, type Standing, standingAfter } from "./standing.ts";

/** Where it stands in the log, but for its position. */
interface About {
  readonly namespace: string;
  readonly handoff: string;
  readonly correlation_id: string | null;
  readonly at: number;
  readonly resumed_at: number | null;
}

export class Changes {
  readonly #accepted = new Rows(handoff.acceptedShape);
  readonly #inserted = new Rows(handoff.handoffShape);
  readonly #updated = new Rows(handoff.updatedShape);
  readonly #purged = new Rows(handoff.numShape);
  readonly #keptKeys = new Rows(keptKeyShape);
  readonly #ready = new Rows(handoff.readyShape);
  readonly #notReady = new Rows(handoff.numShape);
  readonly #timers = new Rows(handoff.timerShape);
  readonly #noTimers = new Rows(handoff.numShape);
  readonly #leases = new Rows(handoff.leaseShape);
  readonly #noLeases = new Rows(handoff.endedLeaseShape);
  readonly #facets = new Rows(handoff.facetShape);
  readonly #noFacets = new Rows(handoff.facetShape);
  readonly #oldCheckpoints = new Rows(handoff.numShape);
  readonly #bodies = new Rows(handoff.bodyShape);
  readonly #artifacts = new Rows(handoff.artifactShape);
  readonly #events = new Rows(eventShape);
  readonly #newRecords = new Rows(record.recordShape);
  readonly #records = new Rows(record.recordShape);
  readonly #noRecords = new Rows(record.recordNameShape);
  readonly #recordChanges = new Rows(recordChangeShape);
  /** By namespace, sender and state. */
  readonly #tally = new Map<string, number>();
  readonly #node: string | null;
  /** Those that are left to this node's workers first, by `nameOf`. */
  readonly #staying = new Set<string>();
  /** Whether something is left ready to all nodes alike. */
  has_left = false;
  /** What becomes of the log, in its order. */
  readonly told: Omit<FollowedEvent, "pos">[] = [];
  /** The numbers of the handoffs, by `nameOf`. */
  readonly nums = new Map<string, number>();

  /** `numbers`: one for each new handoff, in order. `node`: who writes; null: no other node wants to know of it. */
  constructor({ units, targets, records }: Judgement, numbers: readonly number[], node: string | null) {
    this.#node = node;
    const free = numbers.values();
    const { nums } = this;
    for (const [name, target] of targets) nums.set(name, target.before?.num ?? numberFrom(free));
    for (const { writes, entries = [], resumed_at = null } of units) {
      for (const write of writes) if (write.stays === true) this.#staying.add(nameOf(write));
      for (const { events } of writes) for (const event of events) this.#tell(event, resumed_at);
      for (const entry of entries) this.#note(entry, resumed_at);
    }
    // Rows are locked in the order of their numbers, everywhere: two nodes never wait for each other.
    const ordered = [...targets].map(([name, target]) => ({ num: numberOf(nums, name), target }));
    for (const { num, target } of ordered.sort((a, b) => a.num - b.num)) this.#target(num, target);
    this.#enclosures(
      units.flatMap(({ writes }) => writes),
      targets,
      nums,
    );
    for (const { existed, write } of records.values()) {
      this.#record(existed, write);
      const { namespace, kind, key } = write;
      if (node !== null) this.#recordChanges.add({ namespace, kind, key, node });
    }
  }

  /**
   * In the order in which they must run. The end of the log comes last, and its lock is held for the shortest time; nobody who holds it
   * waits for another. In most commits all of it is one statement.
   */
  statements(): readonly Statement[] {
    const part = (sql: string, rows: Rows<Shape>): readonly Statement[] =>
      rows.size > 0 ? [{ sql, parameters: rows.parameters() }] : [];
    const counted = (sql: string, rows: Rows<Shape>) => part(sql, rows).map((one) => ({ ...one, count: rows.size }));
    const before = part(handoff.deleteCheckpoints, this.#oldCheckpoints);
    const parts = [
      counted(handoff.updateHandoffs, this.#updated),
      counted(handoff.insertAccepted, this.#accepted),
      part(handoff.insertHandoffs, this.#inserted),
      part(handoff.deleteReady, this.#notReady),
      part(handoff.putReady, this.#ready),
      part(handoff.deleteTimers, this.#noTimers),
      part(handoff.putTimers, this.#timers),
      counted(handoff.deleteLeases, this.#noLeases),
      counted(handoff.putLeases, this.#leases),
      part(handoff.deleteFacets, this.#noFacets),
      part(handoff.insertFacets, this.#facets),
      part(handoff.insertBodies, this.#bodies),
      part(handoff.addTally, this.#tallied()),
    ].flat();
    const after = [
      part(handoff.insertArtifacts, this.#artifacts),
      handoff.deletePurged.flatMap((sql) => part(sql, this.#purged)),
      part(keepKeys, this.#keptKeys),
      part(record.insertRecords, this.#newRecords),
      part(record.updateRecords, this.#records),
      part(record.deleteRecords, this.#noRecords),
      this.#recordChanges.size > 0 ? [{ sql: lockRecordChanges, parameters: [] }] : [],
      part(insertRecordChanges, this.#recordChanges),
    ].flat();
    const [end = null] = part(appendEvents, this.#events);
    if (after.length === 0) return [...before, ...combine(parts, end)];
    return [...before, ...combine(parts, null), ...after, ...combine([], end)];
  }

  #tell(event: HandoffEvent, resumed_at: number | null): void {
    const { namespace, handoff, at } = event;
    const correlation_id = event.correlation_id === handoff ? null : event.correlation_id;
    this.#log({ namespace, handoff, correlation_id, at, resumed_at }, namesInEvent(event), event);
  }

  #note(entry: LogEntry, resumed_at: number | null): void {
    const { namespace, at } = entry;
    const place = { namespace, handoff: of_no_handoff, correlation_id: null, at, resumed_at };
    this.#log(place, namesInEntry(entry), entry);
  }

  #log(about: About, agents: string, told: HandoffEvent | LogEntry): void {
    const json = JSON.stringify(told);
    this.#events.add({ ...about, agents, json });
    const { namespace, resumed_at } = about;
    this.told.push({ namespace, json, told, ...(resumed_at !== null && { resumed_at }) });
  }

  #target(num: number, target: Target): void {
    const { before, first, last } = target;
    const { accepted } = last.next;
    const was = before?.standing ?? null;
    const is = last.purge === null ? standingAfter(last) : null;
    this.#move(accepted, was?.state ?? null, is?.state ?? null);
    this.#found(num, target, was, is);
    if (last.purge !== null) {
      if (before !== null) this.#purged.add({ num });
      const { namespace, from: sender, idempotency_key: key, id, content } = accepted;
      this.#keptKeys.add({ namespace, sender, key, id, content, until: last.purge.key_until });
      return;
    }
    const row = { num, version: last.next.version, json: stateJson(last.next), ...standingAfter(last) };
    if (before !== null) return this.#updated.add({ ...row, was_version: before.version, ...heardBy(first) });
    this.#inserted.add(row);
    this.#accept(num, last.next, first.bodies.find(isOwnBody));
  }

  #accept(num: number, { accepted }: Handoff, own: Body | undefined): void {
    this.#accepted.add({
      num,
      namespace: accepted.namespace,
      id: accepted.id,
      sender: accepted.from,
      key: accepted.idempotency_key,
      content: accepted.content,
      addressee: accepted.to,
      capability: accepted.capability,
      correlation_id: accepted.correlation_id === accepted.id ? null : accepted.correlation_id,
      causation_id: accepted.causation?.id ?? null,
      detached: accepted.detached,
      accepted_at: accepted.accepted_at,
      deadline_at: accepted.deadline_at,
      version_range: accepted.version_range ?? null,
      canary: accepted.canary ?? null,
      conversation_id: accepted.conversation_id,
      json: JSON.stringify(accepted),
      has_body: own !== undefined,
      document: own?.document ?? null,
      proof: own?.proof ?? null,
      payload: own?.payload ?? null,
    });
  }

  /** The rows by which it is found: only what differs from before is written. */
  #found(num: number, { first, last }: Target, was: Standing | null, is: Standing | null): void {
    const { accepted } = last.next;
    const { namespace } = accepted;
    if (is?.queue != null) {
      const { queue, rank, excluded } = is;
      const same = was?.queue === queue && was.rank === rank && was.excluded === excluded;
      if (!same) this.#leave({ num, namespace, queue, rank, excluded }, nameOf(last));
    } else if (was?.queue != null) this.#notReady.add({ num });
    if (is?.wake_at != null) {
      if (was?.wake_at !== is.wake_at) this.#timers.add({ num, wake_at: is.wake_at });
    } else if (was?.wake_at != null) this.#noTimers.add({ num });
    if (is?.holder_agent != null) {
      const { holder_agent: agent, holder_worker: worker } = is;
      // Given back and taken again by the same worker in one batch, it is by another request.
      const is_anew = first !== last || last.events.some(({ type }) => type === "delivered");
      const same = was?.holder_agent === agent && was.holder_worker === worker && !is_anew;
      const request_id = liveLease(last.next)?.request_id ?? null;
      if (!same) this.#leases.add({ num, namespace, agent, worker, request_id, ...heardBy(first) });
    } else if (was?.holder_agent != null) this.#noLeases.add({ num, ...heardBy(first) });
    const before = was === null ? [] : facetsOf(accepted, was);
    const after = is === null ? [] : facetsOf(accepted, is);
    for (const facet of before) if (!has(after, facet)) this.#noFacets.add({ namespace, num, ...facet });
    for (const facet of after) if (!has(before, facet)) this.#facets.add({ namespace, num, ...facet });
  }

  #leave(ready: { readonly [Name in Exclude<keyof typeof handoff.readyShape, "keeper">]: Cell }, name: string): void {
    const keeper = this.#staying.has(name) ? this.#node : null;
    this.has_left ||= keeper === null;
    this.#ready.add({ ...ready, keeper });
  }

  #move({ namespace, from }: Accepted, was: string | null, is: string | null): void {
    if (was === is) return;
    const count = (state: string, by: number) => {
      const key = JSON.stringify([namespace, from, state]);
      this.#tally.set(key, (this.#tally.get(key) ?? 0) + by);
    };
    if (was !== null) count(was, -1);
    if (is !== null) count(is, 1);
  }

  #tallied(): Rows<typeof handoff.tallyShape> {
    const rows = new Rows(handoff.tallyShape);
    for (const [key, number] of this.#tally) {
      const [namespace = "", sender = "", state = ""]: readonly string[] = JSON.parse(key);
      if (number !== 0) rows.add({ namespace, sender, state, number });
    }
    return rows;
  }

  #enclosures(writes: readonly Write[], targets: Judgement["targets"], nums: ReadonlyMap<string, number>): void {
    const checkpoints = newestCheckpoints(writes);
    for (const write of writes) {
      const name = nameOf(write);
      const target = targets.get(name);
      if (target === undefined || target.last.purge !== null) continue;
      const num = numberOf(nums, name);
      for (const body of write.bodies) this.#body(num, body, write, target, checkpoints.get(name));
      for (const sha256 of write.artifacts) {
        this.#artifacts.add({ namespace: write.next.accepted.namespace, sha256, num });
      }
    }
  }

  #body(num: number, body: Body, write: Write, { before, first }: Target, newest: Body | undefined): void {
    if (isOwnBody(body)) {
      ensure(before === null && write === first, "the body of a handoff comes with its accept, where it was written");
      return;
    }
    const { kind, number, document, proof, payload } = body;
    if (kind === "checkpoint") {
      if (body !== newest) return;
      this.#oldCheckpoints.add({ num });
    }
    this.#bodies.add({ num, kind, number, document, proof, payload });
  }

  #record(existed: boolean, { namespace, kind, key, expected_version, value }: RecordWrite): void {
    if (value === undefined) {
      if (existed) this.#noRecords.add({ namespace, kind, key });
      return;
    }
    const row = { namespace, kind, key, version: expected_version + 1, json: JSON.stringify(value) };
    if (existed) this.#records.add(row);
    else this.#newRecords.add(row);
  }
}

/** The last sign of the holder that the decision knew of, where it went by that. */
function heardBy({ heard }: Write): { readonly heard_fence: number | null; readonly heard_at: number | null } {
  return { heard_fence: heard?.fence ?? null, heard_at: heard?.at ?? null };
}

/** Of checkpoints only the newest is kept. */
function newestCheckpoints(writes: readonly Write[]): ReadonlyMap<string, Body> {
  const newest = new Map<string, Body>();
  for (const write of writes) {
    for (const body of write.bodies) if (body.kind === "checkpoint") newest.set(nameOf(write), body);
  }
  return newest;
}

function has(facets: readonly Facet[], { kind, value }: Facet): boolean {
  return facets.some((facet) => facet.kind === kind && facet.value === value);
}

/** The body that a handoff is accepted with lies beside its accepted part. */
function isOwnBody({ kind, number }: Body): boolean {
  return kind === "handoff" && number === 0;
}

function numberFrom(free: Iterator<number>): number {
  const next = free.next();
  ensure(next.done !== true, "there is a number for every new handoff");
  return next.value;
}

function numberOf(nums: ReadonlyMap<string, number>, name: string): number {
  const num = nums.get(name);
  ensure(num !== undefined, `${name} was judged`);
  return num;
}
