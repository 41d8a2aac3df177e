/** What the client needs of where it runs. Node's part is loaded only there, so that a browser never sees it. */

import type { Crypto } from "@handfast/protocol";
import type { AgentKey, PrivateJwk } from "./identity/agent-key.ts";
import { webCrypto, webKey } from "./identity/web-crypto.ts";

export interface Platform {
  readonly crypto: Crypto;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Where development keys are kept unless told otherwise; null: nowhere. */
  readonly home: string | null;
  /** The name of whoever is logged in; null: unknown. */
  readonly user: string | null;
  keyOf(seed: Uint8Array): Promise<AgentKey>;
  readonly files: KeyFiles | null;
}

interface KeyFiles {
  /** The text; null: no such file. */
  read(path: string): Promise<string | null>;
  /** False: it was there already. */
  write(path: string, jwk: PrivateJwk): Promise<boolean>;
  developmentKeyPath(home: string, agent: string): string;
}

const browser: Platform = { crypto: webCrypto, environment: {}, home: null, user: null, keyOf: webKey, files: null };

export function isNode(): boolean {
  const { process }: { process?: { versions?: { node?: string } } } = globalThis;
  return process?.versions?.node !== undefined;
}

export async function currentPlatform(): Promise<Platform> {
  return isNode() ? (await import("./node-platform.ts")).nodePlatform() : browser;
}
