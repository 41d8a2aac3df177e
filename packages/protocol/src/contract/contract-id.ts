// The names that follow from content: of a contract from its terms, of a capability from what it says besides its price.
import { canonicalJson } from "../canonical-json.ts";
import type { Crypto } from "../crypto.ts";
import { hexDigest } from "../digest.ts";
import type { Capability } from "../fields.ts";
import type { ContractTerms } from "./terms.ts";

/** SHA-256 of the terms in canonical JSON (RFC 8785), in lowercase hexadecimal. */
export function contractId(crypto: Crypto, terms: ContractTerms): string {
  return hexDigest(crypto, canonicalJson(terms));
}

/** Without the seal of its price: the price of a contract stands in its terms, and a new seal changes nothing of them. */
export function capabilityDigest(crypto: Crypto, capability: Capability): string {
  const { cost: _sealed, ...said } = capability;
  return hexDigest(crypto, canonicalJson(said));
}

/** What stands for a schema of the asker's in the terms. */
export function schemaDigest(crypto: Crypto, schema: Readonly<Record<string, unknown>>): string {
  return hexDigest(crypto, canonicalJson(schema));
}
