/** The three places where options are set, each read into the same shape; unknown names are refused by name. */

import { readFileSync } from "node:fs";
import { parse as parseToml, TomlError } from "smol-toml";
import { ConfigurationError } from "./configuration.ts";
import { didYouMean } from "./did-you-mean.ts";
import { type OptionValue, optionValue } from "./option-value.ts";
import { foreignEnvironment, type OptionName, optionList } from "./options.ts";

export type Settings = ReadonlyMap<OptionName, OptionValue>;

/** `--name value`, `--name=value`, `--flag`, `--no-flag`; a list may be given several times. */
export function readFlags(argv: readonly string[]): Settings {
  const flags = new Map(
    optionList.flatMap(([name, option]) => (option.flag === null ? [] : [[option.flag, { name, option }]])),
  );
  const known = [...flags.keys()].map((flag) => `--${flag}`);
  const settings = new Map<OptionName, OptionValue>();
  const words = [...argv];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === "-h") word = "--help";
    const [, given = "", inline] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
    const denied = given.startsWith("no-") && flags.get(given.slice(3))?.option.kind.type === "flag";
    const found = flags.get(denied ? given.slice(3) : given);
    if (found === undefined) {
      const what = word.startsWith("-") ? `There is no option ${word}.` : `${JSON.stringify(word)} is not an option.`;
      throw new ConfigurationError(`${what}${didYouMean(`--${given}`, known)} See --help.`);
    }
    const { name, option } = found;
    const isFlag = option.kind.type === "flag";
    const raw = isFlag ? (inline ?? (denied ? "false" : "true")) : (inline ?? words.shift());
    if (raw === undefined) throw new ConfigurationError(`--${given} needs a value: ${option.help}`);
    const value = optionValue(option.kind, raw, `--${given}`);
    const before = settings.get(name);
    if (before !== undefined && !Array.isArray(value)) {
      throw new ConfigurationError(`--${given} is given twice. Give it once.`);
    }
    settings.set(name, Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value);
  }
  return settings;
}

type Environment = Readonly<Record<string, string | undefined>>;

export function readEnvironment(env: Environment): Settings {
  const settings = new Map<OptionName, OptionValue>();
  for (const [name, { env: variable, kind }] of optionList) {
    const raw = variable === null ? undefined : env[variable];
    // Set but empty is how shells and containers say "not set".
    if (variable !== null && raw !== undefined && raw !== "") {
      settings.set(name, optionValue(kind, raw, `The environment variable ${variable}`));
    }
  }
  return settings;
}

/** Variables that look like ours and are nobody's: other programs may use the prefix, so they are only told. */
export function strangeVariables(env: Environment): readonly string[] {
  const known = optionList.flatMap(([, { env: variable }]) => (variable === null ? [] : [variable]));
  return Object.keys(env)
    .filter((name) => name.startsWith("HANDFAST_") && !known.includes(name) && !foreignEnvironment.has(name))
    .map((name) => `The environment variable ${name} is not read by the relay.${didYouMean(name, known)}`);
}

/** `required`: the file was named, so it must be there. */
export function readFile(path: string, required: boolean): Settings {
  const text = readText(path, required);
  if (text === null) return new Map();
  const settings = new Map<OptionName, OptionValue>();
  const byKey = new Map(
    optionList.flatMap(([name, option]) => (option.key === null ? [] : [[option.key, { name, option }]])),
  );
  // The command reads the table of clients, with its own checks.
  const { client: _client, ...own } = parse(text, path);
  for (const [key, raw] of flatten(own, byKey, "")) {
    const found = byKey.get(key);
    if (found === undefined) {
      throw new ConfigurationError(`${path} sets ${key}, which is no option.${didYouMean(key, [...byKey.keys()])}`);
    }
    // A secret of the wrong kind must not be repeated in a message.
    const secret = found.name === "operator_token" && typeof raw !== "string";
    settings.set(found.name, optionValue(found.option.kind, secret ? "" : raw, `${key} in ${path}`));
  }
  return settings;
}

function readText(path: string, required: boolean): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const missing = error instanceof Error && "code" in error && error.code === "ENOENT";
    if (missing && !required) return null;
    const why = missing ? "there is no such file" : error instanceof Error ? error.message : String(error);
    throw new ConfigurationError(`The configuration file ${path} cannot be read: ${why}. Check --config.`);
  }
}

function parse(text: string, path: string): Readonly<Record<string, unknown>> {
  try {
    return parseToml(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    // The library's message quotes the line, which may hold a secret.
    const [first = "not TOML"] = error.message.split("\n");
    throw new ConfigurationError(`${path}, line ${error.line}, column ${error.column}: ${first}`);
  }
}

/** Tables become dotted keys, as deep as the options know tables. */
function* flatten(
  table: Readonly<Record<string, unknown>>,
  known: ReadonlyMap<string, unknown>,
  prefix: string,
): Generator<[string, unknown]> {
  for (const [name, raw] of Object.entries(table)) {
    const key = `${prefix}${name}`;
    const isTable = typeof raw === "object" && raw !== null && !Array.isArray(raw) && !(raw instanceof Date);
    if (isTable && [...known.keys()].some((option) => option.startsWith(`${key}.`))) {
      yield* flatten(raw as Readonly<Record<string, unknown>>, known, `${key}.`);
    } else yield [key, raw];
  }
}
