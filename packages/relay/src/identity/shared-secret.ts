/**
 * Secrets that all nodes of one relay have: kept beside what the relay knows, in no agent's namespace, and made once, by whichever
 * node comes first. Whoever reads the database can read them, as it can read every handoff.
 */

import type { Store } from "@handfast/engine";
import { ConfigurationError } from "../configuration/configuration.ts";

type SecretName = "relay_key" | "operator_token";

const place = { namespace: "", kind: "secret" } as const;

/** What nodes had under this name in a store that is one relay's alone now, because it was imported from theirs. */
export async function formerSecret(store: Pick<Store, "record">, key: SecretName): Promise<string | null> {
  const known = (await store.record(place.namespace, place.kind, key))?.value;
  return typeof known === "string" ? known : null;
}

/** What the nodes have under this name; `own` from now on, where they have nothing yet. */
export async function sharedSecret(
  store: Pick<Store, "record" | "commit">,
  key: SecretName,
  own: () => string,
): Promise<string> {
  const find = async () => (await store.record(place.namespace, place.kind, key))?.value;
  const known = await find();
  if (typeof known === "string") return known;
  // Where another node is faster this conflicts, and what it wrote is there.
  await store.commit([{ writes: [], records: [{ ...place, key, expected_version: 0, value: own() }] }]);
  const kept = await find();
  if (typeof kept === "string") return kept;
  throw new ConfigurationError(`The database has no usable ${key.replace("_", " ")}. Restore it from a backup.`);
}

/** A file that was there before and says something else than the nodes agreed on: taking either in silence would be wrong. */
export function differs(what: string, path: string): ConfigurationError {
  const next = "Move the file away if this node belongs to that database; else name its own database with --store.";
  return new ConfigurationError(`${what} in ${path} is not the one that the database's other nodes have. ${next}`);
}
