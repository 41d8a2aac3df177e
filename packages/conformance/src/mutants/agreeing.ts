/** Mutants that agree to what they should not, or show what is sealed. */

import type { Mutant } from "./mutant.ts";

export const agreeing: readonly Mutant[] = [
  {
    name: "contract-ignored",
    breaks: "A contract that nobody knows is overlooked.",
    killed_by: ["GIVE-6"],
    edits: [
      {
        file: "packages/relay/src/operations/submission.ts",
        find: "document.contract === undefined ? null : underContract(",
        replace: "!document.contract?.match(/^[0-9a-f]{64}$/) ? null : underContract(",
      },
    ],
  },
  {
    name: "stale-contract-accepted",
    breaks: "A contract holds although the capability is another by now.",
    killed_by: ["UNDER-4"],
    edits: [
      {
        file: "packages/relay/src/contracts/standing.ts",
        find: "offeredDigest(offered) === terms.offered",
        replace: "offeredDigest(offered) !== terms.offer",
      },
    ],
  },
  {
    name: "foreign-contract-accepted",
    breaks: "Whoever knows the id of a contract may send under it.",
    killed_by: ["UNDER-3"],
    edits: [
      {
        file: "packages/relay/src/contracts/under-contract.ts",
        find: "  if (record === undefined || !contracts.isAsker(record, from)) return refused(unknown(id));",
        replace: "  if (record === undefined) return refused(unknown(id));",
      },
    ],
  },
  {
    name: "beyond-contract-accepted",
    breaks: "A handoff gets a longer deadline than its contract gives.",
    killed_by: ["UNDER-2"],
    edits: [
      {
        file: "packages/relay/src/contracts/narrower.ts",
        find: 'const counts = ["deadline_ms", "queue_ms",',
        replace: 'const counts = ["queue_ms",',
      },
    ],
  },
  {
    name: "expired-offer-accepted",
    breaks: "An offer is taken however late.",
    killed_by: ["AGREE-2"],
    edits: [
      {
        file: "packages/relay/src/contracts/contracts.ts",
        find: "if (now() >= offer.expires_at) throw",
        replace: "if (now() < 0) throw",
      },
    ],
  },
  {
    name: "offer-outlives-its-terms",
    breaks: "An offer is shown as one that can be taken for longer than what was proposed is valid.",
    killed_by: ["PROPOSE-5"],
    edits: [
      {
        file: "packages/relay/src/contracts/negotiating.ts",
        find: "Math.min(asked.expires_at, terms.valid_until)",
        replace: "Math.max(asked.expires_at, terms.valid_until)",
      },
    ],
  },
  {
    name: "rival-sees-price",
    breaks: "An asker that offers the same is told the price of others.",
    killed_by: ["SEALED-1", "SEALED-2"],
    edits: [
      {
        file: "packages/relay/src/directory/directory.ts",
        find: 'if (role === "operator") return false;',
        replace: 'if (role === "operator" || capability !== "") return false;',
      },
    ],
  },
  {
    name: "rival-for-one-call",
    breaks: "An agent that drops a capability from its manifest for one call is told the price of those that offer it.",
    killed_by: ["SEALED-4"],
    edits: [
      {
        file: "packages/relay/src/directory/directory.ts",
        find: "return offers || this.offeredBefore",
        replace: "return offers && this.offeredBefore",
      },
    ],
  },
  {
    name: "look-unlogged",
    breaks: "A look at a price leaves no trace in the log.",
    killed_by: ["SEALED-3"],
    edits: [
      {
        file: "packages/relay/src/contracts/negotiating.ts",
        find: "const entries = looks.map(",
        replace: "const entries = looks.slice(looks.length).map(",
      },
    ],
  },
  {
    name: "overcharge-charged",
    breaks: "Whatever an agent reports is charged, above the agreed price too.",
    killed_by: ["BREACH-2"],
    edits: [
      {
        file: "packages/core/src/end.ts",
        find: "const usage = billed === null ? reported :",
        replace: "const usage = reported.cost >= 0 || billed === null ? reported :",
      },
    ],
  },
  {
    name: "price-unproven",
    breaks: "An offer does not say what opens its price in the provider's manifest.",
    killed_by: ["AGREE-6"],
    edits: [
      {
        file: "packages/relay/src/contracts/show.ts",
        find: "    cost_salt: sealed ? null : cost_salt,\n    reliability,",
        replace: "    cost_salt: null,\n    reliability,",
      },
    ],
  },
  {
    name: "counts-forgotten",
    breaks: "How contracts were kept is forgotten when the relay is killed.",
    killed_by: ["BREACH-4"],
    edits: [
      {
        file: "packages/relay/src/contracts/tally.ts",
        find: "else tally.#counts.set(key, value as Counts);",
        replace: "else if (value === null) tally.#counts.set(key, value as unknown as Counts);",
      },
      {
        file: "packages/relay/src/contracts/tally.ts",
        find: "else await tally.#catchUp();",
        replace: "else if (options.limits.agents < 0) await tally.#catchUp();",
      },
    ],
  },
  {
    name: "breach-overlooked",
    breaks: "A contract that was broken too often stays in force.",
    killed_by: ["BREACH-3"],
    edits: [
      {
        file: "packages/relay/src/contracts/standing.ts",
        find: '=== "breached"',
        replace: '=== "breached" && counts.breaches < 0',
      },
    ],
  },
  {
    name: "refused-answer-held-against-provider",
    breaks: "An asker turns its silence into a breach of the provider by an answer that does not fit.",
    killed_by: ["BREACH-5"],
    edits: [
      {
        file: "packages/core/src/askers-delay.ts",
        find: `  if (silent_ms + refused_ms >= most_ms) return "answer_refused";
`,
        replace: "",
      },
    ],
  },
];
