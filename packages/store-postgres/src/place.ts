/** Where the database is, read from a URL: postgres://user:password@host:port/database, with several hosts parted by commas. */

import { PostgresStoreError } from "./errors.ts";

export interface Place {
  readonly url: string;
  /** For messages: without the password. */
  readonly shown: string;
  /** Whether the primary must be looked for among several hosts. */
  readonly several: boolean;
}

const credentials = "(?:(?<user>[^:@/?]*)(?::(?<password>[^@/?]*))?@)?";
const one_host = "(?:\\[[0-9a-fA-F:]+\\]|[^:@/?,\\[\\]]*)(?::\\d{1,5})?";
const parts = new RegExp(
  `^postgres(?:ql)?://${credentials}(?<hosts>${one_host}(?:,${one_host})*)(?<database>/[^?]*)?(?:\\?.*)?$`,
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
  const { user = "", hosts = "", database = "" } = groups;
  const shown = `${hosts === "" ? "localhost" : hosts}${database === "/" ? "" : database}`;
  return { url, shown: user === "" ? shown : `${user}@${shown}`, several: hosts.includes(",") };
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
