// Prices are sealed: the signed manifest holds SHA256(salt ‖ canonical JSON of the cost), and the salt stands beside it with
// the cost. Whoever is told both can check them; to the others the digest says nothing, since the salt is secret.

import { canonicalJson } from "../canonical-json.ts";
import type { Crypto, Signer } from "../crypto.ts";
import { concat, fromBase64url, toBase64url, toUtf8 } from "../encoding.ts";
import type { Cost } from "../fields.ts";
import { payloadDigest, salt_bytes } from "../payload.ts";

/** As it stands in a manifest. */
export interface SealedCost {
  readonly sha256: string;
}

/** What opens it: kept by the relay, shown to whoever asks for an offer. */
export interface CostOpening {
  readonly salt: string;
  readonly cost: Cost;
}

/** Throws where the salt is not one. */
export function sealCost(crypto: Crypto, { salt, cost }: CostOpening): SealedCost {
  const bytes = fromBase64url(salt);
  if (bytes === null) throw new RangeError(`${JSON.stringify(salt)} is not base64url.`);
  return { sha256: payloadDigest(crypto, bytes, costBytes(cost)) };
}

export function opensCost(crypto: Crypto, opening: CostOpening, sealed: SealedCost): boolean {
  return fromBase64url(opening.salt)?.length === salt_bytes && sealCost(crypto, opening).sha256 === sealed.sha256;
}

/** Whose cost it is: a salt is good for one of them only. */
export interface CostPlace {
  readonly agent_id: string;
  readonly capability: string;
}

/**
 * The salt that an agent's key makes: a secret of that key, and the same in each of its processes, so that they all state one
 * manifest. Ed25519 signs alike every time.
 */
export async function saltByKey(crypto: Crypto, signer: Signer, place: CostPlace, cost: Cost): Promise<string> {
  return saltOf(crypto, await signer.sign(saltMessage(place, cost)));
}

/** For an agent without a key: the salt that its token makes. */
export function saltByToken(crypto: Crypto, token: string, place: CostPlace, cost: Cost): string {
  return saltOf(crypto, concat(saltMessage(place, cost), toUtf8(`\0${token}`)));
}

function saltMessage({ agent_id, capability }: CostPlace, cost: Cost): Uint8Array {
  return toUtf8(`handfast/v1/cost\0${canonicalJson({ agent_id, capability, cost })}`);
}

function saltOf(crypto: Crypto, secret: Uint8Array): string {
  return toBase64url(crypto.sha256(secret).slice(0, salt_bytes));
}

function costBytes(cost: Cost): Uint8Array {
  return toUtf8(canonicalJson(cost));
}
