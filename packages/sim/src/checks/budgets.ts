/** What was spent, counted a second time from what workers said they used: over the whole tree below each budget. */

import type { Accepted, Budget, Handoff, HandoffEvent, Spent, Usage } from "@handfast/core";
import type { Said } from "../actors/said.ts";
import type { History } from "./history.ts";
import { ensure } from "./violation.ts";

const measures = ["cost", "tokens", "handoffs"] as const;
const nothing: Spent = { cost: 0, tokens: 0, handoffs: 0 };

export class Budgets {
  readonly #said: Said;
  readonly #spent = new Map<string, Spent>();
  /** Changed since the last comparison. */
  readonly #touched = new Set<string>();

  constructor(said: Said) {
    this.#said = said;
  }

  /** Whether some budget above is used up once so many more handoffs are accepted below it. */
  isSpent(holders: readonly History[], more: number): boolean {
    return holders.some(({ accepted }) => {
      const spent = this.#of(accepted.id);
      return spentMeasure(accepted.budget, { ...spent, handoffs: spent.handoffs + more }) !== null;
    });
  }

  /** Accepted below these, nearest first: all of them had something left, and it got no more than that. */
  admitted({ id, budget, budget_holders }: Accepted, asked: Budget | null, above: readonly History[]): void {
    ensure(
      budget_holders.join() === above.map(({ accepted }) => accepted.id).join(),
      "every budget above counts",
      id,
      () => `holders ${budget_holders}`,
    );
    for (const { accepted } of above) {
      const over = spentMeasure(accepted.budget, this.#of(accepted.id));
      ensure(over === null, "a spent budget accepts nothing", id, () => `${over} of ${accepted.id} was spent`);
    }
    for (const measure of measures) {
      const left = Math.min(
        ...above.map(({ accepted }) => leftOf(accepted.budget?.[measure], this.#of(accepted.id)[measure])),
      );
      const wanted = asked?.[measure] ?? Number.POSITIVE_INFINITY;
      const given = budget?.[measure] ?? Number.POSITIVE_INFINITY;
      const most = asked === null ? given : Math.min(wanted, left);
      ensure(given === most, "a budget only narrows below", id, () => `${measure} ${given}, not ${most}`);
    }
    for (const { accepted } of above) this.#add(accepted.id, { ...nothing, handoffs: 1 });
  }

  /** An event that may have used something up; `next` is the handoff after it. */
  happened(event: HandoffEvent, next: Handoff): void {
    const usage = this.#usage(event, next);
    if (usage === null) return;
    const spent = { ...usage, handoffs: 0 };
    this.#add(next.accepted.id, spent);
    for (const holder of next.accepted.budget_holders) this.#add(holder, spent);
  }

  #usage(event: HandoffEvent, { accepted, failures, late }: Handoff): Usage | null {
    const { id } = accepted;
    switch (event.type) {
      case "requeued": {
        if (event.why !== "failed" && event.why !== "rejected") return null;
        const failure = failures.find(({ fence }) => fence === event.fence);
        const type = event.why === "failed" ? "fail" : "reject";
        return this.#said.act(type, id, event.fence, event.agent ?? "", failure?.content ?? "")?.usage ?? null;
      }
      case "late":
        return late.find(({ outcome }) => outcome.fence === event.fence)?.outcome.usage ?? null;
      case "completed":
      case "failed":
      case "rejected":
        return event.usage;
      default:
        return null;
    }
  }

  #add(id: string, more: Spent): void {
    const spent = this.#of(id);
    this.#touched.add(id);
    this.#spent.set(id, {
      cost: spent.cost + more.cost,
      tokens: spent.tokens + more.tokens,
      handoffs: spent.handoffs + more.handoffs,
    });
  }

  #of(id: string): Spent {
    return this.#spent.get(id) ?? nothing;
  }

  /** After each unit: whatever was used is stored with every budget above. */
  compare(rowOf: (id: string) => Handoff | undefined): void {
    for (const id of this.#touched) {
      const row = rowOf(id);
      const expected = this.#of(id);
      if (row === undefined) continue;
      ensure(
        measures.every((measure) => row.spent[measure] === expected[measure]),
        "what was used is charged to every budget above",
        id,
        () => `stored ${JSON.stringify(row.spent)}, used ${JSON.stringify(expected)}`,
      );
    }
    this.#touched.clear();
  }
}

function leftOf(budget: number | null | undefined, spent: number): number {
  return budget === null || budget === undefined ? Number.POSITIVE_INFINITY : Math.max(0, budget - spent);
}

function spentMeasure(budget: Budget | null, spent: Spent): string | null {
  return measures.find((measure) => leftOf(budget?.[measure], spent[measure]) === 0) ?? null;
}
