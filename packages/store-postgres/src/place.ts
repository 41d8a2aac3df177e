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
  readonly url: string;
  /** For messages: the host alone, with its port. */
  readonly name: string;
}

const credentials = "(?:(?<user>[^:@/?]*)(?::(?<password>[^@/?]*))?@)?";
const one_host = "(?:\\[[0-9a-fA-F:]+\\]|[^:@/?,\\[\\]]*)(?::\\d{1,5})?";
const parts = new RegExp(
  `^(?<before>postgres(?:ql)?://${credentials})(?<hosts>${one_host}(?:,${one_host})*)(?<database>/[^?]*)?(?:\\?(?<settings>.*))?$`,
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
  const { before = "", user = "", hosts = "", database = "", settings } = groups;
  const shown = `${hosts === "" ? "localhost" : hosts}${database === "/" ? "" : database}`;
  const rest = `${database}${settingsOf(settings)}`;
  return {
    shown: user === "" ? shown : `${user}@${shown}`,
    hosts: hosts.split(",").map((name) => ({ url: `${before}${name}${rest}`, name })),
  };
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
