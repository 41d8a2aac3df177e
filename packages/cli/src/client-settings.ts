/** Where the relay is and who calls it: flags over environment over the table [client] of handfast.toml. */

import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parse, TomlError } from "smol-toml";
import type { CommandOption, Environment } from "./command.ts";
import { CliError } from "./errors.ts";
import type { Options } from "./options.ts";

const default_url = "http://127.0.0.1:7420";
const default_data = "./.handfast";

interface Setting extends CommandOption {
  readonly name: string;
  readonly env: string;
  /** A path, which a file names as seen from its own place. */
  readonly isPath?: boolean;
}

const settings = [
  {
    name: "url",
    flags: "--url <url>",
    env: "HANDFAST_URL",
    key: "client.url",
    default: default_url,
    help: "Where the relay is.",
  },
  {
    name: "agent",
    flags: "--agent <name>",
    env: "HANDFAST_AGENT",
    key: "client.agent",
    help: "In whose name to call. Default: your user's name.",
  },
  {
    name: "key",
    flags: "--key <file>",
    env: "HANDFAST_KEY",
    key: "client.key",
    isPath: true,
    help: "File of the agent's private key. Default: one of this agent in ~/.handfast/keys, made on first use.",
  },
  {
    name: "token",
    flags: "--token <token>",
    env: "HANDFAST_TOKEN",
    help: "A token instead of a key. Others on this machine can see flags: prefer the variable or --token-file.",
  },
  {
    name: "token-file",
    flags: "--token-file <file>",
    env: "HANDFAST_TOKEN_FILE",
    key: "client.token_file",
    isPath: true,
    help: "The same from a file.",
  },
  {
    name: "namespace",
    flags: "--namespace <name>",
    env: "HANDFAST_NAMESPACE",
    key: "client.namespace",
    help: "The relay's namespace.",
  },
] as const satisfies readonly Setting[];

type Name = (typeof settings)[number]["name"];

/** Added to every command that connects. */
export const connectionOptions: readonly CommandOption[] = [
  ...settings,
  {
    flags: "--patience <duration>",
    help: "How long to go on trying while the relay is away.",
    default: "2s to connect, 30s for a call",
  },
];

export interface ClientSettings {
  readonly url: string;
  readonly agent: string | undefined;
  readonly key: string | undefined;
  readonly token: string | undefined;
  readonly namespace: string | undefined;
  /** Somebody was named by flag, environment or file: an operator's token that lies about is not used. */
  readonly isNamed: boolean;
  /** The data directory of a relay on this machine, where its operator's token lies. */
  readonly data: string;
}

export function readClientSettings(options: Options, env: Environment, cwd: string): ClientSettings {
  const file = readFile(env, cwd);
  const chosen = (name: Name): string | undefined => {
    const setting: Setting | undefined = settings.find((each) => each.name === name);
    // Set but empty is how shells and containers say "not set".
    const given = options.text(name) ?? (env[setting?.env ?? ""] || undefined);
    if (given !== undefined) return setting?.isPath === true && isPath(given) ? resolve(cwd, given) : given;
    const written = file.client.get(name.replace("-", "_"));
    return written !== undefined && setting?.isPath === true ? resolve(file.directory, written) : written;
  };
  const key = chosen("key");
  const agent = chosen("agent");
  const token = chosen("token") ?? tokenFrom(chosen("token-file"));
  return {
    url: checkedUrl(chosen("url") ?? default_url),
    agent,
    key,
    token,
    namespace: chosen("namespace"),
    isNamed: key !== undefined || agent !== undefined || token !== undefined,
    data: resolve(cwd, env["HANDFAST_DATA"] || (file.data ?? default_data)),
  };
}

/** A key may also be given itself: a JWK, or a seed in base64url. */
function isPath(key: string): boolean {
  return !key.trimStart().startsWith("{") && !/^[A-Za-z0-9_-]{43}$/.test(key);
}

function checkedUrl(text: string): string {
  const url = URL.parse(text);
  if (url !== null && ["http:", "https:", "ws:", "wss:"].includes(url.protocol)) return text;
  throw new CliError("usage", `${JSON.stringify(text)} is no URL of a relay.`, `Give one such as ${default_url}.`);
}

function tokenFrom(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  const token = readFileSync(path, "utf8").trim();
  if (token !== "" && !/\s/.test(token)) return token;
  throw new CliError("configuration", `${path} does not hold a token.`, "Put the token alone into the file.");
}

interface File {
  readonly directory: string;
  readonly client: ReadonlyMap<string, string>;
  readonly data: string | undefined;
}

function readFile(env: Environment, cwd: string): File {
  const named = env["HANDFAST_CONFIG"] || undefined;
  const path = named === undefined ? join(cwd, "handfast.toml") : resolve(cwd, named);
  const table = named === undefined && !existsSync(path) ? {} : parseFile(path);
  const { client = {}, data } = table;
  if (typeof client !== "object" || client === null || Array.isArray(client)) {
    throw new CliError("configuration", `client in ${path} is no table.`, "Write it as [client].");
  }
  const known = settings.flatMap((setting) => ("key" in setting ? [setting.key.replace("client.", "")] : []));
  for (const [key, value] of Object.entries(client)) {
    const where = `${path} sets client.${key}`;
    if (!known.includes(key))
      throw new CliError("configuration", `${where}, which is no option.`, `Known: ${known.join(", ")}.`);
    if (typeof value !== "string" || value === "")
      throw new CliError("configuration", `${where} to no text.`, "Write it in quotes.");
  }
  return {
    directory: dirname(path),
    client: new Map(Object.entries(client)),
    data: typeof data === "string" ? data : undefined,
  };
}

function parseFile(path: string): Readonly<Record<string, unknown>> {
  try {
    return parse(readFileSync(path, "utf8"));
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    // The library's message quotes the line, which may hold a secret.
    const [first = "not TOML"] = error.message.split("\n");
    throw new CliError(
      "configuration",
      `${path}, line ${error.line}, column ${error.column}: ${first}`,
      "Mend the file.",
    );
  }
}
