/** The operator's tokens: those configured, else one of the relay's own making in a file that only its owner reads. */

import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Store } from "@handfast/engine";
import { type PublicJwk, toBase64url } from "@handfast/protocol";
import { ConfigurationError } from "../configuration/configuration.ts";
import { limits } from "../limits.ts";
import { createPrivateFile, readPrivateFile } from "./private-file.ts";
import { differs, sharedSecret } from "./shared-secret.ts";

export interface OperatorTokens {
  readonly tokens: readonly string[];
  /** Where the relay's own is; null: they were configured. */
  readonly file: string | null;
}

const file_name = "operator-token";
const taker_file_name = "relay-key.public.json";
export const operator_token_prefix = "hfo_";

/** `configured` is what configuration found; the file is made on the first start, with the `former` one of an imported store. */
export function openOperatorTokens(
  configured: readonly string[],
  data_directory: string,
  former: string | null = null,
): OperatorTokens {
  if (configured.length > 0) return { tokens: configured, file: null };
  const file = join(data_directory, file_name);
  if (readPrivateFile(file) === null) {
    createPrivateFile(file, `${former ?? newToken()}\n`);
  }
  return { tokens: [readOperatorToken(file)], file };
}

/**
 * The same for nodes that share a store: the token of all of them, and in each one's data directory for people to find it. Beside it lies
 * whose it is, the public half of their key: the key itself stays in the database, and a command must not give the token to another relay.
 */
export async function openSharedOperatorTokens(
  configured: readonly string[],
  data_directory: string,
  store: Store,
  relay_key: PublicJwk,
): Promise<OperatorTokens> {
  if (configured.length > 0) return { tokens: configured, file: null };
  const file = join(data_directory, file_name);
  const mine = readPrivateFile(file) === null ? null : readOperatorToken(file);
  const token = await sharedSecret(store, "operator_token", () => mine ?? newToken());
  if (mine === null) createPrivateFile(file, `${token}\n`);
  else if (mine !== token) throw differs("The operator's token", file);
  tellTaker(join(data_directory, taker_file_name), relay_key);
  return { tokens: [token], file };
}

/** No secret, and told anew where it is of another database, whose token was moved away. */
function tellTaker(path: string, relay_key: PublicJwk): void {
  const text = `${JSON.stringify(relay_key)}\n`;
  if (existsSync(path) && readFileSync(path, "utf8") === text) return;
  rmSync(path, { force: true });
  createPrivateFile(path, text);
}

function newToken(): string {
  return `${operator_token_prefix}${toBase64url(randomBytes(32))}`;
}

export function readOperatorToken(file: string): string {
  const token = readPrivateFile(file)?.trim();
  if (token === undefined) throw new ConfigurationError(`There is no operator's token in ${file}. Check the path.`);
  checkOperatorToken(token, file);
  return token;
}

/** The message never shows the token. */
export function checkOperatorToken(token: string, where: string): void {
  if (token.length >= limits.operator_token_chars_least && /^[A-Za-z0-9._~+/=-]+$/.test(token)) return;
  const least = limits.operator_token_chars_least;
  const next = "Make one with: openssl rand -base64 32";
  const message = `The operator's token (${where}) must be at least ${least} letters, digits or . _ ~ + / = - characters. ${next}`;
  throw new ConfigurationError(message);
}
