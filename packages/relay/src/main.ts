/** `npm start`: runs a relay until it is told to stop. */

import { argv, cwd, env, exit, stderr, stdout } from "node:process";
import { SqliteStoreError } from "@handfast/store-sqlite";
import { pino } from "pino";
import { type Configuration, ConfigurationError } from "./configuration/configuration.ts";
import { readConfiguration } from "./configuration/read-configuration.ts";
import { type RunningRelay, startRelay } from "./relay.ts";

/** As in sysexits.h, so that whoever supervises the relay can tell them apart. */
const exit_code = { ok: 0, software: 70, unavailable: 69, configuration: 78 } as const;

async function main(): Promise<void> {
  const asked = readConfiguration(argv.slice(2), env, cwd());
  if (asked.kind === "help") {
    stdout.write(`${asked.text}\n`);
    return;
  }
  const { configuration } = asked;
  const log = pino({ level: configuration.log_level, base: null }, pino.destination({ fd: 2, sync: true }));
  for (const warning of configuration.warnings) log.warn(warning);
  let is_stopping = false;
  const stop = (code: number) => {
    if (is_stopping) return;
    is_stopping = true;
    relay.stop().then(
      () => exit(code),
      (error: unknown) => {
        log.fatal({ err: error }, "the relay could not stop in order");
        exit(exit_code.software);
      },
    );
  };
  const relay = await startRelay(configuration, { log, onFailure: () => stop(exit_code.software) });
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      log.info({ signal }, "stopping; leases are kept");
      stop(exit_code.ok);
    });
  }
  announce(configuration, relay);
}

function announce(configuration: Configuration, { url, listens_on, operator_token_file }: RunningRelay): void {
  const { development, data_directory } = configuration;
  const where = listens_on === url ? "" : ` · listens on ${listens_on}`;
  const mode = development ? "DEVELOPMENT MODE" : "production";
  stdout.write(`relay ${url}${where} · store ${data_directory} · ${mode}\n`);
  if (development) {
    stderr.write(
      "DEVELOPMENT MODE: whoever calls first gets the name it asks for. Never expose this relay; " +
        "configure operator tokens or admitted keys to leave this mode.\n",
    );
  }
  if (operator_token_file !== null) stdout.write(`operator's token: ${operator_token_file}\n`);
  const token_file = operator_token_file ?? configuration.operator_token_file;
  const token = token_file === null ? "$HANDFAST_OPERATOR_TOKEN" : `$(cat ${token_file})`;
  const authorization = development ? "" : ` -H "authorization: Bearer ${token}"`;
  // A name belongs to whoever has its token, so the command to type names a new one each time.
  stdout.write(`next: curl -s ${url}/v1/tokens${authorization} --json '{"agent":"alice-'$RANDOM'"}'\n`);
}

const listenFaults: Readonly<Record<string, string>> = {
  EADDRINUSE: "is taken by another process",
  EACCES: "may not be used by this user",
};

/** What a person can mend is told in a sentence; anything else with its stack. */
function explain(error: unknown): never {
  if (error instanceof ConfigurationError) {
    stderr.write(`${error.message}\n`);
    exit(exit_code.configuration);
  }
  if (error instanceof SqliteStoreError) {
    stderr.write(`The store cannot be opened: ${error.message}\n`);
    exit(exit_code.unavailable);
  }
  if (error instanceof Error && "syscall" in error && error.syscall === "listen") {
    const { message, code, port } = error as NodeJS.ErrnoException & { readonly port?: number };
    const why = listenFaults[code ?? ""] ?? `cannot be listened on (${message})`;
    stderr.write(`The port ${port ?? ""} ${why}. Choose another one with --port, or 0 for any that is free.\n`);
    exit(exit_code.unavailable);
  }
  if (error instanceof Error && "syscall" in error && "path" in error) {
    stderr.write(
      `${String(error.path)} cannot be used: ${error.message}. Choose another data directory with --data.\n`,
    );
    exit(exit_code.unavailable);
  }
  stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  exit(exit_code.software);
}

await main().catch(explain);
