/**
 * Sits between the relay and the disk and sees every commit that really happened: keeps each handoff's history, checks
 * each write against it, and at the end compares the disk with what was committed.
 */

import type { Handoff, HandoffEvent, Time } from "@handfast/core";
import { laneOf, liveLease } from "@handfast/core";
import type { Store, Unit, UnitResult, Write } from "@handfast/engine";
import type { Directory } from "./directory.ts";
import { History } from "./history.ts";
import type { RelayTimes } from "./relay-times.ts";
import type { Said } from "./said.ts";
import type { Tally } from "./tally.ts";
import { ensure, Violation } from "./violation.ts";

export const namespace = "default";
const events_per_page = 2_000;

interface LedgerContext {
  readonly said: Said;
  readonly directory: Directory;
  readonly times: RelayTimes;
  readonly tally: Tally;
  readonly note: (about: string, text: string) => void;
  /** Runs a check; a violation is kept and ends the simulation, and never reaches the engine. */
  readonly check: (act: () => void) => void;
}

export class Ledger {
  readonly #context: LedgerContext;
  readonly #histories = new Map<string, History>();
  readonly #rows = new Map<string, Handoff>();
  readonly #keys = new Map<string, string>();
  readonly #lanes = new Map<string, History[]>();
  /** The log as it must read, in order. */
  readonly #log: string[] = [];
  #last_at: Time = 0;
  #open = 0;

  constructor(context: LedgerContext) {
    this.#context = context;
  }

  get size(): number {
    return this.#histories.size;
  }

  get open(): number {
    return this.#open;
  }

  get histories(): ReadonlyMap<string, History> {
    return this.#histories;
  }

  row(id: string): Handoff | undefined {
    return this.#rows.get(id);
  }

  relayStarted(now: Time): void {
    for (const history of this.#histories.values()) history.relayStarted(now);
  }

  /** A store that reports to this ledger what it really committed. */
  watch(disk: Store): Store {
    return new Proxy(disk, {
      get: (target, name) => {
        if (name === "commit") return (units: readonly Unit[]) => this.#commit(target, units);
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  }

  async #commit(disk: Store, units: readonly Unit[]): Promise<readonly UnitResult[]> {
    const results = await disk.commit(units);
    for (const [index, unit] of units.entries()) {
      if (results[index] !== "ok") continue;
      this.#context.check(() => {
        for (const write of unit.writes) this.#written(write);
      });
    }
    return results;
  }

  #written(write: Write): void {
    const { next, events } = write;
    const { id } = next.accepted;
    const before = this.#rows.get(id);
    ensure((before?.version ?? 0) === write.expected_version, "versions rise in turn", id, `to ${next.version}`);
    const history = this.#histories.get(id) ?? this.#admit(next);
    const wasOpen = before === undefined ? false : !history.hasEnded;
    for (const event of events) this.#event(history, event);
    if (before === undefined && !history.hasEnded) this.#open += 1;
    if (wasOpen && history.hasEnded) this.#open -= 1;
    this.#rows.set(id, next);
    this.#compare(history, next, before);
  }

  #event(history: History, event: HandoffEvent): void {
    const { tally, note } = this.#context;
    note(event.handoff, `event ${JSON.stringify({ ...event, handoff: undefined, namespace: undefined })}`);
    ensure(event.at >= this.#last_at, "the log's time never goes back", event.handoff, `${event.type} at ${event.at}`);
    this.#last_at = event.at;
    this.#log.push(JSON.stringify(event));
    tally.add("events", event.type);
    history.add(event);
    if (history.end === event) tally.add("ends", `${event.type} ${history.end.code}`);
  }

