/**
 * For how long each provider had work of one asker in hand while a handoff of that asker under a contract waited for it: without
 * that nobody could tell an idle provider from one that its asker keeps busy.
 *
 * A spell of work begins with the delivery and stands still while a question is open. It counts once the agent has acknowledged, and
 * not at all if it is then released or rejected: that is no work.
 *
 * It is told by the events of all nodes, in the log's order. In memory only, and of what is over only for providers and askers that
 * have a handoff under a contract open. Of what was accepted before this node came it is not known, and said to be so; what the
 * others may have committed since this node last looked is taken for work.
 */

import { type Duration, type Handoff, type HandoffEvent, type Time, waitOf } from "@handfast/core";
import { Names } from "./names.ts";
import type { Store } from "./store.ts";

/** Whose work for whom. */
interface Pair {
  readonly agent: string;
  readonly capability: string;
  readonly from: string;
}

/** Work within a stretch of time: all of it, or, where several spells were taken together, so much of it. */
interface Stretch {
  readonly from: Time;
  readonly until: Time;
  readonly worked_ms: Duration;
}

/** A lease that lives. */
interface Spell extends Pair {
  /** When it began or went on; null while it stands still. */
  readonly since: Time | null;
  readonly acknowledged: boolean;
  readonly before: readonly Stretch[];
}

/** What one provider has done for one asker since somebody watches, in the order of its end. */
interface Work {
  watchers: number;
  done: Stretch[];
}

interface Span {
  readonly from: Time;
  readonly until: Time;
}

/** Of one provider for one asker; what is older than these is kept in ever longer stretches. */
const most_stretches = 1_024;

export class AskerWork {
  /** By handoff: what it watches. */
  readonly #watches = new Names<string>();
  readonly #work = new Names<Work>();
  /** By handoff; work that names no capability is under no contract and in nobody's way. */
  readonly #spells = new Names<Spell>();
  /** What was committed before then has been told. */
  readonly #knownUntil: () => Time;

  constructor(knownUntil: () => Time) {
    this.#knownUntil = knownUntil;
  }

  /** Everything anew, as the store has it: leases from before, and nobody that watches. */
  load(leases: Awaited<ReturnType<Store["leases"]>>): void {
    this.#watches.clear();
    this.#work.clear();
    this.#spells.clear();
    for (const { namespace, id, agent, capability, from } of leases) {
      if (capability === null) continue;
      // Only what is younger than this look is ever judged by it.
      this.#spells.set(namespace, id, { agent, capability, from, since: 0, acknowledged: true, before: [] });
    }
  }

