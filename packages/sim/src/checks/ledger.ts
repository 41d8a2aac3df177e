/**
 * Sits between the relay and the disk and sees every commit that really happened: keeps each handoff's history, checks
 * each write against it, and at the end compares the disk with what was committed.
 */

import type { Handoff, HandoffEvent, Time } from "@handfast/core";
import type { Store, Unit, UnitResult, Write } from "@handfast/engine";
import type { Said } from "../actors/said.ts";
import { stateOf } from "../coverage/rows.ts";
import { namespace } from "../namespace.ts";
import type { Random } from "../random.ts";
import type { Tally } from "../run/tally.ts";
import type { Scenario } from "../scenario/scenario.ts";
import type { Directory } from "../world/directory.ts";
import type { RelayTimes } from "../world/relay-times.ts";
import { Admission } from "./admission.ts";
import { Budgets } from "./budgets.ts";
import { compareStored } from "./compare-stored.ts";
import type { History } from "./history.ts";
import { Lanes } from "./lanes.ts";
import { Log } from "./log.ts";
import { ReadyWork } from "./ready-work.ts";
import { RoutingChecks } from "./routing.ts";
import { isSameRecord } from "./same-record.ts";
import { ensure } from "./violation.ts";

interface LedgerContext {
  readonly said: Said;
  readonly directory: Directory;
  readonly times: RelayTimes;
  readonly scenario: Scenario;
  readonly tally: Tally;
  readonly note: ((about: string, text: string) => void) | null;
  /** Runs a check; a violation is kept and ends the simulation, and never reaches the engine. */
  readonly check: (act: () => void) => void;
  /** Whether a worker of this agent waits for work at the relay. */
  readonly isAsking: (agent: string) => boolean;
}

/** How many of the open ones, and of all, are looked at for one in a rare state. */
const looked_at = 100;

export class Ledger {
  readonly #context: LedgerContext;
  readonly #rows = new Map<string, Handoff>();
  readonly #ids: string[] = [];
  readonly #openIds = new Set<string>();
  readonly #admission: Admission;
  readonly #budgets: Budgets;
  readonly #openBySender = new Map<string, number>();
  readonly #endedInLast = new Map<string, number>();
  readonly lanes = new Lanes();
  readonly log = new Log();
  readonly ready: ReadyWork;
  readonly #routing: RoutingChecks;
  #untaken = 0;

  constructor(context: LedgerContext) {
    this.#context = context;
    const { said, directory, scenario } = context;
    this.#budgets = new Budgets(said);
    this.#admission = new Admission(context, this.lanes, this.#budgets);
    const queuesOf = (agent: string) => directory.queues(directory.agent(agent));
    this.ready = new ReadyWork(scenario.coreLimits, queuesOf, directory.standings);
    this.#routing = new RoutingChecks({ ...context, openRows: () => this.#openRows() });
  }

  get size(): number {
    return this.histories.size;
  }

  get open(): number {
    return this.#openIds.size;
  }

  get histories(): ReadonlyMap<string, History> {
    return this.#admission.histories;
  }

  /** Ended, not confirmed by its sender, and still kept. */
  get untaken(): number {
    return this.#untaken;
  }

