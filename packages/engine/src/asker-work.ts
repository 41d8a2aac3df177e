/**
 * How many attempts each provider made at work of one asker while a handoff of that asker, under a contract that limits how many
 * are taken at a time, was open: without them nobody could tell an idle provider from one that its asker keeps busy.
 *
 * In memory only, and only of providers and askers that have such a handoff open. Of what was accepted before the relay came back
 * it is not known, and said to be so.
 */

import { type Handoff, type HandoffEvent, hasEnded } from "@handfast/core";
import type { LiveLeases } from "./live-leases.ts";
import { Names } from "./names.ts";
import type { UnitBuilder } from "./unit.ts";

/** Attempts of one provider at one capability for one asker, since somebody watches. */
interface Work {
  attempts: number;
  watchers: number;
}

interface Watch {
  readonly key: string;
  /** Of the attempts when it was accepted. */
  readonly from: number;
}

export class AskerWork {
  readonly #leases: LiveLeases;
  /** By handoff. */
  readonly #watches = new Names<Watch>();
  readonly #work = new Names<Work>();

  constructor(leases: LiveLeases) {
    this.#leases = leases;
  }

  /** They were committed. */
  note(units: readonly UnitBuilder[]): void {
    for (const { result, pending } of units) {
      if (result !== "ok") continue;
      for (const { next, events, expected_version } of pending) {
        if (expected_version === 0) this.#watch(next);
        if (this.#watches.size === 0) continue;
        for (const event of events) this.#count(event);
        if (hasEnded(next.status)) this.#unwatch(next);
      }
    }
  }

  /** What its provider did, and does, for its asker besides, since it was accepted; null: not known. */
  since({ accepted }: Handoff): number | null {
    const { namespace, id, to, capability, from } = accepted;
    const watch = this.#watches.get(namespace, id);
    if (watch === undefined || to === null || capability === null) return null;
    const made = (this.#work.get(namespace, watch.key)?.attempts ?? 0) - watch.from;
    return made + this.#leases.heldFor(namespace, { agent: to, capability, from }, id);
  }

  /** After a failed commit: what was counted may not be all. */
  forget(): void {
    this.#watches.clear();
    this.#work.clear();
  }

  #watch({ accepted }: Handoff): void {
    const { namespace, id, to, capability, from, contract } = accepted;
    if (contract?.max_concurrent === undefined || to === null || capability === null) return;
    const key = keyOf(to, capability, from);
    const work = this.#work.get(namespace, key) ?? { attempts: 0, watchers: 0 };
    work.watchers += 1;
    this.#work.set(namespace, key, work);
    this.#watches.set(namespace, id, { key, from: work.attempts });
  }

  #unwatch({ accepted: { namespace, id } }: Handoff): void {
    const watch = this.#watches.get(namespace, id);
    if (watch === undefined) return;
    this.#watches.delete(namespace, id);
    const work = this.#work.get(namespace, watch.key);
    if (work === undefined) return;
    work.watchers -= 1;
    if (work.watchers === 0) this.#work.delete(namespace, watch.key);
  }

  #count(event: HandoffEvent): void {
    const agent = attemptBy(event);
    if (agent === null || event.capability === null) return;
    const work = this.#work.get(event.namespace, keyOf(agent, event.capability, event.from));
    if (work !== undefined) work.attempts += 1;
  }
}

/** Whose attempt is over with this event; null: nobody's, or one that cost the agent nothing (released, rejected, not acknowledged). */
function attemptBy(event: HandoffEvent): string | null {
  switch (event.type) {
    case "completed":
    case "failed":
    case "canceled":
    case "expired":
      return event.agent;
    case "requeued":
      return event.why === "failed" || event.why === "attempt_timeout" || event.why === "lease_lost"
        ? event.agent
        : null;
    default:
      return null;
  }
}

/** Names hold no space. */
function keyOf(agent: string, capability: string, from: string): string {
  return `${agent} ${capability} ${from}`;
}
