/** What the relay is told at its start, after flags, environment and handfast.toml were merged and checked. */

import type { Duration } from "@handfast/core";
import type { Admission } from "../identity/admission.ts";

export interface Configuration {
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
  /** Absolute path. */
  readonly data_directory: string;
  /** The URL of a PostgreSQL database; null: SQLite in the data directory. */
  readonly store: string | null;
  /** What this process is called among the nodes on one database; null: it is none of several, or gets a name when it starts. */
  readonly node: string | null;
  /** Empty: derived from host and port once the relay listens (`publicUrls`). */
  readonly public_urls: readonly string[];
  readonly namespace: string;
  readonly development: boolean;
  /** Whether it listens on loopback only. */
  readonly loopback: boolean;
  readonly admission: Admission;
  /** Empty: the relay makes one and keeps it in the data directory (`operatorTokens`). */
  readonly operator_tokens: readonly string[];
  /** The file that one of them was read from; null: none was. */
  readonly operator_token_file: string | null;
  readonly operator_keys: readonly string[];
  /** Whether anybody may read manifests, agent cards and the catalog. */
  readonly public_directory: boolean;
  /** Whether agents may be imported from addresses that only this machine or its network has. */
  readonly import_private: boolean;
  readonly log_level: LogLevel;
  readonly retention: {
    readonly keep_taken_ms: Duration;
    readonly keep_untaken_ms: Duration;
    readonly keep_events_ms: Duration;
  };
  readonly limits: {
    readonly requests_per_second: number;
    readonly request_burst: number;
    readonly open_handoffs_per_sender: number;
    readonly reserve_bytes: number;
  };
  /** What a person should know, such as environment variables that nobody reads. */
  readonly warnings: readonly string[];
}

export type LogLevel = "fatal" | "error" | "warn" | "info" | "debug" | "trace" | "silent";

export type Asked =
  | { readonly kind: "help"; readonly text: string }
  | { readonly kind: "start"; readonly configuration: Configuration };

/** The person who starts the relay must change something; the message says what. */
export class ConfigurationError extends Error {
  override name = "ConfigurationError";
}