  /** A handoff nobody heard of yet: someone must have sent it, once, within its parent. */
  #admit(next: Handoff): History {
    const { accepted } = next;
    const { id, from, idempotency_key, causation } = accepted;
    this.#ensureSent(next);
    const key = JSON.stringify([from, idempotency_key]);
    ensure(!this.#keys.has(key), "one handoff per idempotency key", id, `${key} is ${this.#keys.get(key)}`);
    this.#keys.set(key, id);
    if (causation !== null) this.#ensureWithinParent(next, causation);
    const history = new History(accepted, next.excluded, {
      ...this.#context,
      ahead: (of) => this.#ahead(of),
      hasEnded: (parent) => this.#histories.get(parent)?.hasEnded ?? false,
    });
    this.#histories.set(id, history);
    const lane = laneOf(accepted);
    if (lane !== null) this.#lanes.set(lane, [...(this.#lanes.get(lane) ?? []), history]);
    return history;
  }

  #ensureSent({ accepted }: Handoff): void {
    const { id, from, idempotency_key, redrive_of } = accepted;
    if (idempotency_key === `handfast:dead-letter:${redrive_of}`) {
      const dead = redrive_of === null ? undefined : this.#histories.get(redrive_of);
      const same = dead?.accepted.dead_letter_to === accepted.capability && dead.accepted.from === from;
      return ensure(
        same && dead.accepted.correlation_id === accepted.correlation_id,
        "a dead letter goes where its sender said",
        id,
        `from ${redrive_of}`,
      );
    }
    const draft = this.#context.said.intent(from, idempotency_key)?.drafts.get(id);
    if (draft === undefined) throw new Violation("nothing is accepted that was never sent", id, `from ${from}`);
    ensure(
      draft.content === accepted.content &&
        draft.digest === accepted.digest &&
        draft.to === accepted.to &&
        draft.capability === accepted.capability &&
        JSON.stringify(draft.terms) === JSON.stringify(accepted.terms),
      "accepted as it was sent",
      id,
      "content, digest, target or terms differ",
    );
    const correlation = draft.correlation_id ?? this.#parentOf(draft.causation?.id)?.correlation_id ?? id;
    ensure(accepted.correlation_id === correlation, "correlation ids are preserved", id, accepted.correlation_id);
  }

  #parentOf(id: string | undefined) {
    return id === undefined ? undefined : this.#histories.get(id)?.accepted;
  }

  #ensureWithinParent({ accepted }: Handoff, causation: { readonly id: string; readonly fence: number }): void {
    const { id, from } = accepted;
    const parent = this.#histories.get(causation.id);
    if (parent === undefined) throw new Violation("a child names its parent", id, `${causation.id} is unknown`);
    ensure(
      parent.lease?.fence === causation.fence && parent.lease.agent === from,
      "a child's fence is its parent's live lease",
      id,
      `fence ${causation.fence} by ${from}, held ${parent.lease?.fence} by ${parent.lease?.agent}`,
    );
    ensure(
      accepted.deadline_at <= parent.accepted.deadline_at && accepted.hops === parent.accepted.hops + 1,
      "children stay within their parents",
      id,
      `deadline ${accepted.deadline_at} under ${parent.accepted.deadline_at}`,
    );
  }

  #ahead(history: History): number {
    const lane = laneOf(history.accepted);
    if (lane === null) return 0;
    const members = this.#lanes.get(lane) ?? [];
    let ahead = 0;
    for (const member of members) {
      if (member === history) return ahead;
      if (!member.hasEnded) ahead += 1;
    }
    return ahead;
  }

  /** The events replayed give what was stored beside them. */
  #compare(history: History, next: Handoff, before: Handoff | undefined): void {
    const { id, terms, deadline_at } = next.accepted;
    const lease = liveLease(next);
    const replayed = [
      history.state,
      history.seq,
      history.fence,
      history.lease?.fence,
      history.lease?.agent,
      history.lease?.worker,
      history.lease?.acknowledged_at,
      [...history.excluded].sort().join(),
      history.end?.at,
      history.end?.code,
      history.late.size,
      history.taken,
    ];
    const ended = "outcome" in next.status ? next.status : null;
    const stored = [
      next.status.state,
      next.seq,
      next.fence,
      lease?.fence,
      lease?.agent,
      lease?.worker,
      lease?.acknowledged_at,
      [...next.excluded].sort().join(),
      ended?.ended_at,
      ended?.outcome.code,
      next.late.length,
      ended !== null && ended.taken_at !== null,
    ];
    ensure(
      JSON.stringify(replayed) === JSON.stringify(stored),
      "the history replayed gives the stored state",
      id,
      `replayed ${JSON.stringify(replayed)}, stored ${JSON.stringify(stored)}`,
    );
    ensure(next.attempts >= 0 && next.attempts <= terms.max_attempts, "attempts are bounded", id, `${next.attempts}`);
    ensure(next.deliveries <= terms.max_deliveries, "deliveries are bounded", id, `${next.deliveries}`);
    ensure(deadline_at >= next.accepted.accepted_at, "deadlines are in the future", id, `${deadline_at}`);
    if (before !== undefined) {
      ensure(next.fence >= before.fence, "fences only grow", id, `${before.fence} to ${next.fence}`);
      ensure(next.accepted.digest === before.accepted.digest, "what was accepted never changes", id, "other digest");
    }
    if (ended !== null) this.#compareOutcome(history, ended.outcome);
  }

  /** The winner is what its holder said under its fence, and stays so. */
  #compareOutcome(history: History, outcome: Extract<Handoff["status"], { outcome: unknown }>["outcome"]): void {
    const { id } = history.accepted;
    const { fence, agent, content, evidence } = outcome;
    if (evidence === "relay" || fence === null || agent === null || history.state === "canceled") return;
    if (history.accepted.kind === "notice" && content === "acknowledged") return;
    const types = ["complete", "fail", "reject"];
    const said = types.some((type) => this.#context.said.act(type, id, fence, agent, content) !== undefined);
    ensure(said, "the outcome is what its holder said under its fence", id, `${content} by ${agent} under ${fence}`);
    const known = history.outcomes.get(0);
    ensure(known === undefined || known === content, "no second outcome", id, `${known}, then ${content}`);
    history.outcomes.set(0, content);
  }

  /** What is on disk is what was committed, row by row and event by event. */
  async compareWithDisk(disk: Store): Promise<void> {
    const ids = [...this.#histories.keys()];
    const rows = await disk.load(namespace, ids);
    for (const [index, id] of ids.entries()) {
      const stored = rows[index] ?? null;
      if (this.#histories.get(id)?.purged === true) {
        ensure(stored === null, "what is purged is gone", id, "the row is still there");
        continue;
      }
      ensure(
        JSON.stringify(sorted(stored)) === JSON.stringify(sorted(this.#rows.get(id) ?? null)),
        "what was committed is on disk",
        id,
        stored === null ? "the row is missing" : `the row differs: ${JSON.stringify(stored.status)}`,
      );
    }
    await this.#compareLog(disk);
  }

  async #compareLog(disk: Store): Promise<void> {
    let pos = 0;
    let read = 0;
    for (;;) {
      const page = await disk.events({ namespace, after_pos: pos, limit: events_per_page });
      if (page.events.length === 0) break;
      for (const event of page.events) {
        ensure(event.pos > pos, "positions in the log increase", "log", `${event.pos} after ${pos}`);
        ensure(event.json === this.#log[read], "the log only grows", "log", `entry ${read}: ${event.json}`);
        pos = event.pos;
        read += 1;
      }
    }
    ensure(read === this.#log.length, "the log only grows", "log", `${read} of ${this.#log.length} entries`);
  }
}

/** Key order differs between what was written and what was read. */
function sorted(handoff: Handoff | null): unknown {
  if (handoff === null) return null;
  const entries: [string, unknown][] = Object.entries(handoff);
  return entries.sort(([a], [b]) => (a < b ? -1 : 1));
}
