/** What can be wrong with a PostgreSQL store: what happened, which value, what to do next. */

import { stale_guess } from "./combine.ts";
import { oldest_server } from "./limits.ts";

export type PostgresStoreFault =
  /** The address is no URL of a PostgreSQL database. */
  | "bad_url"
  /** Nobody answers there, or no longer. */
  | "unreachable"
  /** A connection stands, and nothing comes back on it: a network that swallows everything tells nobody. */
  | "silent"
  /** The server knows the user, the password or the database not, or does not let them in. */
  | "refused"
  /** The user may not do what the store needs. */
  | "no_rights"
  /** All of the server's connections are taken. */
  | "no_connections"
  /** Another relay has this database. */
  | "in_use"
  /** A standby, or a server set to read only. */
  | "read_only"
  /** Another product's database or schema, or a server too old. */
  | "foreign"
  /** There is no store in the database. */
  | "missing"
  /** There is something in a store that should be empty, or in one that should hold nothing else. */
  | "not_empty"
  /** The schema was written by a newer version of this code, which says that this one cannot use it. */
  | "too_new"
  /** A commit waits for a synchronous standby that does not confirm it. */
  | "unconfirmed"
  /** The server's disk has no room left. */
  | "full"
  /** A setting that durability rests on is off. */
  | "not_durable"
  /** A commit failed: what the database holds is unknown until `recover`. */
  | "unknown"
  /** The store was closed. */
  | "closed"
  /** What this store leaves to PostgreSQL's own tools. */
  | "not_here"
  /** The caller broke the interface's contract. */
  | "misuse";

/**
 * What time may mend: a server that restarts, a standby that is about to be promoted, connections that will be free again; and a
 * lock that the last connection held until just now.
 */
const passing: ReadonlySet<PostgresStoreFault> = new Set([
  "unreachable",
  "silent",
  "read_only",
  "no_connections",
  "unconfirmed",
  "full",
  "in_use",
]);

/** What whoever runs the server has changed, and may change back: passing for a store that was open before. */
const taken_back: ReadonlySet<PostgresStoreFault> = new Set(["refused", "no_rights"]);

export class PostgresStoreError extends Error {
  override readonly name = "PostgresStoreError";
  readonly fault: PostgresStoreFault;

  constructor(fault: PostgresStoreFault, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.fault = fault;
  }

  /** Whether the same may be asked again later: the store is not to be had now, or is to be recovered first. */
  get is_away(): boolean {
    return this.fault === "unknown" || passing.has(this.fault);
  }

  /** Whether it is done by the server's own tools, never through this store. */
  get is_elsewhere(): boolean {
    return this.fault === "not_here";
  }
}

/** The SQLSTATE of what the server said, or the name of what the network did; "": neither. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** Said by the server, not by the network. */
export function isSqlState(code: string): boolean {
  return /^[0-9A-Z]{5}$/.test(code) && code !== "EPIPE";
}

/** Rolled back because of what another node did at the same moment: decided anew, it may well succeed. */
const contended: ReadonlySet<string> = new Set(["23505", "40001", "40P01", stale_guess]);
export function isContended(error: unknown): boolean {
  return contended.has(codeOf(error));
}

/** Another transaction has the table, or the two waited for each other: once it is over there is a way. */
const deadlock = "40P01";
export const lock_not_available = "55P03";
export function isInTheWay(error: unknown): boolean {
  return [deadlock, lock_not_available].includes(codeOf(error));
}

export function isFull(error: unknown): boolean {
  return codeOf(error) === "53100";
}

export function isSilence(error: unknown): boolean {
  return error instanceof PostgresStoreError && error.fault === "silent";
}

const network: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOENT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EPIPE",
  "ETIMEDOUT",
  "CONNECT_TIMEOUT",
  "CONNECTION_CLOSED",
  "CONNECTION_DESTROYED",
  "CONNECTION_ENDED",
  "NOT_POSTGRES",
]);