  /** One of all that were ever accepted: those in rare states about as likely as those in common ones. */
  any(random: Random, now: Time): Handoff | null {
    const some = [...this.#openIds].slice(-looked_at);
    for (let nth = 0; nth < looked_at && this.#ids.length > 0; nth += 1) some.push(random.pick(this.#ids));
    const byState = Map.groupBy(
      some.flatMap((id) => this.#rows.get(id) ?? []),
      (row) => (this.histories.get(row.accepted.id)?.purged === true ? "gone" : stateOf(row, "tick", now)),
    );
    return byState.size === 0 ? null : random.pick(random.pick([...byState.values()]));
  }

  openOf(from: string): number {
    return this.#openBySender.get(from) ?? 0;
  }

  /** How many were open at most while the last batch was decided: what ended in it was open before. */
  openBeforeLast(from: string): number {
    return this.openOf(from) + (this.#endedInLast.get(from) ?? 0);
  }

  row(id: string): Handoff | undefined {
    return this.#rows.get(id);
  }

  payloadOf(history: History): Uint8Array | null {
    return this.#admission.payloadOf(history);
  }

  /** Whether a submit below this parent must be refused for a budget, after so many others of the same batch. */
  isBudgetSpent(parent: string, others: number): boolean {
    const history = this.histories.get(parent);
    return history !== undefined && this.#budgets.isSpent(this.#admission.budgetsAbove(history), others);
  }

  relayStarted(now: Time): void {
    for (const history of this.histories.values()) history.relayStarted(now);
  }

  beat(id: string, fence: number, now: Time): void {
    this.histories.get(id)?.beat(fence, now);
  }

  /** Commits, and looks at what really was committed. */
  async commit(disk: Store, units: readonly Unit[]): Promise<readonly UnitResult[]> {
    const results = await disk.commit(units);
    this.#endedInLast.clear();
    this.#context.check(() => {
      for (const [index, unit] of units.entries()) if (results[index] === "ok") this.#unit(unit);
      this.ready.committed();
      this.#routing.committed();
    });
    return results;
  }

  async prune(disk: Store, now: Time, before: Time, limit: number) {
    const pruned = await disk.prune(now, before, limit);
    const isKept = (id: string) => this.histories.get(id)?.purged === false;
    this.#context.check(() => this.log.pruned(pruned.events, before, isKept));
    return pruned;
  }

  #unit(unit: Unit): void {
    for (const write of unit.writes) this.#written(write);
    this.#budgets.compare((id) => (this.histories.get(id)?.purged === true ? undefined : this.#rows.get(id)));
    this.#admission.unitOver();
  }

  #written(write: Write): void {
    const { next, events } = write;
    const { id, from } = next.accepted;
    const before = this.#rows.get(id);
    ensure(
      (before?.version ?? 0) === write.expected_version && next.version > write.expected_version,
      "versions rise in turn",
      id,
      () => `${before?.version} to ${next.version}, expected ${write.expected_version}`,
    );
    const isNew = before === undefined;
    const history = isNew ? this.#admission.admit(next) : this.histories.get(id);
    if (history === undefined) throw new Error(`no history of ${id}`);
    if (isNew) this.#ids.push(id);
    const wasOpen = !isNew && !history.hasEnded;
    const wasUntaken = isUntaken(history);
    for (const event of events) {
      this.#event(history, event, next);
      if (event.type === "delivered") this.#routing.delivered(history, event, before);
    }
    this.#rows.set(id, next);
    this.#count(from, (history.hasEnded ? 0 : 1) - (wasOpen ? 1 : 0));
    if (history.hasEnded) this.#openIds.delete(id);
    else this.#openIds.add(id);
    this.#untaken += (isUntaken(history) ? 1 : 0) - (wasUntaken ? 1 : 0);
    if (history.purged) {
      ensure(write.purge !== null, "what is purged is gone", id, "only the event was written");
      return;
    }
    compareStored(history, next, before, this.#context.said);
    this.ready.written(history, write);
  }

  *#openRows(): Iterable<Handoff> {
    for (const id of this.#openIds) {
      const row = this.#rows.get(id);
      if (row !== undefined) yield row;
    }
  }

  #count(from: string, delta: number): void {
    if (delta === 0) return;
    this.#openBySender.set(from, this.openOf(from) + delta);
    if (delta < 0) this.#endedInLast.set(from, (this.#endedInLast.get(from) ?? 0) - delta);
  }

  #event(history: History, event: HandoffEvent, next: Handoff): void {
    const { tally, note } = this.#context;
    note?.(event.handoff, `event ${JSON.stringify({ ...event, handoff: undefined, namespace: undefined })}`);
    this.log.add(event);
    tally.add("events", event.type);
    history.add(event);
    this.#budgets.happened(event, next);
    if (history.end === event) tally.add("ends", `${event.type} ${history.end.code}`);
  }

  /** What is on disk is what was committed, row by row and event by event. */
  async compareWithDisk(disk: Store): Promise<void> {
    const ids = [...this.histories.keys()];
    const rows = await disk.load(namespace, ids);
    for (const [index, id] of ids.entries()) {
      const stored = rows[index] ?? null;
      if (this.histories.get(id)?.purged === true) {
        ensure(stored === null, "what is purged is gone", id, "the row is still there");
        continue;
      }
      ensure(isSameRecord(stored, this.#rows.get(id)), "what was committed is on disk", id, () =>
        stored === null ? "the row is missing" : `the row differs: ${JSON.stringify(stored.status)}`,
      );
    }
    await this.log.compare(disk);
  }
}

function isUntaken({ hasEnded, taken, purged }: History): boolean {
  return hasEnded && !taken && !purged;
}
