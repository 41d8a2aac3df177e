/** The admission list as operators write it: thumbprints, name=thumbprint, or a file of public JWKs. */

import { readFileSync } from "node:fs";
import { isName, parsePublicKey, parseStrict } from "@handfast/protocol";
import type { AdmittedKey } from "../identity/admission.ts";
import { limits } from "../limits.ts";
import { nodeCrypto } from "../proof/node-crypto.ts";
import { ConfigurationError } from "./configuration.ts";

const thumbprintPattern = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;

export function readAdmitted(entries: readonly string[]): readonly AdmittedKey[] {
  return entries.map((entry) => {
    const equals = entry.indexOf("=");
    const name = equals < 0 ? null : entry.slice(0, equals);
    if (name !== null && !isName(name)) {
      throw new ConfigurationError(
        `admit has ${JSON.stringify(entry)}: ${JSON.stringify(name)} is not an agent's name.`,
      );
    }
    return { name, thumbprint: readThumbprint(entry.slice(equals + 1), "admit") };
  });
}

export function readThumbprint(text: string, option: string): string {
  if (thumbprintPattern.test(text)) return text;
  const message = `${option} has ${JSON.stringify(text)}, which is no JWK thumbprint: 43 characters of base64url. An agent is told its own when it is refused.`;
  throw new ConfigurationError(message);
}

/** {"keys": [{"kty": "OKP", "crv": "Ed25519", "x": …, "agent_id": …}]}; agent_id is optional. */
export function readAdmittedFile(path: string): readonly AdmittedKey[] {
  const refuse = (why: string): never => {
    throw new ConfigurationError(`The admission list ${path} cannot be used: ${why}.`);
  };
  const parsed = parseStrict(readText(path), { max_depth: 8 });
  if (!parsed.ok) return refuse(`it is not strict JSON (${parsed.fault.reason} at ${parsed.fault.path || "the top"})`);
  const keys = (parsed.value as { keys?: unknown } | null)?.keys;
  if (!Array.isArray(keys)) return refuse('it has no list "keys"');
  if (keys.length > limits.admitted_keys) return refuse(`it has more than ${limits.admitted_keys} keys`);
  return keys.map((entry: unknown, index) => {
    if (typeof entry !== "object" || entry === null) return refuse(`keys[${index}] is not a JWK`);
    // What key tools write beside the key itself says nothing about who may come in.
    const { agent_id = null, kid: _kid, alg: _alg, use: _use, ...jwk } = entry as Readonly<Record<string, unknown>>;
    if (agent_id !== null && !isName(agent_id)) return refuse(`keys[${index}].agent_id is not an agent's name`);
    const key = parsePublicKey(nodeCrypto, jwk);
    if (!key.ok) return refuse(`keys[${index}] is refused: ${key.fault.replaceAll("_", " ")}`);
    return { thumbprint: key.key.thumbprint, name: agent_id };
  });
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigurationError(`The admission list ${path} cannot be read: ${why}. Check admit_file.`);
  }
}
