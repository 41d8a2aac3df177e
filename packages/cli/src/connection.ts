/** The client of a command: made from the settings when it is first asked for, closed when the command is over. */

import type { Client, ConnectOptions } from "@handfast/client";
import { type ClientSettings, readClientSettings } from "./client-settings.ts";
import type { Caller, Environment, Role } from "./command.ts";
import { CliError, reasonOf } from "./errors.ts";
import { type FoundToken, findToken, isTakenBy } from "./found-token.ts";
import type { Options } from "./options.ts";
import type { Terminal } from "./terminal.ts";
import { cleanLine } from "./text.ts";

export interface ConnectionPlace {
  readonly options: Options;
  readonly env: Environment;
  readonly cwd: string;
  readonly terminal: Terminal;
}

/** A person waits: a relay that is not there is told soon. What a relay has once said yes to is waited for longer. */
const connect_patience_ms = 2_000;
const operator_name = "operator";

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
    const given: ConnectOptions = {
      ...connectOptions(settings, options),
      ...(caller?.agent !== undefined && (caller.always === true || !settings.isNamed) ? { agent: caller.agent } : {}),
      ...(signal === undefined ? {} : { signal }),
      ...caller?.terms,
      ...(caller?.transport === undefined ? {} : { transport: caller.transport }),
      onWarning: warn(terminal),
      onConnection: tellConnection(terminal, settings.url),
    };
    const named = settings.agent ?? caller?.agent;
    const found = role === "operator" ? findToken(settings) : null;
    const client = this.#connect(given, { ...caller, ...(named === undefined ? {} : { agent: named }) }, found);
    this.#clients.set(role, client);
    return terminal.busy(`connecting to ${settings.url}`, client);
  }

  async #connect(options: ConnectOptions, caller: Caller, found: FoundToken | null): Promise<Client> {
    const { terminal } = this.#place;
    let isTold = false;
    for (;;) {
      try {
        const given = await this.#withFound(options, found);
        return await (caller.signs === true ? signing(given, caller) : opened(given));
      } catch (error) {
        if (caller.persists !== true || reasonOf(error) !== "relay_unreachable") throw admissible(error);
        if (!isTold) {
          terminal.note(`${terminal.accent("yellow", "The relay is away, trying again:")} ${messageOf(error)}`);
          terminal.note(terminal.spelled(remedyOf(error)));
        }
        isTold = true;
      }
    }
  }

  async #withFound(options: ConnectOptions, found: FoundToken | null): Promise<ConnectOptions> {
    const { url = "", signal } = options;
    const patience_ms = this.#place.options.duration("patience") ?? connect_patience_ms;
    if (found === null || !(await isTakenBy(found, { url, patience_ms, signal }))) return options;
    return { ...options, token: found.token };
  }

  async close(): Promise<void> {
    const clients = await Promise.allSettled(this.#clients.values());
    await Promise.all(clients.map((each) => (each.status === "fulfilled" ? each.value.close() : undefined)));
  }
}

async function opened(given: ConnectOptions): Promise<Client> {
  const { connect } = await import("@handfast/client");
  return connect(given);
}

/** Whoever sends or serves does so under a name of its own: an operator's token then only admits its key. */
async function signing(given: ConnectOptions, { agent }: Caller): Promise<Client> {
  const { token, key, ...rest } = given;
  if (token === undefined || key !== undefined) return opened(given);
  const isOperators = async () => {
    const client = await opened(given);
    if (client.agent !== operator_name) return client;
    await client.close();
    return null;
  };
  const client = await isOperators().catch((error: unknown) => {
    if (reasonOf(error) === "wrong_token" && messageOf(error).includes(`${operator_name}'s`)) return null;
    throw error;
  });
  return client ?? opened({ ...rest, ...(agent === undefined ? {} : { agent }), admission: token });
}

/** The relay and the client each say how to be admitted; here it is one thing to type. */
function admissible(error: unknown): unknown {
  if (reasonOf(error) !== "not_admitted") return error;
  const [what = ""] = /^.*?\.(?= |$)/.exec(messageOf(error)) ?? [messageOf(error)];
  const [, admit] = /--admit (\S+=\S+?)\.?$/.exec(remedyOf(error)) ?? [];
  const or = admit === undefined ? "" : `, or start the relay with --admit ${admit}`;
  const remedy = `Type the same once more with HANDFAST_TOKEN=OPERATORS_TOKEN in front (the file operator-token in the relay's data directory): \`send\` and \`serve\` then admit the key${or}.`;
  return new CliError("denied", what, remedy, "not_admitted");
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function remedyOf(error: unknown): string {
  return error instanceof Error && "remedy" in error ? String(error.remedy) : "";
}

function warn(terminal: Terminal): NonNullable<ConnectOptions["onWarning"]> {
  return ({ message }) => terminal.note(`${terminal.accent("yellow", "warning:")} ${cleanLine(message)}`);
}

function tellConnection(terminal: Terminal, url: string): NonNullable<ConnectOptions["onConnection"]> {
  return (state) => {
    if (terminal.json) return;
    const what = state === "away" ? `The relay at ${url} is away, trying again.` : `The relay at ${url} is back.`;
    terminal.note(terminal.accent(state === "away" ? "yellow" : "green", what));
  };
}

function connectOptions(settings: ClientSettings, options: Options): ConnectOptions {
  const { url, agent, key, token, namespace } = settings;
  const patience = options.duration("patience");
  return {
    url,
    ...(agent === undefined ? {} : { agent }),
    ...(key === undefined ? {} : { key }),
    ...(token === undefined ? {} : { token }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(patience === undefined ? { connectPatience: connect_patience_ms } : { patience }),
  };
}
