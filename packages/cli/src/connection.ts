/** The client of a command: made from the settings when it is first asked for, closed when the command is over. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Client, ConnectOptions } from "@handfast/client";
import { type ClientSettings, readClientSettings } from "./client-settings.ts";
import type { Caller, Environment, Role } from "./command.ts";
import type { Options } from "./options.ts";
import type { Terminal } from "./terminal.ts";
import { cleanLine } from "./text.ts";

export interface ConnectionPlace {
  readonly options: Options;
  readonly env: Environment;
  readonly cwd: string;
  readonly terminal: Terminal;
}

export class Connection {
  readonly #place: ConnectionPlace;
  readonly #clients = new Map<Role, Promise<Client>>();

  constructor(place: ConnectionPlace) {
    this.#place = place;
  }

  async client(role: Role, caller: Caller | undefined, signal: AbortSignal | undefined): Promise<Client> {
    const known = this.#clients.get(role);
    if (known !== undefined) return known;
    const { terminal, options, env, cwd } = this.#place;
    const settings = readClientSettings(options, env, cwd);
    const { connect } = await import("@handfast/client");
    const client = connect({
      ...connectOptions(settings, role, options),
      ...(caller !== undefined && (caller.always === true || !settings.isNamed) ? { agent: caller.agent } : {}),
      ...(signal === undefined ? {} : { signal }),
      onWarning: warn(terminal),
    });
    this.#clients.set(role, client);
    return terminal.busy(`connecting to ${settings.url}`, client);
  }

  async close(): Promise<void> {
    const clients = await Promise.allSettled(this.#clients.values());
    await Promise.all(clients.map((each) => (each.status === "fulfilled" ? each.value.close() : undefined)));
  }
}

function warn(terminal: Terminal): NonNullable<ConnectOptions["onWarning"]> {
  return ({ message }) => terminal.note(`${terminal.accent("yellow", "warning:")} ${cleanLine(message)}`);
}

function connectOptions(settings: ClientSettings, role: Role, options: Options): ConnectOptions {
  const { url, agent, key, namespace } = settings;
  const token = settings.token ?? (role === "operator" ? operatorToken(settings) : undefined);
  const patience = options.duration("patience");
  return {
    url,
    ...(agent === undefined ? {} : { agent }),
    ...(key === undefined ? {} : { key }),
    ...(token === undefined ? {} : { token }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(patience === undefined ? {} : { patience }),
  };
}

/** Of a relay on this machine, whose data directory is here; whoever may read that file is its operator. */
function operatorToken({ url, isNamed, data }: ClientSettings): string | undefined {
  if (isNamed || !isLoopback(url)) return undefined;
  try {
    return readFileSync(join(data, "operator-token"), "utf8").trim();
  } catch {
    return undefined;
  }
}

function isLoopback(url: string): boolean {
  const host = URL.parse(url)?.hostname ?? "";
  return host === "localhost" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
}
