/** A handoff nobody heard of yet: someone must have sent it, once, within its parent and every budget above. */

import type { Draft, Handoff } from "@handfast/core";
import { reserved_key_prefix } from "@handfast/core";
import type { Said } from "../actors/said.ts";
import type { Budgets } from "./budgets.ts";
import { History, type HistoryContext } from "./history.ts";
import type { Lanes } from "./lanes.ts";
import { isSameRecord } from "./same-record.ts";
import { ensure, ensureThere } from "./violation.ts";

type AdmissionContext = Pick<HistoryContext, "said" | "directory" | "times" | "scenario">;

export class Admission {
  readonly histories = new Map<string, History>();
  readonly #said: Said;
  readonly #lanes: Lanes;
  readonly #budgets: Budgets;
  readonly #context: HistoryContext;
  readonly #keys = new Map<string, History>();
  /** Accepted in the unit under way. */
  #fresh: History[] = [];

  constructor(context: AdmissionContext, lanes: Lanes, budgets: Budgets) {
    this.#said = context.said;
    this.#lanes = lanes;
    this.#budgets = budgets;
    const { said, directory, times, scenario } = context;
    this.#context = {
      said,
      directory,
      times,
      scenario,
      ahead: (history) => lanes.ahead(history),
      hasEnded: (id) => this.histories.get(id)?.hasEnded ?? false,
    };
  }

  admit(next: Handoff): History {
    const { accepted } = next;
    const { id, causation } = accepted;
    this.#onceUnderItsKey(next);
    const parent = causation === null ? null : this.#withinParent(next, causation);
    const draft = this.#isRouted(next) ? null : this.#asSent(next, parent);
    const above = parent === null ? [] : this.budgetsAbove(parent);
    this.#budgets.admitted(accepted, draft?.budget ?? null, above);
    const history = new History(accepted, next.excluded, this.#lanes.isBusy(accepted), this.#context);
    this.histories.set(id, history);
    this.#keys.set(keyOf(accepted.from, accepted.idempotency_key), history);
    this.#lanes.join(history);
    this.#fresh.push(history);
    return history;
  }

  /** What was to be accepted together was, or none of it. */
  unitOver(): void {
    for (const { accepted } of this.#fresh) {
      const { id, from, idempotency_key } = accepted;
      for (const key of this.#said.intent(from, idempotency_key)?.together ?? []) {
        ensure(this.#keys.has(keyOf(from, key)), "a batch is atomic", id, () => `${key} was left out`);
      }
    }
    this.#fresh = [];
  }

  payloadOf({ accepted }: History): Uint8Array | null {
    const { id, from, idempotency_key, redrive_of } = accepted;
    const original = redrive_of === null ? undefined : this.histories.get(redrive_of);
    if (idempotency_key === routedKey(redrive_of) && original !== undefined) return this.payloadOf(original);
    return this.#said.intent(from, idempotency_key)?.payloads.get(id) ?? null;
  }

  /** Every handoff from this one on upwards that carries a budget, nearest first. */
  budgetsAbove(parent: History): readonly History[] {
    const above: History[] = parent.accepted.budget === null ? [] : [parent];
    for (const id of parent.accepted.budget_holders) {
      const holder = this.histories.get(id);
      if (holder !== undefined && !holder.purged) above.push(holder);
    }
    return above;
  }

  /** One per key, until retention dropped it and its window is over. */
  #onceUnderItsKey({ accepted }: Handoff): void {
    const { id, from, idempotency_key, accepted_at } = accepted;
    const first = this.#keys.get(keyOf(from, idempotency_key));
    const over = (first?.purged_at ?? Number.POSITIVE_INFINITY) + this.#context.scenario.limits.dedupe_window_ms;
    ensure(
      first === undefined || over <= accepted_at,
      "one handoff per idempotency key",
      id,
      () => `${idempotency_key} of ${from} is ${first?.accepted.id}`,
    );
  }

  /** The relay itself sent a dead letter on. */
  #isRouted({ accepted }: Handoff): boolean {
    const { id, from, idempotency_key, redrive_of } = accepted;
    if (idempotency_key !== routedKey(redrive_of)) return false;
    const dead = redrive_of === null ? undefined : this.histories.get(redrive_of);
    ensure(
      dead?.accepted.dead_letter_to === accepted.capability &&
        dead.accepted.from === from &&
        dead.accepted.correlation_id === accepted.correlation_id,
      "a dead letter goes where its sender said",
      id,
      () => `from ${redrive_of}`,
    );
    return true;
  }

  #asSent({ accepted }: Handoff, parent: History | null): Draft {
    const { id, from, idempotency_key } = accepted;
    const draft = ensureThere(
      this.#said.intent(from, idempotency_key)?.drafts.get(id),
      "nothing is accepted that was never sent",
      id,
      `from ${from}`,
    );
    const { budget: _, correlation_id, ...fixed } = draft;
    const differs = Object.entries(fixed).find(([name, value]) => !isSameRecord(value, Reflect.get(accepted, name)));
    ensure(differs === undefined, "accepted as it was sent", id, () => `${differs?.[0]} differs`);
    const group = correlation_id ?? parent?.accepted.correlation_id ?? id;
    ensure(accepted.correlation_id === group, "correlation ids are preserved", id, accepted.correlation_id);
    const own = accepted.accepted_at + draft.terms.deadline_ms;
    const deadline = Math.min(own, parent?.accepted.deadline_at ?? own);
    ensure(
      accepted.deadline_at === deadline,
      "the deadline is fixed at accept",
      id,
      () => `${accepted.deadline_at}, not ${deadline}`,
    );
    return draft;
  }

  #withinParent({ accepted }: Handoff, causation: { readonly id: string; readonly fence: number }): History {
    const { id, from } = accepted;
    const parent = ensureThere(
      this.histories.get(causation.id),
      "a child names its parent",
      id,
      `${causation.id} is unknown`,
    );
    ensure(
      parent.lease?.fence === causation.fence && parent.lease.agent === from,
      "a child's fence is its parent's live lease",
      id,
      () => `fence ${causation.fence} by ${from}, held ${parent.lease?.fence} by ${parent.lease?.agent}`,
    );
    ensure(
      accepted.deadline_at <= parent.accepted.deadline_at && accepted.hops === parent.accepted.hops + 1,
      "children stay within their parents",
      id,
      () => `deadline ${accepted.deadline_at} under ${parent.accepted.deadline_at}`,
    );
    ensure(
      accepted.hops <= this.#context.scenario.coreLimits.max_hops,
      "hops are limited",
      id,
      () => `${accepted.hops} hops`,
    );
    return parent;
  }
}

function keyOf(from: string, key: string): string {
  return `${from} ${key}`;
}

function routedKey(of: string | null): string {
  return `${reserved_key_prefix}dead-letter:${of}`;
}
