/** A relay that listens: its parts over a store on disk, served on a port; and taken apart again in order. */

import { randomBytes } from "node:crypto";
import { realSurroundings, type Store } from "@handfast/engine";
import { openPostgresStore, PostgresOutbox, shownUrl } from "@handfast/store-postgres";
import { lockDataDirectory, openSqliteStore } from "@handfast/store-sqlite";
import { assembleRelay, type RelayOptions } from "./assemble.ts";
import type { Configuration } from "./configuration/configuration.ts";
import { publicUrls } from "./configuration/public-urls.ts";
import { PickUp } from "./outbox/pick-up.ts";
import { HttpServer } from "./transports/http/server.ts";
import { tryPort } from "./transports/http/try-port.ts";

export interface RunningRelay {
  readonly url: string;
  /** Where it really listens, which a proxy may stand before. */
  readonly listens_on: string;
  /** Where the handoffs are: a directory, or a URL without its password. */
  readonly store: string;
  /** Where the operator's token was put; null: it was configured. */
  readonly operator_token_file: string | null;
  /** Leases stay: workers go on under them when the relay is back. */
  stop(): Promise<void>;
}

export async function startRelay(given: Configuration, options: RelayOptions = {}): Promise<RunningRelay> {
  const configuration = named(given);
  await tryPort(configuration.host, configuration.port);
  const opened = await openStore(configuration);
  try {
    return await startOn(opened, configuration, options);
  } catch (error) {
    await opened.close();
    throw error;
  }
}

interface OpenedStore {
  readonly store: Store;
  close(): Promise<void>;
}

/** A database is for any number of relays. A data directory is one relay's in any case: an embedded store locks it by itself. */
async function openStore({ store: url, data_directory }: Configuration): Promise<OpenedStore> {
  if (url === null) {
    const store = await openSqliteStore({ directory: data_directory });
    return { store, close: () => store.close() };
  }
  const lock = lockDataDirectory(data_directory);
  try {
    const store = await openPostgresStore(url, { shared: true });
    return { store, close: () => store.close().finally(() => lock.release()) };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Among several each has a name; one that nobody gave says nothing of the machine. */
export function named(configuration: Configuration): Configuration {
  if (configuration.node !== null || configuration.store === null) return configuration;
  return { ...configuration, node: `node-${randomBytes(4).toString("hex")}` };
}

async function startOn(
  { store, close }: OpenedStore,
  configuration: Configuration,
  options: RelayOptions,
): Promise<RunningRelay> {
  const surroundings = realSurroundings();
  const assembled = await assembleRelay({ ...options, store, configuration, surroundings });
  const { relay, operator_token_file } = assembled;
  const server = new HttpServer(assembled);
  const port = await server.listen(configuration.host, configuration.port).catch(async (error: unknown) => {
    await assembled.stop();
    throw error;
  });
  const listening = publicUrls({ ...configuration, public_urls: [], loopback: true }, port);
  relay.audience.set(publicUrls(configuration, port), listening);
  // After the relay has its URL, which the documents that it writes for others name.
  const pickUp =
    configuration.store === null
      ? null
      : new PickUp({ ...assembled, surroundings, outbox: new PostgresOutbox(configuration.store) });
  return {
    url: relay.audience.all()[0] ?? "",
    listens_on: listening[0] ?? "",
    store: configuration.store === null ? configuration.data_directory : shownUrl(configuration.store),
    operator_token_file,
    stop: async () => {
      await server.stop();
      await pickUp?.stop();
      await assembled.stop();
      await close();
    },
  };
}
