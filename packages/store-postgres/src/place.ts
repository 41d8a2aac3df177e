/** Where the database is, read from a URL: postgres://user:password@host:port/database, with several hosts parted by commas. */

import { PostgresStoreError } from "./errors.ts";

/** Where the primary may be. */
export interface Place {
  /** For messages: without the password. */
  readonly shown: string;
  /** One or more; the primary must be looked for among several. */
  readonly hosts: readonly Host[];
}

export interface Host {
  /** For messages: the host alone, with its port. */
  readonly name: string;
  readonly address: Address;
  /** As in a URL: with "?", or "". */
  readonly settings: string;
}

/** As the client takes it, which cannot read an IPv6 address, or a name without a host, in a URL by itself. What the URL does not name is left out. */
interface Address {
  readonly host?: string | string[];
  readonly port?: number | number[];
  readonly user?: string;
  readonly password?: string;
  readonly database?: string;
}

const default_port = 5432;

const credentials = "(?:(?<user>[^:@/?]*)(?::(?<password>[^@/?]*))?@)?";
const one_host = "(?:\\[[0-9a-fA-F:]+\\]|[^:@/?,\\[\\]]*)(?::\\d{1,5})?";
const parts = new RegExp(
  `^postgres(?:ql)?://${credentials}(?<hosts>${one_host}(?:,${one_host})*)(?<database>/[^?]*)?(?:\\?(?<settings>.*))?$`,
);

/** Whether this is meant to be the URL of a PostgreSQL database. */
export function isPostgresUrl(url: string): boolean {
  return /^postgres(ql)?:/i.test(url);
}

export function placeOf(url: string): Place {
  const groups = parts.exec(url)?.groups;
  if (groups === undefined || !Object.values(groups).every(isEncoded) || !portsOf(groups["hosts"]).every(isPort)) {
    throw new PostgresStoreError(
      "bad_url",
      "The store's URL cannot be read. Write it as postgres://USER:PASSWORD@HOST:5432/DATABASE; in the password, characters such as @ / : % are written in percent-encoding.",
    );
  }
  const { user = "", password = "", hosts = "", database = "", settings } = groups;
  const shown = `${hosts === "" ? "localhost" : hosts}${database === "/" ? "" : database}`;
  const common = named({ user, password, database: database.slice(1) });
  return {
    shown: user === "" ? shown : `${user}@${shown}`,
    hosts: hosts.split(",").map((name) => ({
      name,
      address: { ...common, ...whereabouts(name) },
      settings: settingsOf(settings),
    })),
  };
}

function named(texts: Readonly<Record<string, string>>): Address {
  const given = Object.entries(texts).filter(([, text]) => text !== "");
  return Object.fromEntries(given.map(([name, text]) => [name, decodeURIComponent(text)]));
}

/** A host is a name, an address, or the directory of a socket, as %2Frun%2Fpostgresql. */
function whereabouts(name: string): Address {
  const [, six, host = "", port] = /^(?:\[(.*)\]|([^:]*))(?::(\d+))?$/.exec(name) ?? [];
  if (six !== undefined) return { host: [six], port: [Number(port ?? default_port)] };
  return { ...named({ host }), ...(port === undefined ? {} : { port: Number(port) }) };
}

/** Which of the hosts is the primary is looked for here, not by the client. */
function settingsOf(settings: string | undefined): string {
  const kept = settings?.split("&").filter((one) => !one.startsWith("target_session_attrs="));
  return kept === undefined || kept.length === 0 ? "" : `?${kept.join("&")}`;
}

/** The URL as it may be shown: without the password, and without settings. */
export function shownUrl(url: string): string {
  return `postgres://${placeOf(url).shown}`;
}

function portsOf(hosts = ""): readonly number[] {
  return Array.from(hosts.matchAll(/:(\d+)(?=,|$)/g), ([, port]) => Number(port));
}

function isPort(port: number): boolean {
  return port > 0 && port < 65_536;
}

function isEncoded(part: string | undefined): boolean {
  try {
    return decodeURIComponent(part ?? "") !== null;
  } catch {
    return false;
  }
}
