/** Which part of the relay keeps which records in memory, and what it does when another node changed them. */

import type { Contracts } from "./contracts/contracts.ts";
import type { Negotiating } from "./contracts/negotiating.ts";
import type { Directory } from "./directory/directory.ts";
import type { Imports } from "./directory/imports/imports.ts";
import { manifestInForce } from "./directory/manifest-in-force.ts";
import type { RecordOwner } from "./directory/take-over.ts";
import type { Identity } from "./identity/identity.ts";
import { Proofs } from "./identity/proofs.ts";
import type { Tokens } from "./identity/tokens.ts";
import type { Routes } from "./routing/routes.ts";

interface Owners {
  readonly directory: Directory;
  readonly tokens: Tokens;
  readonly identity: Identity;
  readonly routes: Routes;
  readonly imports: Imports;
  readonly negotiating: Negotiating;
  readonly contracts: Contracts;
}

export function recordOwners(owners: Owners): readonly RecordOwner[] {
  const { routes, imports, negotiating, contracts } = owners;
  return [
    agentsOwner(owners),
    {
      kinds: ["route"],
      turns: routes.turns,
      takeOver: (_changes, take) => take(),
      reload: () => routes.load(),
    },
    {
      kinds: ["import"],
      turns: imports.turns,
      takeOver: (_changes, take) => {
        take();
        imports.takenOver();
      },
      reload: () => imports.load(),
    },
    {
      kinds: ["negotiation"],
      turns: negotiating.turns,
      takeOver: (changes, take) => {
        take();
        negotiating.takenOver(changes.map(({ key }) => key));
      },
      reload: () => negotiating.load(),
    },
    {
      kinds: ["contract"],
      turns: contracts.turns,
      takeOver: (_changes, take) => take(),
      reload: () => contracts.load(),
    },
  ];
}

/** Tokens are written with their agents. Whose key or token ended elsewhere has its connections closed here too. */
function agentsOwner({ directory, tokens, identity }: Owners): RecordOwner {
  const tellEnded = (before: Proofs) => {
    for (const agent of before.ended(directory, tokens)) identity.revoked(agent);
  };
  return {
    kinds: ["agent", "manifest", "cost", "offered_before", "sign_of_life", "token"],
    turns: directory.turns,
    needs: manifestInForce,
    takeOver: (changes, take) => {
      const keysOf = (wanted: string) => changes.filter(({ kind }) => kind === wanted).map(({ key }) => key);
      const before = new Proofs(directory, tokens, keysOf("agent"), keysOf("token"));
      directory.takeOver(changes, take);
      tellEnded(before);
    },
    reload: async () => {
      const before = new Proofs(directory, tokens, directory.names(), tokens.digests());
      await directory.load();
      await tokens.load();
      tellEnded(before);
    },
  };
}
