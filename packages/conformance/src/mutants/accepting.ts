/** Mutants that accept what they should not, or forget what they accepted. */

import type { Mutant } from "./mutant.ts";

export const accepting: readonly Mutant[] = [
  {
    name: "lost-on-crash",
    breaks: "Commits are written a moment later: what was confirmed meanwhile is lost when the relay is killed.",
    killed_by: ["DURABLE-1"],
    edits: [
      {
        file: "packages/store-sqlite/src/sqlite-store.ts",
        find: `      session.connection.run("BEGIN IMMEDIATE");
      const result = write(session);
      session.connection.run("COMMIT");`,
        replace: `      const { connection } = session;
      if (!connection.db.isTransaction) {
        connection.run("BEGIN IMMEDIATE");
        setTimeout(() => connection.db.isTransaction && connection.run("COMMIT"), 4_000);
      }
      const result = write(session);`,
      },
      {
        // A checkpoint waits for the end of the transaction.
        file: "packages/store-sqlite/src/sqlite-store.ts",
        find: "if (location === null || this.#checkpointing) return;",
        replace: "if (location !== null || this.#checkpointing) return;",
      },
    ],
  },
  {
    name: "confirmed-before-commit",
    breaks: "Answers leave before the commit.",
    killed_by: ["DURABLE-1", "DURABLE-3"],
    edits: [
      {
        file: "packages/engine/src/engine.ts",
        find: `      await this.#commits.commit(batch, batch.now + this.#limits.dedupe_window_ms);
      // Nobody was heard while it took: that silence was not theirs.
      if (this.now() - began >= this.#limits.stall_ms) this.#pulse.resume();
      this.#memory.remember(batch.units);
      this.#others?.settled();
      if (this.#others === null) tellEvents(batch.units, resumed_at, this.#options, this.#askerWork);
      this.#claims.handOver(served);
      this.#answer(plans);`,
        replace: `      const committed = this.#commits.commit(batch, batch.now + this.#limits.dedupe_window_ms);
      this.#memory.remember(batch.units);
      this.#claims.handOver(served);
      this.#answer(plans);
      await committed;`,
      },
      {
        file: "packages/engine/src/commits.ts",
        find: "    const results = await store.commit(",
        replace: `    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const results = await store.commit(`,
      },
    ],
  },
  {
    name: "other-content-accepted",
    breaks: "A known key is answered as the first time whatever the content.",
    killed_by: ["SUBMIT-3"],
    edits: [
      {
        file: "packages/core/src/submit.ts",
        find: 'known.content === draft.content ? "repeated" :',
        replace: 'known.content !== "" ? "repeated" :',
      },
    ],
  },
  {
    name: "honest-retry-refused",
    breaks: "The salt of the input is taken for content: a retry that draws a new one conflicts.",
    killed_by: ["SUBMIT-1", "SUBMIT-2"],
    edits: [
      {
        file: "packages/relay/src/operations/content.ts",
        find: "input: { sha256: plainSha256(payload), media_type: document.input.media_type },",
        replace: "input: { sha256: document.input.sha256, media_type: document.input.media_type },",
      },
    ],
  },
  {
    name: "batch-not-atomic",
    breaks: "The good handoffs of a refused batch are accepted.",
    killed_by: ["SUBMIT-8"],
    edits: [
      {
        file: "packages/engine/src/plan.ts",
        find: "  if (refusals.length > 0) return { units: [], answer: { ok: false, refusals } };",
        replace: `  if (refusals.length > 0) {
    if (fresh.length > 0) batch.add(unit);
    for (const handoff of fresh) batch.accepted(unit, handoff);
    return { units: fresh.length > 0 ? [unit] : [], answer: { ok: false, refusals } };
  }`,
      },
    ],
  },
  {
    name: "key-forgotten",
    breaks: "Idempotency keys are not kept.",
    killed_by: ["SUBMIT-1", "SUBMIT-4"],
    edits: [
      {
        file: "packages/engine/src/batch.ts",
        find: "this.#keys.set(name, await this.#around.store.key(namespace, from, key));",
        replace: "this.#keys.set(name, null);",
      },
    ],
  },
  {
    name: "id-time-not-checked",
    breaks: "Ids of any time are taken.",
    killed_by: ["ID-2"],
    edits: [
      {
        file: "packages/core/src/submit.ts",
        find: "if (time <= now + id_ahead_ms && time >= now - id_behind_ms) return null;",
        replace: "if (time > 0 || time <= now + id_ahead_ms || time >= now - id_behind_ms) return null;",
      },
    ],
  },
  {
    name: "schema-not-checked",
    breaks: "Input that does not fit is accepted.",
    killed_by: ["WHAT-4"],
    edits: [
      {
        file: "packages/core/src/submit.ts",
        find: "return refusal(422, target.error.reason, target.error.message);",
        replace: "return null;",
      },
    ],
  },
  {
    name: "correlation-dropped",
    breaks: "The correlation that the sender names is dropped.",
    killed_by: ["WHAT-5", "ID-7"],
    edits: [
      {
        file: "packages/core/src/submit.ts",
        find: "correlation_id: draft.correlation_id ?? parent?.accepted.correlation_id ?? draft.id,",
        replace: "correlation_id: parent?.accepted.correlation_id ?? draft.id,",
      },
    ],
  },
  {
    name: "child-of-stale-fence",
    breaks: "A child is accepted under a fence that is over.",
    killed_by: ["CHILD-4", "CHILD-5"],
    edits: [
      {
        file: "packages/core/src/submit.ts",
        find: "if (liveLease(settled.handoff)?.fence !== fence) {",
        replace: "if (liveLease(settled.handoff)?.fence === -fence) {",
      },
    ],
  },
  {
    name: "child-deadline-beyond-parent",
    breaks: "A child's deadline may lie after its parent's.",
    killed_by: ["CHILD-8"],
    edits: [
      {
        file: "packages/core/src/submit.ts",
        find: "deadline_at: parent === null ? own : Math.min(own, parent.accepted.deadline_at),",
        replace: "deadline_at: own,",
      },
    ],
  },
  {
    name: "hop-limit-ignored",
    breaks: "A chain of handoffs may be of any length.",
    killed_by: ["CHILD-6"],
    edits: [{ file: "packages/core/src/limits.ts", find: "max_hops: 16,", replace: "max_hops: 1_000," }],
  },
  {
    name: "budget-ignored",
    breaks: "A spent budget refuses nothing.",
    killed_by: ["BUDGET-1", "BUDGET-2"],
    edits: [
      {
        file: "packages/core/src/submit.ts",
        find: "    if (budget === null) continue;",
        replace: "    if (budget === null || spent !== null) continue;",
      },
    ],
  },
  {
    name: "usage-not-charged",
    breaks: "The usage of an outcome is not charged.",
    killed_by: ["BUDGET-2"],
    edits: [
      {
        file: "packages/core/src/end.ts",
        find: "if (outcome.usage !== null && outcome.agent !== null) charge(change, outcome.usage, outcome.agent);",
        replace: "",
      },
    ],
  },
];
