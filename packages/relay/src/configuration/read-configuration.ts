/** Flags over environment over handfast.toml, made into a checked configuration. Throws ConfigurationError. */

import { isIPv4 } from "node:net";
import { resolve } from "node:path";
import { isPostgresUrl } from "@handfast/store-postgres";
import type { Admission, AdmittedKey } from "../identity/admission.ts";
import { normalUrl } from "../identity/audience.ts";
import { checkOperatorToken, readOperatorToken } from "../identity/operator-token.ts";
import { readAdmitted, readAdmittedFile, readThumbprint } from "./admitted-keys.ts";
import { type Asked, type Configuration, ConfigurationError, type LogLevel } from "./configuration.ts";
import { helpText } from "./help.ts";
import { type OptionValue, optionValue } from "./option-value.ts";
import { type OptionName, options } from "./options.ts";
import { readEnvironment, readFile, readFlags, type Settings, strangeVariables } from "./sources.ts";

export function readConfiguration(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
): Asked {
  const flags = readFlags(argv);
  if (flags.get("help") === true) return { kind: "help", text: helpText() };
  const environment = readEnvironment(env);
  const named = flags.get("config") ?? environment.get("config");
  const path = resolve(cwd, named === undefined ? options.config.default : String(named));
  const file = readFile(path, named !== undefined);
  const settings = new Chosen([flags, environment, file], cwd);
  return { kind: "start", configuration: configure(settings, strangeVariables(env)) };
}

/** What holds for each option: the first place that sets it, else its default. */
class Chosen {
  private readonly places: readonly Settings[];
  private readonly cwd: string;

  constructor(places: readonly Settings[], cwd: string) {
    this.places = places;
    this.cwd = cwd;
  }

  private value(name: OptionName): OptionValue | undefined {
    const set = this.places.find((place) => place.has(name))?.get(name);
    const { default: standard, kind } = options[name];
    return set ?? (standard === null ? undefined : optionValue(kind, standard, `The default of ${name}`));
  }

  text(name: OptionName): string | null {
    const value = this.value(name);
    return value === undefined ? null : String(value);
  }

  number(name: OptionName): number {
    return Number(this.value(name));
  }

  flag(name: OptionName): boolean | null {
    const value = this.value(name);
    return typeof value === "boolean" ? value : null;
  }

  list(name: OptionName): readonly string[] {
    const value = this.value(name);
    return Array.isArray(value) ? value : [];
  }

  path(name: OptionName): string | null {
    const value = this.text(name);
    return value === null ? null : resolve(this.cwd, value);
  }
}

function configure(settings: Chosen, warnings: readonly string[]): Configuration {
  const host = settings.text("host") ?? options.host.default;
  const loopback = isLoopback(host);
  const operator_tokens = operatorTokens(settings);
  const operator_keys = settings.list("operator_keys").map((key) => readThumbprint(key, "operator_keys"));
  const admit_file = settings.path("admit_file");
  const listed = [
    ...readAdmitted(settings.list("admit")),
    ...(admit_file === null ? [] : readAdmittedFile(admit_file)),
  ];
  const isAdmissionSet = settings.list("admit").length > 0 || admit_file !== null;
  const isOperatorSet = operator_tokens.length > 0 || operator_keys.length > 0;
  const development = isDevelopment(settings, loopback, isAdmissionSet, isOperatorSet);
  return {
    host,
    port: settings.number("port"),
    data_directory: settings.path("data") ?? "",
    store: storeUrl(settings.text("store")),
    node: nodeName(settings.text("node")),
    public_urls: settings.list("public_urls").map(publicUrl),
    namespace: "default",
    development,
    loopback,
    admission: admission(development, [...listed, ...operator_keys.map((thumbprint) => ({ thumbprint, name: null }))]),
    operator_tokens,
    operator_token_file: settings.path("operator_token_file"),
    operator_keys,
    public_directory: settings.flag("public_directory") ?? development,
    import_private: settings.flag("import_private") ?? development,
    log_level: settings.text("log_level") as LogLevel,
    retention: {
      keep_taken_ms: settings.number("keep_taken"),
      keep_untaken_ms: settings.number("keep_untaken"),
      keep_events_ms: settings.number("keep_events"),
    },
    limits: {
      requests_per_second: settings.number("requests_per_second"),
      request_burst: settings.number("request_burst"),
      open_handoffs_per_sender: settings.number("open_handoffs_per_sender"),
      reserve_bytes: settings.number("reserve"),
    },
    warnings: [...warnings, ...unreachable(host, loopback, settings.list("public_urls"))],
  };
}

function unreachable(host: string, loopback: boolean, public_urls: readonly string[]): readonly string[] {
  if (loopback || public_urls.length > 0) return [];
  return [`The relay listens on ${host}, but public_urls is not set. Set the URLs by which agents reach it.`];
}

/** Trust on first use only where nobody else can reach the relay and nobody said otherwise, or where it is asked for. */
function isDevelopment(settings: Chosen, loopback: boolean, admits: boolean, operated: boolean): boolean {
  const dev = settings.flag("dev");
  const production = settings.flag("production");
  if (dev === true && production === true) {
    throw new ConfigurationError("dev and production are both set, and mean the opposite. Remove one of them.");
  }
  if (dev === true && admits) {
    const message = "dev trusts every new agent, admit only those listed. Remove one of them.";
    throw new ConfigurationError(message);
  }
  if (dev !== null) return dev;
  return loopback && production !== true && !admits && !operated;
}

function admission(development: boolean, keys: readonly AdmittedKey[]): Admission {
  return development ? { kind: "first_use" } : { kind: "listed", keys };
}

function operatorTokens(settings: Chosen): readonly string[] {
  const token = settings.text("operator_token");
  if (token !== null) checkOperatorToken(token, "HANDFAST_OPERATOR_TOKEN or operator_token");
  const file = settings.path("operator_token_file");
  return [...(token === null ? [] : [token]), ...(file === null ? [] : [readOperatorToken(file)])];
}

function publicUrl(text: string): string {
  const url = URL.parse(text);
  const isPlain = url !== null && url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  if (!isPlain || !["http:", "https:"].includes(url.protocol)) {
    const message = `public_urls has ${JSON.stringify(text)}. It must be an http or https URL, such as https://relay.example.`;
    throw new ConfigurationError(message);
  }
  return normalUrl(text);
}

/** The text is not told: it may hold a password. */
function storeUrl(text: string | null): string | null {
  if (text === null || isPostgresUrl(text)) return text;
  const message =
    "store is not the URL of a PostgreSQL database. It must be such as postgres://user@host:5432/database.";
  throw new ConfigurationError(`${message} Without it handfast uses SQLite in the data directory (--data).`);
}

function nodeName(text: string | null): string | null {
  if (text === null || /^[A-Za-z0-9._-]{1,64}$/.test(text)) return text;
  const message = `node is ${JSON.stringify(text)}. It must be 1 to 64 letters, digits, dots, dashes or underscores.`;
  throw new ConfigurationError(message);
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));
}
