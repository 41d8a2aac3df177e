/** What calls of contracts should name to mean something: offers, calls for proposals and contracts that are really there. */

import { contractId } from "@handfast/protocol";
import { nodeCrypto } from "../../../packages/relay/src/proof/node-crypto.ts";
import type { Persona } from "../cast/persona.ts";
import type { World } from "../cast/world.ts";
import { type Random, weighted } from "../chance.ts";
import type { Scene } from "./scene.ts";

/** Null: it is no call of contracts that names something. */
export function contractParams(scene: Scene, name: string, random: Random): Record<string, string> | null {
  const { world } = scene;
  switch (name) {
    case "negotiation":
      return { id: world.negotiations.at(-1) ?? scene.newId(random) };
    case "propose":
      return { id: world.calls.at(-1) ?? scene.newId(random) };
    case "contract":
    case "end_contract":
      return { id: world.contracts.at(-1) ?? "0".repeat(64) };
    default:
      return null;
  }
}

/** Whoever could: askers negotiate and agree, providers propose. */
export function party({ troupe }: Scene, name: string, random: Random): Persona {
  const { sender, worker, rival, operator } = troupe;
  const is_provider = name === "proposals" || name === "propose";
  return weighted(random, [
    [is_provider ? 10 : 70, sender],
    [is_provider ? 75 : 10, worker],
    [10, rival],
    [5, operator],
  ]);
}

/** The document of a contract or a proposal over terms that the relay showed; null: there are none, or not of this author. */
export function agreementOf(world: World, name: string, author: string): { typ: string; said: object } | null {
  const terms = world.terms.at(-1);
  if (terms === undefined) return null;
  const { asker, provider, offer } = terms;
  if (name === "agree" && asker === author) {
    return { typ: "contract", said: { contract: contractId(nodeCrypto, terms), terms } };
  }
  return name === "propose" && provider === author ? { typ: "proposal", said: { offer, terms } } : null;
}
