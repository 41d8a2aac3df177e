/** A relay as a process: configuration in, log out, until a signal or a failure ends it. `npm start` and the command share it. */

import { relative } from "node:path";
import { PostgresStoreError } from "@handfast/store-postgres";
import { SqliteStoreError } from "@handfast/store-sqlite";
import { pino } from "pino";
import { type Configuration, ConfigurationError } from "./configuration/configuration.ts";
import { readConfiguration } from "./configuration/read-configuration.ts";
import { collectRarely } from "./rare-collections.ts";
import { readableLog } from "./readable-log.ts";
import { named, type RunningRelay, startRelay } from "./relay.ts";

/** As in sysexits.h, so that whoever supervises the relay can tell them apart. */
const exit_code = { ok: 0, unavailable: 69, software: 70, configuration: 78 } as const;

export interface RelayProcessOptions {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly stdout: { write(text: string): unknown };
  /** The log: lines for people on a terminal, JSON anywhere else. */
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean };
  /** Told in a sentence why it does not run. Default: a line on stderr. */
  readonly complain?: (message: string) => void;
  /** Called once it listens. */
  readonly announce: (configuration: Configuration, relay: RunningRelay) => void;
}

/** Answers the exit code once the relay has stopped. */
export async function runRelay(options: RelayProcessOptions): Promise<number> {
  try {
    return await run(options);
  } catch (error) {
    return explain(error, options.complain ?? ((line) => options.stderr.write(`${line}\n`)));
  }
}

async function run({ argv, env, cwd, stdout, stderr, announce }: RelayProcessOptions): Promise<number> {
  const asked = readConfiguration(argv, env, cwd);
  if (asked.kind === "help") {
    stdout.write(`${asked.text}\n`);
    return exit_code.ok;
  }
  const configuration = named(asked.configuration);
  const destination = stderr.isTTY === true ? readableLog(stderr) : pino.destination({ fd: 2, sync: true });
  const { log_level: level, node } = configuration;
  const log = pino({ level, base: node === null ? null : { node } }, destination);
  for (const warning of configuration.warnings) log.warn(warning);
  collectRarely();
  const { promise: told, resolve: stop } = Promise.withResolvers<number>();
  const relay = await startRelay(configuration, { log, onFailure: () => stop(exit_code.software) });
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      log.info({ signal }, "stopping; leases are kept");
      stop(exit_code.ok);
    });
  }
  announce(configuration, relay);
  const code = await told;
  try {
    await relay.stop();
    return code;
  } catch (error) {
    log.fatal({ err: error }, "the relay could not stop in order");
    return exit_code.software;
  }
}

/** What to know about a relay that listens, in one line. */
export function relayLine({ development, store, node }: Configuration, relay: RunningRelay, cwd: string): string {
  const { url, listens_on } = relay;
  const where = listens_on === url ? "" : ` · listens on ${listens_on}`;
  const mode = development ? "DEVELOPMENT MODE" : "production";
  const name = node === null ? "" : ` · node ${node}`;
  return `relay ${url}${where} · store ${store === null ? shownPath(relay.store, cwd) : relay.store}${name} · ${mode}`;
}

export const development_warning =
  "DEVELOPMENT MODE: whoever calls first gets the name it asks for. Never expose this relay; " +
  "configure operator tokens or admitted keys to leave this mode.";

/** Seen from here where it lies below. */
function shownPath(path: string, cwd: string): string {
  const from_here = relative(cwd, path);
  return from_here !== "" && !from_here.startsWith("..") && from_here !== path ? `./${from_here}` : path;
}

const listenFaults: Readonly<Record<string, string>> = {
  EADDRINUSE: "is taken by another process",
  EACCES: "may not be used by this user",
};

/** What a person can mend is told in a sentence; anything else with its stack. */
function explain(error: unknown, say: (line: string) => void): number {
  if (error instanceof ConfigurationError) {
    say(error.message);
    return exit_code.configuration;
  }
  if (error instanceof SqliteStoreError || error instanceof PostgresStoreError) {
    say(`The store cannot be opened: ${error.message}`);
    return error.fault === "bad_url" ? exit_code.configuration : exit_code.unavailable;
  }
  if (error instanceof Error && "syscall" in error && error.syscall === "listen") {
    const { message, code, port } = error as NodeJS.ErrnoException & { readonly port?: number };
    const why = listenFaults[code ?? ""] ?? `cannot be listened on (${message})`;
    say(`The port ${port ?? ""} ${why}. Choose another one with --port, or 0 for any that is free.`);
    return exit_code.unavailable;
  }
  if (error instanceof Error && "syscall" in error && "path" in error) {
    say(`${String(error.path)} cannot be used: ${error.message}. Choose another data directory with --data.`);
    return exit_code.unavailable;
  }
  say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return exit_code.software;
}
