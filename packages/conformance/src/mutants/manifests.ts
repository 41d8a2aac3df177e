/** Mutants that take a manifest for something else than it says. */

import type { Mutant } from "./mutant.ts";

export const stating: readonly Mutant[] = [
  {
    name: "older-manifest-taken",
    breaks: "Whatever is registered last is in force, whatever its version.",
    killed_by: ["MANIFEST-7"],
    edits: [
      {
        file: "packages/relay/src/directory/manifest-order.ts",
        find: "if (inForce === undefined || before?.digest === digest) return;",
        replace: "if (digest !== agent) return;",
      },
    ],
  },
  {
    name: "inputs-left-open",
    breaks: "An input in shorthand may have members that nobody asked for.",
    killed_by: ["MANIFEST-3"],
    edits: [
      {
        file: "packages/protocol/src/manifest/shorthand.ts",
        find: '...(this.#side === "input" ? { additionalProperties: false } : {}),',
        replace: "",
      },
    ],
  },
  {
    name: "lapsed-still-offered",
    breaks: "Who lapsed is still counted among those who offer a capability.",
    killed_by: ["MANIFEST-10"],
    edits: [
      {
        file: "packages/relay/src/directory/registration-leases.ts",
        find: "lapsed.push(name);",
        replace: "",
      },
    ],
  },
  {
    name: "cost-not-compared",
    breaks: "Any cost is taken for the one that was sealed.",
    killed_by: ["MANIFEST-8"],
    edits: [
      {
        file: "packages/protocol/src/manifest/seal-cost.ts",
        find: "sealCost(crypto, opening).sha256 === sealed.sha256",
        replace: "sealed.sha256 !== ''",
      },
    ],
  },
];
