/** The keys of this machine's agents: one file each in the folder keys of ~/.handfast (HANDFAST_HOME). */

import { randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, join, resolve } from "node:path";
import {
  type AgentKey,
  checkPair,
  developmentKeyPath,
  nodeKey,
  privateJwk,
  readKeyFile,
  readSecret,
  writeKeyFile,
} from "@handfast/client/keys";
import { isName } from "@handfast/protocol/client";
import { readClientSettings } from "../client-settings.ts";
import type { Context, Environment } from "../command.ts";
import { CliError } from "../errors.ts";

export interface KeyPlace {
  readonly agent: string;
  readonly path: string;
}

/** Named by the first word, else by --agent, HANDFAST_AGENT or handfast.toml; --key names another file. */
export function keyPlace({ arguments: [word], options, env, cwd }: Context): KeyPlace {
  const settings = readClientSettings(options, env, cwd);
  const agent = word ?? settings.agent;
  if (agent === undefined) throw new CliError("usage", "Whose key?", "Name the agent, or set HANDFAST_AGENT.");
  if (!isName(agent)) {
    const remedy = "Use up to 128 letters, digits, dots, dashes and underscores, a letter or digit first.";
    throw new CliError("usage", `${JSON.stringify(agent)} is not a name for an agent.`, remedy);
  }
  return { agent, path: settings.key ?? developmentKeyPath(keyHome(env, cwd), agent) };
}

export function keyHome(env: Environment, cwd: string): string {
  return resolve(cwd, env["HANDFAST_HOME"] || join(homedir(), ".handfast"));
}

/** Null: there is no such file. */
export async function openKey(path: string): Promise<AgentKey | null> {
  const text = await readKeyFile(path);
  if (text === null) return null;
  const secret = readSecret(text, `The key file ${path}`);
  if (secret === null) {
    throw new CliError("configuration", `${path} is not a key file.`, "It must hold a private JWK.", "key_unusable");
  }
  const key = await nodeKey(secret.seed);
  checkPair(secret, key, `The key file ${path}`);
  return key;
}

export async function requireKey({ agent, path }: KeyPlace): Promise<AgentKey> {
  const key = await openKey(path);
  if (key !== null) return key;
  throw new CliError("missing", `There is no key of ${agent} in ${path}.`, `Make one: handfast keys make ${agent}`);
}

/** What is there stays. */
export async function makeKey(path: string): Promise<{ readonly key: AgentKey; readonly created: boolean }> {
  const seed = randomBytes(32);
  const made = await nodeKey(seed);
  if (await writeKeyFile(path, privateJwk(made))) return { key: made, created: true };
  const there = await openKey(path);
  if (there === null) throw new CliError("retryable", `${path} came and went while it was being made.`, "Try again.");
  return { key: there, created: false };
}

/** Of every agent whose key lies in the home folder; what is no key of an agent, such as an old one, is left out. */
export async function listKeys(home: string): Promise<readonly KeyPlace[]> {
  const folder = join(home, "keys");
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((name) => name.endsWith(".json") && !name.includes(".old-") && !name.endsWith(".next.json"))
    .sort()
    .map((name) => ({ agent: basename(name, ".json"), path: join(folder, name) }));
}
