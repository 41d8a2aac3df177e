/**
 * Connections to the server: one that writes, and a pool that reads. The client reconnects a pool's connections by itself; the
 * one that writes never, since what is sent on a new one would not be part of the transaction: once lost, it stays lost
 * until the store is recovered.
 */

import postgres, { type Options, type ReservedSql, type Sql } from "postgres";
import { withoutNul } from "./arrays.ts";
import { PostgresStoreError } from "./errors.ts";
import { makeSockets } from "./first-words.ts";
import { inTime } from "./in-time.ts";
import { connect_timeout_s, forgotten_transaction_ms, pool_connections } from "./limits.ts";
import type { Host } from "./place.ts";
import type { Row } from "./rows.ts";

export type Parameter = string | number | null;

/** Something that answers statements. */
export interface Asks {
  ask(statement: string, ...parameters: readonly Parameter[]): Promise<readonly Row[]>;
}

export interface Reads extends Asks {
  /** A statement put together by what was asked: the server keeps those it has prepared, and of these there are too many. */
  askOnce(statement: string, ...parameters: readonly Parameter[]): Promise<readonly Row[]>;
  /** How many statements wait for their answers, and on how many connections they may. */
  readonly load: { readonly asked: number; readonly connections: number };
  /** On a connection of its own, which the client brings back by itself when it was lost. */
  listen(channel: string, heard: (payload: string) => void): Promise<void>;
}

type ClientTypes = { readonly bigint: number };
const number_oid = 20;

/**
 * Every statement looks rows up by keys, at most a few thousand of them. A server that has not yet counted a young table (or whose
 * count is of before it grew) would rather read all of it for each: measured, a key's look-up took 1.5 to 45 ms in place of 0.02. What
 * is asked for does not change how it is best found, so a plan is made once: making it anew took six times as long as following the log.
 */
const by_index = {
  enable_seqscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  jit: "off",
  plan_cache_mode: "force_generic_plan",
};

/** The most that a server takes. The client leaves out what is 0, which would mean the same. */
const never_ms = 2_147_483_647;

/**
 * What a database, a role or a URL may have set otherwise for its sessions, and the statements rely on: how bytes, numbers and arrays are
 * written, what a statement sees, and that nothing is given up but by the store itself.
 */
const as_agreed = {
  bytea_output: "hex",
  extra_float_digits: 1,
  array_nulls: "on",
  default_transaction_isolation: "read committed",
  statement_timeout: never_ms,
  lock_timeout: never_ms,
  idle_session_timeout: never_ms,
} as const;

const of_node = {
  search_path: "pg_catalog",
  idle_in_transaction_session_timeout: forgotten_transaction_ms,
} as const;

/** The client would have those of the URL come last. Its own encoding is the only one that it reads. */
const not_of_urls = [...Object.keys({ ...by_index, ...as_agreed, ...of_node }), "client_encoding"];

type ClientOptions = Options<{ bigint: postgres.PostgresType<number> }>;

function clientOf({ address, settings }: Host, max: number, more: ClientOptions = {}): Sql<ClientTypes> {
  const others = new URLSearchParams(settings);
  for (const name of not_of_urls) others.delete(name);
  return postgres(`postgres:///?${others}`, Object.assign(optionsOf(max), address, more));
}

function optionsOf(max: number): ClientOptions {
  // The client's types do not name it.
  const more = { socket: makeSockets(max) };
  return {
    ...more,
    max,
    connect_timeout: connect_timeout_s,
    idle_timeout: 0,
    max_lifetime: null,
    // Every array is sent as text: the types of the server's arrays need not be asked for.
    fetch_types: false,
    onnotice: () => {},
    // Positions, numbers and times stay below 2^53.
    types: { bigint: { to: number_oid, from: [number_oid], serialize: String, parse: Number } },
    connection: {
      application_name: "handfast",
      ...of_node,
      ...by_index,
      ...as_agreed,
    },
  };
}

/** Whether a connection lives, and what waits for its answers. */
interface Life {
  is_lost: boolean;
  readonly waiting: Set<(reason: unknown) => void>;
}

/** The one connection that writes. */
export class WritingConnection implements Asks {
  readonly #sql: Sql<ClientTypes>;
  readonly #reserved: ReservedSql<ClientTypes>;
  readonly #life: Life;

  private constructor(sql: Sql<ClientTypes>, reserved: ReservedSql<ClientTypes>, life: Life) {
    this.#sql = sql;
    this.#reserved = reserved;
    this.#life = life;
  }

  static async open(host: Host): Promise<WritingConnection> {
    const life: Life = { is_lost: false, waiting: new Set() };
    const sql = clientOf(host, 1, { onclose: () => end(life) });
    try {
      // The client reserves only what is connected: reserved unconnected, it would wait for good.
      await inTime(sql.unsafe("SELECT 1"));
      return new WritingConnection(sql, await sql.reserve(), life);
    } catch (error) {
      await sql.end({ timeout: 0 });
      throw error;
    }
  }

  /** Statements asked without waiting for the last one's answer travel together, and are answered in order. */
  ask(statement: string, ...parameters: readonly Parameter[]): Promise<readonly Row[]> {
    const life = this.#life;
    return new Promise((resolve, reject) => {
      if (life.is_lost) return reject(lost());
      // The client forgets what it had not sent yet when the connection was lost: it is told here.
      life.waiting.add(reject);
      const asked = this.#reserved.unsafe(statement, parameters.map(sendable), { prepare: parameters.length > 0 });
      asked.then(resolve, reject).finally(() => life.waiting.delete(reject));
    });
  }

  /** Ends at once, whatever is under way. */
  async cut(): Promise<void> {
    end(this.#life);
    await this.#sql.end({ timeout: 0 });
  }
}

function end(life: Life): void {
  life.is_lost = true;
  for (const reject of life.waiting) reject(lost());
  life.waiting.clear();
}

export class Pool implements Reads {
  readonly #sql: Sql<ClientTypes>;
  #asked = 0;

  constructor(host: Host) {
    this.#sql = clientOf(host, pool_connections);
  }

  async ask(statement: string, ...parameters: readonly Parameter[]): Promise<readonly Row[]> {
    return this.#counted(this.#sql.unsafe(statement, parameters.map(sendable), { prepare: true }));
  }

  async askOnce(statement: string, ...parameters: readonly Parameter[]): Promise<readonly Row[]> {
    return this.#counted(this.#sql.unsafe(statement, parameters.map(sendable), { prepare: false }));
  }

  get load() {
    return { asked: this.#asked, connections: pool_connections };
  }

  async #counted(answer: PromiseLike<readonly Row[]>): Promise<readonly Row[]> {
    this.#asked += 1;
    try {
      return await answer;
    } finally {
      this.#asked -= 1;
    }
  }

  async listen(channel: string, heard: (payload: string) => void): Promise<void> {
    await this.#sql.listen(channel, heard);
  }

  async close(): Promise<void> {
    await this.#sql.end({ timeout: 1 });
  }
}

function sendable(parameter: Parameter): Parameter {
  return typeof parameter === "string" ? withoutNul(parameter) : parameter;
}

function lost(): PostgresStoreError {
  return new PostgresStoreError("unreachable", "The connection to the database was lost.");
}
