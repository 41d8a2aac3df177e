/**
 * Puts the parts of a relay together over a store and surroundings that are given: nothing here listens, so that a relay
 * on a port and one inside a test's own process are the same relay.
 */

import { Engine, type EngineLimits, type RecordWrite, type Store, type Surroundings } from "@handfast/engine";
import { type Logger, pino } from "pino";
import { Artifacts } from "./artifacts/artifacts.ts";
import { type ArtifactBytes, ArtifactFiles } from "./artifacts/files.ts";
import type { Configuration } from "./configuration/configuration.ts";
import { Directory } from "./directory/directory.ts";
import { Audience } from "./identity/audience.ts";
import { Identity } from "./identity/identity.ts";
import { openOperatorTokens } from "./identity/operator-token.ts";
import { Registration } from "./identity/registration.ts";
import { openRelayKey, type RelayKey } from "./identity/relay-key.ts";
import { Tokens } from "./identity/tokens.ts";
import { limits as defaultLimits, type RelayLimits } from "./limits.ts";
import { Metrics } from "./metrics.ts";
import { dropOldPlans } from "./operations/redrive-plans.ts";
import type { Relay } from "./operations/relay.ts";
import { Schemas } from "./schemas/schemas.ts";
import { Calls } from "./transports/calls.ts";
import { WebSocketSessions } from "./transports/websocket/sessions.ts";

export interface RelayOptions {
  readonly log?: Logger;
  readonly limits?: Partial<RelayLimits>;
  /** The store failed and could not be read anew: nothing is taken any more, and the process should end. */
  readonly onFailure?: (error: unknown) => void;
}

export interface RelayParts extends RelayOptions {
  readonly store: Store;
  readonly surroundings: Surroundings;
  /** Its `data_directory` holds the key, the operator's token and the artifacts, where those are not given. */
  readonly configuration: Configuration;
  readonly key?: RelayKey;
  readonly artifacts?: ArtifactBytes;
  readonly engine_limits?: Partial<EngineLimits>;
  /** False: the figures of the process itself are left out, where the process is not the relay's own. */
  readonly process_metrics?: boolean;
}

export interface AssembledRelay {
  readonly relay: Relay;
  readonly limits: RelayLimits;
  readonly log: Logger;
  /** What every transport hands its calls to. */
  readonly calls: Calls;
  /** Takes sockets, of the network or in memory. */
  readonly sessions: WebSocketSessions;
  /** Where the operator's token was put; null: it was configured. */
  readonly operator_token_file: string | null;
  /** Closes the sessions and stops the engine. Leases stay, and the store stays open. */
  stop(): Promise<void>;
}

/** A relay that runs. Its audience is what is configured; whoever listens sets it once the port is known. */
export async function assembleRelay(parts: RelayParts): Promise<AssembledRelay> {
  const { surroundings, log = pino({ level: "silent" }) } = parts;
  const limits: RelayLimits = { ...defaultLimits, ...parts.limits };
  const metrics = new Metrics({ process: parts.process_metrics ?? true });
  let reread = async () => {};
  const engine = engineOf(parts, metrics, log, {
    others: (handoff, besides) => directory.others(handoff, besides),
    reread: () => reread(),
  });
  await engine.start();
  const { relay, directory, operator_token_file, ...kept } = await relayOf(parts, engine, metrics, limits);
  reread = kept.reread;
  const calls = new Calls({ relay, limits, log, surroundings });
  const sessions = new WebSocketSessions({ relay, calls, limits, log, surroundings });
  const stopCollecting = collectRegularly(relay, surroundings, limits.collect_every_ms, log);
  return {
    relay,
    limits,
    log,
    calls,
    sessions,
    operator_token_file,
    stop: async () => {
      stopCollecting();
      calls.stop();
      await sessions.stop();
      await engine.stop();
    },
  };
}

function engineOf(
  { store, surroundings, configuration, engine_limits, onFailure }: RelayParts,
  metrics: Metrics,
  log: Logger,
  asked: Pick<ConstructorParameters<typeof Engine>[0], "others" | "reread">,
): Engine {
  const { retention, limits: configured } = configuration;
  const { keep_taken_ms, keep_untaken_ms, keep_events_ms } = retention;
  return new Engine({
    store,
    surroundings,
    limits: { keep_events_ms, reserve_bytes: configured.reserve_bytes, ...engine_limits },
    coreLimits: { keep_taken_ms, keep_untaken_ms, max_open_per_sender: configured.open_handoffs_per_sender },
    ...asked,
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

async function relayOf(parts: RelayParts, engine: Engine, metrics: Metrics, limits: RelayLimits) {
  const { store, configuration, surroundings } = parts;
  const { namespace, data_directory, admission, operator_keys } = configuration;
  const now = () => engine.now();
  const randomBytes = (count: number) => surroundings.randomBytes(count);
  const records = {
    load: (kind: string) => store.records(namespace, kind),
    put: (writes: readonly RecordWrite[]) => engine.putRecords(writes),
  };
  const key = parts.key ?? openRelayKey(data_directory);
  const operator = openOperatorTokens(configuration.operator_tokens, data_directory);
  const schemas = new Schemas();
  const audience = new Audience(configuration.public_urls);
  const directory = await Directory.open({ namespace, records, schemas, now });
  const tokens = await Tokens.open({ namespace, records, now, randomBytes });
  const operator_tokens = operator.tokens;
  const identity = new Identity({ namespace, directory, tokens, audience, now, operator_tokens, operator_keys });
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
  const bytes = parts.artifacts ?? new ArtifactFiles(data_directory);
  const artifacts = await Artifacts.open({ namespace, bytes, engine, store, reserve_bytes });
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
    randomBytes,
    limits,
    unready,
  };
  const reread = async () => {
    await directory.load();
    await tokens.load();
  };
  return { relay, directory, operator_token_file: operator.file, reread };
}

function reasonsNotReady({ state }: ReturnType<Engine["stats"]>): readonly string[] {
  return state === "running" ? [] : [`the engine is ${state}`];
}

/** What nobody refers to any more, or nobody came back for. */
function collectRegularly(relay: Relay, surroundings: Surroundings, every_ms: number, log: Logger): () => void {
  const { artifacts, configuration } = relay;
  const collect = () => {
    cancel = surroundings.schedule(every_ms, collect);
    artifacts.collect().then(
      (dropped) => dropped > 0 && log.info({ dropped }, "artifacts that nobody refers to were dropped"),
      (error: unknown) => log.warn({ err: error }, "artifacts could not be collected"),
    );
    dropOldPlans(relay, configuration.namespace).catch((error: unknown) =>
      log.warn({ err: error }, "old redrive plans could not be dropped"),
    );
  };
  let cancel = surroundings.schedule(every_ms, collect);
  return () => cancel();
}