  note(event: HandoffEvent): void {
    const { namespace, handoff: id, at } = event;
    switch (event.type) {
      case "accepted":
        return this.#watch(event);
      case "delivered": {
        const { agent, capability, from } = event;
        if (capability === null) return;
        return this.#spells.set(namespace, id, {
          agent,
          capability,
          from,
          since: at,
          acknowledged: false,
          before: [],
        });
      }
      case "acknowledged":
        return this.#go(event, (spell) => ({ ...spell, acknowledged: true }));
      case "asked":
        if (event.parked) return this.#over(event, true);
        return this.#go(event, (spell) => ({ ...spell, since: null, before: stretchesOf(spell, at) }));
      case "answered":
      case "unanswered":
        return this.#go(event, (spell) => ({ ...spell, since: at }));
      case "parked":
        return this.#over(event, true);
      case "requeued":
        return this.#over(event, event.why !== "released" && event.why !== "rejected");
      case "completed":
      case "failed":
      case "canceled":
      case "expired":
      case "rejected":
        this.#over(event, event.type !== "rejected");
        return this.#unwatch(namespace, id);
      default:
    }
  }

  /** For how long its provider had other work of its asker in hand while it waited; null: not known. */
  during(handoff: Handoff, now: Time): Duration | null {
    const { namespace, id, to: agent, capability, from, contract } = handoff.accepted;
    const key = this.#watches.get(namespace, id);
    if (key === undefined || agent === null || capability === null) return null;
    const wait = waitOf(handoff, now);
    const known = { from: wait.from, until: Math.min(wait.until, Math.max(wait.from, this.#knownUntil())) };
    let worked_ms = (contract?.max_concurrent ?? 0) * (wait.until - known.until);
    for (const stretch of this.#work.get(namespace, key)?.done ?? []) worked_ms += workedIn(stretch, known);
    const own = this.#spells.get(namespace, id);
    for (const spell of this.#spells.of(namespace)) {
      if (spell === own || !spell.acknowledged || !isOf(spell, { agent, capability, from })) continue;
      for (const stretch of stretchesOf(spell, known.until)) worked_ms += workedIn(stretch, known);
    }
    return worked_ms;
  }

  #watch(event: Extract<HandoffEvent, { type: "accepted" }>): void {
    const { namespace, handoff, to_agent: agent, capability, from, contract } = event;
    if (contract === undefined || agent === null || capability === null) return;
    const key = keyOf({ agent, capability, from });
    const work = this.#work.get(namespace, key) ?? { watchers: 0, done: [] };
    work.watchers += 1;
    this.#work.set(namespace, key, work);
    this.#watches.set(namespace, handoff, key);
  }

  #unwatch(namespace: string, id: string): void {
    const key = this.#watches.get(namespace, id);
    if (key === undefined) return;
    this.#watches.delete(namespace, id);
    const work = this.#work.get(namespace, key);
    if (work === undefined) return;
    work.watchers -= 1;
    if (work.watchers === 0) this.#work.delete(namespace, key);
  }

  #go({ namespace, handoff }: HandoffEvent, change: (spell: Spell) => Spell): void {
    const spell = this.#spells.get(namespace, handoff);
    if (spell !== undefined) this.#spells.set(namespace, handoff, change(spell));
  }

  #over({ namespace, handoff, at }: HandoffEvent, is_work: boolean): void {
    const spell = this.#spells.get(namespace, handoff);
    if (spell === undefined) return;
    this.#spells.delete(namespace, handoff);
    const work = this.#work.size === 0 ? undefined : this.#work.get(namespace, keyOf(spell));
    if (work === undefined || !is_work || !spell.acknowledged) return;
    work.done.push(...stretchesOf(spell, at));
    if (work.done.length > most_stretches) work.done = coarser(work.done);
  }
}

/** All of a spell until then. */
function stretchesOf({ since, before }: Spell, until: Time): readonly Stretch[] {
  return since === null || since >= until ? before : [...before, { from: since, until, worked_ms: until - since }];
}

/** What of it lies within: of several spells taken together the share that the time has. */
function workedIn({ from, until, worked_ms }: Stretch, within: Span): Duration {
  const common_ms = Math.min(until, within.until) - Math.max(from, within.from);
  return common_ms <= 0 ? 0 : (worked_ms * common_ms) / (until - from);
}

/** Half as many for the older half. */
function coarser(done: readonly Stretch[]): Stretch[] {
  const half = done.length >> 1;
  const merged: Stretch[] = [];
  for (let at = 0; at < half; at += 2) {
    const pair = done.slice(at, Math.min(at + 2, half));
    merged.push({
      from: Math.min(...pair.map(({ from }) => from)),
      until: Math.max(...pair.map(({ until }) => until)),
      worked_ms: pair.reduce((sum, { worked_ms }) => sum + worked_ms, 0),
    });
  }
  return [...merged, ...done.slice(half)];
}

function isOf(one: Pair, other: Pair): boolean {
  return one.agent === other.agent && one.capability === other.capability && one.from === other.from;
}

/** Names hold no space. */
function keyOf({ agent, capability, from }: Pair): string {
  return `${agent} ${capability} ${from}`;
}
