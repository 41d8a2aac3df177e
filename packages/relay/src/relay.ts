/** Puts a relay together: store, engine, directory, identity, server; and takes it apart again in order. */

import { randomBytes } from "node:crypto";
import { Engine, type RecordWrite, realSurroundings, type Store } from "@handfast/engine";
import { openSqliteStore } from "@handfast/store-sqlite";
import { type Logger, pino } from "pino";
import { Artifacts } from "./artifacts/artifacts.ts";
import type { Configuration } from "./configuration/configuration.ts";
import { publicUrls } from "./configuration/public-urls.ts";
import { Directory } from "./directory/directory.ts";
import { Audience } from "./identity/audience.ts";
import { Identity } from "./identity/identity.ts";
import { openOperatorTokens } from "./identity/operator-token.ts";
import { Registration } from "./identity/registration.ts";
import { openRelayKey } from "./identity/relay-key.ts";
import { Tokens } from "./identity/tokens.ts";
import { limits, type RelayLimits } from "./limits.ts";
import { Metrics } from "./metrics.ts";
import { dropOldPlans } from "./operations/redrive-plans.ts";
import type { Relay } from "./operations/relay.ts";
import { Schemas } from "./schemas/schemas.ts";
import { HttpServer } from "./transports/http/server.ts";

export interface RunningRelay {
  readonly url: string;
  /** Where it really listens, which a proxy may stand before. */
  readonly listens_on: string;
  /** Where the operator's token was put; null: it was configured. */
  readonly operator_token_file: string | null;
  /** Leases stay: workers go on under them when the relay is back. */
  stop(): Promise<void>;
}

export interface RelayOptions {
  readonly log?: Logger;
  readonly limits?: Partial<RelayLimits>;
  /** The store failed and could not be read anew: nothing is taken any more, and the process should end. */
  readonly onFailure?: (error: unknown) => void;
}

export async function startRelay(configuration: Configuration, options: RelayOptions = {}): Promise<RunningRelay> {
  const store = await openSqliteStore({ directory: configuration.data_directory });
  try {
    return await startOn(store, configuration, options);
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function startOn(store: Store, configuration: Configuration, options: RelayOptions): Promise<RunningRelay> {
  const log = options.log ?? pino({ level: "silent" });
  const merged: RelayLimits = { ...limits, ...options.limits };
  const metrics = new Metrics();
  const engine = startedEngine(store, configuration, metrics, log, options.onFailure, (handoff, besides) =>
    directory.others(handoff, besides),
  );
  await engine.start();
  const { relay, directory, operator_token_file } = await assemble(store, engine, configuration, metrics);
  const server = new HttpServer({ relay, limits: merged, log });
  const port = await server.listen(configuration.host, configuration.port).catch(async (error: unknown) => {
    await engine.stop();
    throw error;
  });
  relay.audience.set(publicUrls(configuration, port));
  const stopCollecting = collectRegularly(relay, merged.collect_every_ms, log);
  return {
    url: relay.audience.all()[0] ?? "",
    listens_on: publicUrls({ ...configuration, public_urls: [] }, port)[0] ?? "",
    operator_token_file,
    stop: async () => {
      stopCollecting();
      await server.stop();
      await engine.stop();
      await store.close();
    },
  };
}

function startedEngine(
  store: Store,
  { retention, limits: configured }: Configuration,
  metrics: Metrics,
  log: Logger,
  onFailure: RelayOptions["onFailure"],
  others: ConstructorParameters<typeof Engine>[0]["others"],
): Engine {
  const { keep_taken_ms, keep_untaken_ms, keep_events_ms } = retention;
  return new Engine({
    store,
    surroundings: realSurroundings(),
    limits: { keep_events_ms, reserve_bytes: configured.reserve_bytes },
    coreLimits: { keep_taken_ms, keep_untaken_ms, max_open_per_sender: configured.open_handoffs_per_sender },
    others,
    onCommit: (units, took_ms) => metrics.committed(units, took_ms),
    onBug: (error) => {
      metrics.fault("mistake");
      log.error({ err: error }, "the engine met a mistake");
    },
    onRecovery: (error, recovered) => {
      metrics.fault(recovered ? "recovery" : "failure");
      if (recovered) return log.error({ err: error }, "a commit failed; memory was dropped and the store read anew");
      log.fatal({ err: error }, "the store failed and could not be read anew; nothing is taken any more");
      onFailure?.(error);
    },
  });
}

async function assemble(store: Store, engine: Engine, configuration: Configuration, metrics: Metrics) {
  const { namespace, data_directory, admission, operator_keys } = configuration;
  const now = () => engine.now();
  const records = {
    load: (kind: string) => store.records(namespace, kind),
    put: (writes: readonly RecordWrite[]) => engine.putRecords(writes),
  };
  const key = await openRelayKey(data_directory);
  const operator = await openOperatorTokens(configuration.operator_tokens, data_directory);
  const schemas = new Schemas();
  const audience = new Audience(configuration.public_urls);
  const directory = await Directory.open({ namespace, records, schemas, now });
  const tokens = await Tokens.open({ namespace, records, now, randomBytes });
  const identity = new Identity({
    namespace,
    directory,
    tokens,
    audience,
    now,
    operator_tokens: operator.tokens,
    operator_keys,
  });
  const registration = new Registration({
    namespace,
    directory,
    identity,
    tokens,
    audience,
    admission,
    now,
    randomBytes,
  });
  const { reserve_bytes } = configuration.limits;
  const artifacts = await Artifacts.open({ namespace, data_directory, engine, store, reserve_bytes });
  const unready = () => reasonsNotReady(engine.stats());
  const relay: Relay = {
    configuration,
    engine,
    store,
    audience,
    identity,
    registration,
    directory,
    schemas,
    key,
    artifacts,
    metrics,
    unready,
  };
  return { relay, directory, operator_token_file: operator.file };
}

function reasonsNotReady({ state }: ReturnType<Engine["stats"]>): readonly string[] {
  return state === "running" ? [] : [`the engine is ${state}`];
}

/** What nobody refers to any more, or nobody came back for. */
function collectRegularly(relay: Relay, every_ms: number, log: Logger): () => void {
  const { artifacts, configuration } = relay;
  const collect = () => {
    artifacts.collect().then(
      (dropped) => dropped > 0 && log.info({ dropped }, "artifacts that nobody refers to were dropped"),
      (error: unknown) => log.warn({ err: error }, "artifacts could not be collected"),
    );
    dropOldPlans(relay, configuration.namespace).catch((error: unknown) =>
      log.warn({ err: error }, "old redrive plans could not be dropped"),
    );
  };
  const timer = setInterval(collect, every_ms);
  timer.unref();
  return () => clearInterval(timer);
}
