/**
 * Every option of the relay, documented once: flags, environment, handfast.toml, `--help` and the docs all come from
 * this table.
 */

import { coreLimits } from "@handfast/core";
import { limits } from "../limits.ts";

export type OptionKind =
  | { readonly type: "text" }
  | { readonly type: "path" }
  | { readonly type: "flag" }
  | { readonly type: "choice"; readonly choices: readonly string[] }
  | { readonly type: "number"; readonly least: number; readonly most: number }
  /** "30s", "15m", "7d"; a bare number is refused, because nobody can tell its unit. */
  | { readonly type: "duration"; readonly least_ms: number; readonly most_ms: number }
  /** "64MB", "1GB". */
  | { readonly type: "size"; readonly least_bytes: number; readonly most_bytes: number }
  /** Given several times, or separated by commas. */
  | { readonly type: "list" };

export interface Option {
  /** Key in handfast.toml; a dot begins a table. Null: not there. */
  readonly key: string | null;
  /** Null: secrets have no flag, because everybody on the machine can read it. */
  readonly flag: string | null;
  readonly env: string | null;
  readonly kind: OptionKind;
  /** As people would write it; null: none. */
  readonly default: string | null;
  readonly help: string;
}

const day_ms = 24 * 60 * 60 * 1_000;
const days = (ms: number) => `${ms / day_ms}d`;

