/** What connect() goes by: options over the environment over defaults. */

import { isName } from "@handfast/protocol/client";
import type { Base } from "./base.ts";
import type { ConnectOptions } from "./connect.ts";
import { toMilliseconds } from "./duration.ts";
import { UsageError } from "./errors.ts";
import { type AgentKey, checkPair, privateJwk, readSecret, refused, type Secret } from "./identity/agent-key.ts";
import type { Platform } from "./platform.ts";
import type { Surroundings } from "./surroundings.ts";

export interface Settings {
  readonly url: string;
  /** Null: whoever the token stands for. */
  readonly agent: string | null;
  readonly key: AgentKey | null;
  readonly token: string | null;
  readonly namespace: string | null;
  readonly patience_ms: number;
}

const default_url = "http://127.0.0.1:7420";
const default_patience = "30s";
const seed_bytes = 32;

export async function readSettings(
  options: ConnectOptions,
  platform: Platform,
  surroundings: Surroundings,
  warn: Base["warn"],
): Promise<Settings> {
  const { environment } = platform;
  const set = (name: string) => environment[name] || undefined;
  const url = checkUrl(options.url ?? set("HANDFAST_URL") ?? default_url);
  const bearer = options.admission === undefined ? (options.token ?? set("HANDFAST_TOKEN") ?? null) : null;
  const token = options.admission ?? bearer;
  const named = checkName(options.agent ?? set("HANDFAST_AGENT") ?? null);
  const given = options.key ?? set("HANDFAST_KEY") ?? null;
  const agent = named ?? (given === null && bearer !== null ? null : userName(platform));
  const home = options.home ?? set("HANDFAST_HOME") ?? platform.home;
  const key = await findKey(given, bearer, agent, { home, platform, surroundings, warn });
  return {
    url,
    token,
    agent,
    key,
    namespace: options.namespace ?? set("HANDFAST_NAMESPACE") ?? null,
    patience_ms: toMilliseconds(options.patience ?? default_patience, "patience"),
  };
}

function checkUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.search === "" && url.hash === "") {
    return url.href.replace(/\/+$/, "");
  }
  const message = `${JSON.stringify(text)} is not the URL of a relay.`;
  throw new UsageError(message, `Set url (HANDFAST_URL) to something like ${default_url} or https://relay.example.`);
}

function checkName(name: string | null): string | null {
  if (name === null || isName(name)) return name;
  const message = `${JSON.stringify(name)} is not a name for an agent.`;
  const remedy =
    "Set agent (HANDFAST_AGENT) to 1 to 128 letters, digits, dots, dashes or underscores, a letter or digit first.";
  throw new UsageError(message, remedy);
}

function userName({ user }: Platform): string {
  const name = (user ?? "").replaceAll(/[^A-Za-z0-9._-]/g, "-").replace(/^[^A-Za-z0-9]+/, "");
  return isName(name) && name !== "operator" && name !== "relay" ? name : "developer";
}

interface KeyPlaces {
  readonly home: string | null;
  readonly platform: Platform;
  readonly surroundings: Surroundings;
  readonly warn: Base["warn"];
}

/** Given, or the development key of this name; none where a token stands for the agent. */
async function findKey(
  given: ConnectOptions["key"] | null,
  token: string | null,
  agent: string | null,
  places: KeyPlaces,
): Promise<AgentKey | null> {
  if (given != null) return givenKey(given, places);
  if (token !== null || agent === null) return null;
  return developmentKey(agent, places);
}

async function givenKey(given: NonNullable<ConnectOptions["key"]>, { platform }: KeyPlaces): Promise<AgentKey> {
  const secret = readSecret(given, "The key given");
  if (secret !== null) return keyOf(secret, platform, "The key given");
  const path = String(given);
  if (platform.files === null) throw refused("The key given is neither a JWK nor a seed, and there are no files here.");
  const text = await platform.files.read(path);
  if (text === null) throw refused(`There is no key file ${path}.`);
  return keyFromFile(text, path, platform);
}

async function developmentKey(agent: string, { home, platform, surroundings, warn }: KeyPlaces): Promise<AgentKey> {
  const { files } = platform;
  const seed = surroundings.randomBytes(seed_bytes);
  if (files === null || home === null) {
    const message = `A new key for ${agent} was made and is kept in memory only: after a reload it is another agent's.`;
    warn({ reason: "key_in_memory", message: `${message} Give one with the option key.` });
    return platform.keyOf(seed);
  }
  const path = files.developmentKeyPath(home, agent);
  const there = await files.read(path);
  if (there !== null) return keyFromFile(there, path, platform);
  const made = await platform.keyOf(seed);
  if (await files.write(path, privateJwk(made))) return made;
  const first = await files.read(path);
  if (first === null) throw refused(`The key file ${path} came and went while it was being made.`);
  return keyFromFile(first, path, platform);
}

async function keyFromFile(text: string, path: string, platform: Platform): Promise<AgentKey> {
  const secret = readSecret(text, `The key file ${path}`);
  if (secret === null) throw refused(`The key file ${path} holds neither a JWK nor a seed.`);
  return keyOf(secret, platform, `The key file ${path}`);
}

async function keyOf(secret: Secret, platform: Platform, source: string): Promise<AgentKey> {
  const key = await platform.keyOf(secret.seed);
  checkPair(secret, key, source);
  return key;
}