/** What speaks against the certificate of a server whose URL asks to have it checked. */
const certificate: ReadonlySet<string> = new Set([
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

const said: Readonly<Record<string, readonly [PostgresStoreFault, string]>> = {
  "08P01": [
    "refused",
    "A pool in front of the server (PgBouncer) does not take the settings that a node makes for its connections: name the server itself in the URL.",
  ],
  "28000": ["refused", "Check the user in the URL, and the server's pg_hba.conf."],
  "28P01": ["refused", "Check the user and the password in the URL."],
  "3D000": ["refused", "Create the database first (createdb), or name another one in the URL."],
  "42501": [
    "no_rights",
    "Let this user connect (GRANT CONNECT ON DATABASE … TO …) and create a schema (GRANT CREATE ON DATABASE … TO …), or own the schema handfast.",
  ],
  "42704": ["bad_url", "Take the setting that the server does not know out of the URL."],
  "55000": [
    "refused",
    "Let the database take connections (ALTER DATABASE … ALLOW_CONNECTIONS true), or name another one.",
  ],
  "55P02": ["bad_url", "Take the setting that no connection can have of its own out of the URL."],
  "22023": ["bad_url", "Give the setting in the URL a value that the server takes."],
  "53300": [
    "no_connections",
    "A node needs seven: raise what the server (max_connections), the role or the database (CONNECTION LIMIT) allows, or free some.",
  ],
  "53100": ["full", "Free some space on the server; nothing that was confirmed is lost."],
  "25006": ["read_only", "Name the primary in the URL, or all hosts: postgres://user@one,two/database."],
  "57P01": ["unreachable", "The server is being stopped; it is tried again."],
  "57P02": ["unreachable", "The server is being stopped; it is tried again."],
  "57P03": ["unreachable", "The server is starting or stopping; try again in a moment."],
};

const no_tls =
  "It ends the connection where encryption would begin: turn ssl on in its postgresql.conf, or take sslmode out of the URL.";

/** What the server or the network says when a database cannot be used, as something that a person can act on. */
export function explain(error: unknown, place: string): unknown {
  const why = error instanceof Error ? error.message : String(error);
  const check_place = "Check that the server runs and that the host and port in the URL are right.";
  if (isSilence(error)) {
    const message = `Nobody answers as PostgreSQL at ${place}: ${why} ${check_place}`;
    return new PostgresStoreError("silent", message, error);
  }
  if (error instanceof PostgresStoreError) return error;
  const code = codeOf(error);
  if (network.has(code)) {
    const remedy = why.includes("before secure TLS") ? no_tls : check_place;
    const message = `Nobody answers as PostgreSQL at ${place} (${code}). ${remedy}`;
    return new PostgresStoreError("unreachable", message, error);
  }
  if (certificate.has(code)) {
    const remedy =
      "Name the host as its certificate does, and whoever signed that in NODE_EXTRA_CA_CERTS; sslmode=require encrypts without a check.";
    return new PostgresStoreError("refused", `The certificate of ${place} is not good (${code}). ${remedy}`, error);
  }
  const known = said[code];
  if (known === undefined) return error;
  const [fault, remedy] = known;
  return new PostgresStoreError(fault, `PostgreSQL at ${place} says: ${why}. ${remedy}`, error);
}

/** The same of a store that was never open: there whatever the server says is for a person to mend. */
export function explainFirst(error: unknown, place: string): unknown {
  const explained = explain(error, place);
  const code = codeOf(explained);
  if (explained instanceof PostgresStoreError || !isSqlState(code)) return explained;
  const why = explained instanceof Error ? explained.message : String(explained);
  const remedy = `What ${code} means is in PostgreSQL's list of error codes; the server's own log may say more.`;
  return new PostgresStoreError("refused", `PostgreSQL at ${place} says: ${why}. ${remedy}`, error);
}

/** The same of a store that was open before: it goes on once it is let in again. */
export function explainLater(error: unknown, place: string): unknown {
  const explained = explain(error, place);
  if (!(explained instanceof PostgresStoreError && taken_back.has(explained.fault))) return explained;
  return new PostgresStoreError("unreachable", explained.message, error);
}

export function standby(place: string): PostgresStoreError {
  const remedy = "Name the primary in the URL, or all hosts: postgres://user@one,two/database.";
  return new PostgresStoreError("read_only", `${place} is a read-only standby. ${remedy}`);
}

/** Of several hosts. What each of them said is told; the server knows nothing of the others. */
export function noPrimary(place: string, said: readonly string[]): PostgresStoreError {
  const remedy = "Promote a standby, or bring the primary back; check the hosts and ports in the URL.";
  return new PostgresStoreError(
    "unreachable",
    `None of the hosts of ${place} is a primary: ${said.join("; ")}. ${remedy}`,
  );
}

export function takesNoWrites(place: string): PostgresStoreError {
  const remedy = "Turn default_transaction_read_only off, for the server, the database or the role that has it on.";
  return new PostgresStoreError("read_only", `${place} is no standby, but takes no writes. ${remedy}`);
}

export function unconfirmed(place: string): PostgresStoreError {
  const remedy =
    "Bring it back, or take it out of synchronous_standby_names; then start again what did not wait for it.";
  const message = `At ${place} a commit waits for a synchronous standby that does not confirm it. ${remedy}`;
  return new PostgresStoreError("unconfirmed", message);
}

export function inUse(place: string): PostgresStoreError {
  const remedy = "Stop the other one, or name another database.";
  const message = `The database ${place} is in use: a relay and a command that moves the store are not there at the same time. ${remedy}`;
  return new PostgresStoreError("in_use", message);
}

export function notPostgres(place: string, version: string): PostgresStoreError {
  const wanted = `Handfast needs PostgreSQL ${oldest_server.name} or newer.`;
  return new PostgresStoreError("foreign", `${place} answers as "${version}". ${wanted}`);
}

export function stepInTheWay(place: string, step: string, error: unknown): PostgresStoreError {
  const remedy =
    "Wait for the end of it (it may be a backup's), or end it, and start again; nodes of before serve meanwhile.";
  const message = `At ${place} a transaction that stays open keeps the schema from being changed (${step}). ${remedy}`;
  return new PostgresStoreError("in_use", message, error);
}

/** Invariants are checked in production too: a store that goes on with broken ones loses work. */
export function ensure(holds: boolean, message: string): asserts holds {
  if (!holds) throw new PostgresStoreError("misuse", message);
}
