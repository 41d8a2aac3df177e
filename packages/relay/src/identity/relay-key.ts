/** The relay's own Ed25519 key: a private JWK in the data directory, or with a store that nodes share; made on the first start. */

import { createPrivateKey, createPublicKey, generateKeyPairSync, hkdfSync } from "node:crypto";
import { join } from "node:path";
import type { Store } from "@handfast/engine";
import { fromBase64url, type PublicJwk, parsePublicKey, parseStrict, type Signer } from "@handfast/protocol";
import { ConfigurationError } from "../configuration/configuration.ts";
import { nodeCrypto, nodeSigner } from "../proof/node-crypto.ts";
import { createPrivateFile, readPrivateFile } from "./private-file.ts";
import { differs, sharedSecret } from "./shared-secret.ts";

export interface RelayKey {
  readonly signer: Signer;
  readonly jwk: PublicJwk;
  /** A secret for one purpose that everybody has who has this key, and nobody else. */
  derive(purpose: string): Uint8Array;
}

const file_name = "relay-key.json";

/** One that nobody keeps. */
export function makeRelayKey(): RelayKey {
  return readKey(newKey(), "memory");
}

/** Throws ConfigurationError where the file is open to others or is no key. `former`: the one to begin with, of an imported store. */
export function openRelayKey(data_directory: string, former: string | null = null): RelayKey {
  const path = join(data_directory, file_name);
  const stored = readPrivateFile(path);
  if (stored !== null) return readKey(stored, path);
  const text = former ?? newKey();
  createPrivateFile(path, text);
  // Read back: if two relays started at once, the key is the one that is there.
  return readKey(readPrivateFile(path) ?? text, path);
}

/** The key of all nodes that share this store; one in the data directory becomes theirs, if it is the first. */
export async function openSharedRelayKey(store: Store, data_directory: string): Promise<RelayKey> {
  const path = join(data_directory, file_name);
  const stored = readPrivateFile(path);
  const mine = stored === null ? null : readKey(stored, path);
  const key = readKey(await sharedSecret(store, "relay_key", () => stored ?? newKey()), "the database");
  if (mine !== null && mine.jwk.x !== key.jwk.x) throw differs("The relay's key", path);
  return key;
}

function newKey(): string {
  return `${JSON.stringify(generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" }))}\n`;
}

function readKey(text: string, path: string): RelayKey {
  const parsed = parseStrict(text, { max_depth: 2, max_bytes: 4_096 });
  const value: { d?: unknown; x?: unknown } =
    parsed.ok && typeof parsed.value === "object" && parsed.value !== null ? parsed.value : {};
  const { d, x } = value;
  const seed = typeof d === "string" ? fromBase64url(d) : null;
  if (typeof d !== "string" || typeof x !== "string" || seed?.length !== 32) {
    throw damaged(path, "it is not a private Ed25519 JWK");
  }
  const jwk = publicJwk(d, x, path);
  if (jwk.x !== x) throw damaged(path, "its two halves do not belong together");
  const derive = (purpose: string) => new Uint8Array(hkdfSync("sha256", seed, "", `handfast/v1/${purpose}`, 32));
  return { signer: nodeSigner(seed), jwk, derive };
}

function publicJwk(d: string, x: string, path: string): PublicJwk {
  const key = createPrivateKey({ key: { kty: "OKP", crv: "Ed25519", d, x }, format: "jwk" });
  const parsed = parsePublicKey(nodeCrypto, createPublicKey(key).export({ format: "jwk" }));
  if (!parsed.ok) throw damaged(path, parsed.fault.replaceAll("_", " "));
  return parsed.key.jwk;
}

function damaged(path: string, why: string): ConfigurationError {
  const next = "Put back the copy from your backup; if there is none, move the file away and a new key is made.";
  return new ConfigurationError(`The relay's key in ${path} cannot be used: ${why}. ${next}`);
}
