/** What the relay confirmed during the run. Whatever else was thrown at it, all of this must be in the store at the end. */

import { isObject } from "../json/schema-values.ts";

export class Ledger {
  readonly accepted = new Set<string>();
  /** By the id, the fence under which it was completed. */
  readonly completed = new Map<string, number>();
  readonly taken = new Set<string>();

  /** An answer that was a success. */
  confirm(operation: string, body: unknown): void {
    if (!isObject(body)) return;
    const { id, fence, state, redriven_as, receipts } = body;
    switch (operation) {
      case "submit":
        return this.#accept(body);
      case "submit_batch":
        if (Array.isArray(receipts)) for (const receipt of receipts) this.#accept(receipt);
        return;
      case "redrive":
        if (typeof redriven_as === "string") this.accepted.add(redriven_as);
        return;
      case "complete":
        if (typeof id === "string" && typeof fence === "number" && state === "completed") this.completed.set(id, fence);
        return;
      case "take":
        if (typeof id === "string") this.taken.add(id);
        return;
      default:
        return;
    }
  }

  #accept(receipt: unknown): void {
    if (isObject(receipt) && typeof receipt["id"] === "string") this.accepted.add(receipt["id"]);
  }
}