export const options = {
  config: {
    key: null,
    flag: "config",
    env: "HANDFAST_CONFIG",
    kind: { type: "path" },
    default: "handfast.toml",
    help: "The configuration file. The default may be missing, a file named here may not.",
  },
  host: {
    key: "host",
    flag: "host",
    env: "HANDFAST_HOST",
    kind: { type: "text" },
    default: "127.0.0.1",
    help: "Address to listen on.",
  },
  port: {
    key: "port",
    flag: "port",
    env: "HANDFAST_PORT",
    kind: { type: "number", least: 0, most: 65_535 },
    default: "7420",
    help: "Port to listen on; 0 takes a free one.",
  },
  data: {
    key: "data",
    flag: "data",
    env: "HANDFAST_DATA",
    kind: { type: "path" },
    default: "./.handfast",
    help: "Directory of the store, the relay's key and the operator's token. On PostgreSQL store and key are in the database.",
  },
  store: {
    key: "store",
    flag: "store",
    env: "HANDFAST_STORE",
    kind: { type: "text" },
    default: null,
    help: "Keeps handoffs in PostgreSQL: postgres://user:password@host:5432/database. Any number of relays may run on one database, each with its own data directory. A password is for the environment or the file: flags can be read by everybody on the machine. Default: SQLite in the data directory.",
  },
  node: {
    key: "node",
    flag: "node",
    env: "HANDFAST_NODE",
    kind: { type: "text" },
    default: null,
    help: "What this relay is called among those on one database, in the log, /metrics and /readyz. Default: on PostgreSQL a new name with each start.",
  },
  public_urls: {
    key: "public_urls",
    flag: "public-url",
    env: "HANDFAST_PUBLIC_URLS",
    kind: { type: "list" },
    default: null,
    help: "URLs by which agents know this relay; credentials and documents must name one. Default: http://host:port.",
  },
  dev: {
    key: "dev",
    flag: "dev",
    env: "HANDFAST_DEV",
    kind: { type: "flag" },
    default: null,
    help: "Development mode anywhere: new agents are trusted on first use. Default: only unconfigured on loopback.",
  },
  production: {
    key: "production",
    flag: "production",
    env: "HANDFAST_PRODUCTION",
    kind: { type: "flag" },
    default: null,
    help: "Never development mode: an operator admits agents, on loopback too.",
  },
  admit: {
    key: "admit",
    flag: "admit",
    env: "HANDFAST_ADMIT",
    kind: { type: "list" },
    default: null,
    help: "Keys that may register: JWK thumbprints, or name=thumbprint for one name only.",
  },
  admit_file: {
    key: "admit_file",
    flag: "admit-file",
    env: "HANDFAST_ADMIT_FILE",
    kind: { type: "path" },
    default: null,
    help: 'The same as a JWK set: {"keys": [{"kty": "OKP", "crv": "Ed25519", "x": …, "agent_id": …}]}.',
  },
  operator_token: {
    key: "operator_token",
    flag: null,
    env: "HANDFAST_OPERATOR_TOKEN",
    kind: { type: "text" },
    default: null,
    help: "Bearer token of the operator. Default: made on the first start, in operator-token in the data directory.",
  },
  operator_token_file: {
    key: "operator_token_file",
    flag: "operator-token-file",
    env: "HANDFAST_OPERATOR_TOKEN_FILE",
    kind: { type: "path" },
    default: null,
    help: "File with the operator's token; only its owner may read it (mode 0600).",
  },
  operator_keys: {
    key: "operator_keys",
    flag: "operator-key",
    env: "HANDFAST_OPERATOR_KEYS",
    kind: { type: "list" },
    default: null,
    help: "Thumbprints of keys whose agents are operators; they are admitted too.",
  },
  public_directory: {
    key: "public_directory",
    flag: "public-directory",
    env: "HANDFAST_PUBLIC_DIRECTORY",
    kind: { type: "flag" },
    default: null,
    help: "Shows manifests, agent cards and the catalog to anybody. Default: only in development mode.",
  },
  import_private: {
    key: "import_private",
    flag: "import-private",
    env: "HANDFAST_IMPORT_PRIVATE",
    kind: { type: "flag" },
    default: null,
    help: "Imports agents from private and loopback addresses too. Default: only in development mode.",
  },
  log_level: {
    key: "log_level",
    flag: "log-level",
    env: "HANDFAST_LOG_LEVEL",
    kind: { type: "choice", choices: ["fatal", "error", "warn", "info", "debug", "trace", "silent"] },
    default: "info",
    help: "What is logged. Payloads and keys never are.",
  },
  keep_taken: {
    key: "retention.keep_taken",
    flag: "keep-taken",
    env: "HANDFAST_KEEP_TAKEN",
    kind: { type: "duration", least_ms: 1_000, most_ms: 3_650 * day_ms },
    default: days(coreLimits.keep_taken_ms),
    help: "How long a handoff stays after its outcome was taken.",
  },
  keep_untaken: {
    key: "retention.keep_untaken",
    flag: "keep-untaken",
    env: "HANDFAST_KEEP_UNTAKEN",
    kind: { type: "duration", least_ms: 1_000, most_ms: 3_650 * day_ms },
    default: days(coreLimits.keep_untaken_ms),
    help: "How long untaken outcomes and open dead letters stay.",
  },
  keep_events: {
    key: "retention.keep_events",
    flag: "keep-events",
    env: "HANDFAST_KEEP_EVENTS",
    kind: { type: "duration", least_ms: 1_000, most_ms: 3_650 * day_ms },
    default: "90d",
    help: "How long the log keeps the events of handoffs.",
  },
  requests_per_second: {
    key: "limits.requests_per_second",
    flag: "requests-per-second",
    env: "HANDFAST_REQUESTS_PER_SECOND",
    kind: { type: "number", least: 1, most: 1_000_000 },
    default: String(limits.requests_per_second),
    help: "Calls that one agent may make in a second, over time.",
  },
  request_burst: {
    key: "limits.request_burst",
    flag: "request-burst",
    env: "HANDFAST_REQUEST_BURST",
    kind: { type: "number", least: 1, most: 1_000_000 },
    default: String(limits.request_burst),
    help: "Calls that one agent may make at once.",
  },
  open_handoffs_per_sender: {
    key: "limits.open_handoffs_per_sender",
    flag: "open-handoffs-per-sender",
    env: "HANDFAST_OPEN_HANDOFFS_PER_SENDER",
    kind: { type: "number", least: 1, most: 100_000_000 },
    default: String(limits.open_handoffs_per_sender),
    help: "Handoffs of one sender that may be open at the same time.",
  },
  reserve: {
    key: "limits.reserve",
    flag: "reserve",
    env: "HANDFAST_RESERVE",
    kind: { type: "size", least_bytes: 0, most_bytes: 2 ** 50 },
    default: `${limits.reserve_bytes / 1_000_000}MB`,
    help: "Free space below which new handoffs are refused (507), so that open ones can end.",
  },
  help: {
    key: null,
    flag: "help",
    env: null,
    kind: { type: "flag" },
    default: null,
    help: "Shows this text.",
  },
} as const satisfies Record<string, Option>;

export type OptionName = keyof typeof options;
export const optionList: readonly (readonly [OptionName, Option])[] = Object.entries(options) as [OptionName, Option][];

/** Read by clients and tools of ours, not by the relay. */
export const foreignEnvironment: ReadonlySet<string> = new Set([
  "HANDFAST_URL",
  "HANDFAST_AGENT",
  "HANDFAST_KEY",
  "HANDFAST_TOKEN",
  "HANDFAST_NAMESPACE",
  "HANDFAST_TOKEN_FILE",
  "HANDFAST_HOME",
]);
