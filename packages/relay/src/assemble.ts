/**
 * Puts the parts of a relay together over a store and surroundings that are given: nothing here listens, so that a relay
 * on a port and one inside a test's own process are the same relay.
 */

import type { Time } from "@handfast/core";
import { Engine, type EngineLimits, type RecordWrite, type Store, type Surroundings } from "@handfast/engine";
import { type Logger, pino } from "pino";
import { Artifacts } from "./artifacts/artifacts.ts";
import { type ArtifactBytes, ArtifactFiles } from "./artifacts/files.ts";
import { SharedArtifacts } from "./artifacts/shared-artifacts.ts";
import type { Configuration } from "./configuration/configuration.ts";
import { dropOver } from "./contracts/drop-over.ts";
import { openContracts } from "./contracts/open-contracts.ts";
import { seekBy } from "./contracts/seek.ts";
import { Directory } from "./directory/directory.ts";
import { briefCompare } from "./directory/discovery/brief-compare.ts";
import { openDiscovery } from "./directory/discovery/open-discovery.ts";
import { type FetchForeign, foreignFetcher } from "./directory/imports/fetch-foreign.ts";
import type { Records } from "./directory/records.ts";
import { KeptReliability } from "./directory/reliability/kept-reliability.ts";
import { TakeOver } from "./directory/take-over.ts";
import { Audience } from "./identity/audience.ts";
import { Identity } from "./identity/identity.ts";
import { openOperatorTokens, openSharedOperatorTokens } from "./identity/operator-token.ts";
import { Registration } from "./identity/registration.ts";
import { openRelayKey, openSharedRelayKey, type RelayKey } from "./identity/relay-key.ts";
import { formerSecret } from "./identity/shared-secret.ts";
import { Tokens } from "./identity/tokens.ts";
import { limits as defaultLimits, type RelayLimits } from "./limits.ts";
import { Metrics } from "./metrics.ts";
import { Nodes } from "./nodes/nodes.ts";
import { dropOldPlans } from "./operations/redrive-plans.ts";
import type { Relay } from "./operations/relay.ts";
import { recordOwners } from "./record-owners.ts";
import { Routes } from "./routing/routes.ts";
import { Standings } from "./routing/standings.ts";
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
  /** How agents of other relays are fetched. */
  readonly fetch_foreign?: FetchForeign;
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
  const metrics = new Metrics({ process: parts.process_metrics ?? true, node: parts.configuration.node });
  // Before anything is read: what others write from here on is told.
  const record_head = (await parts.store.sharing?.recordHead()) ?? 0;
  const engine = engineOf(parts, metrics, log, {
    records: { after: record_head, tell: (names) => others?.tell(names) },
    others: (handoff, besides) => directory.others(handoff, besides),
    onEvents: (events, resumed_at, pos) => {
      reliability.apply(events, resumed_at, pos);
      tally.apply(events, pos);
    },
    reread: (resumed_at) => reread(resumed_at),
    standing: (_namespace, agent, capability, now) => standings.of(agent, capability, now),
    onWorkerLeft: (_namespace, agent, worker) => directory.left(agent, worker),
  });
  const others = takeOverOf(parts, engine, limits, log);
  const opened = await relayOf(parts, engine, metrics, limits, log, others);
  const { relay, directory, reliability, standings, tally, operator_token_file, reread } = opened;
  directory.watch((name) => engine.requeue(parts.configuration.namespace, name));
  // Whoever is told of commits is there by now.
  await engine.start();
  const calls = new Calls({ relay, limits, log, surroundings });
  const sessions = new WebSocketSessions({ relay, calls, limits, log, surroundings });
  const work = () => {
    const { waiting_claims: claims } = engine.stats();
    return { connections: sessions.size, calls: calls.in_flight.ofAgents, claims };
  };
  await relay.nodes.start(work, [calls, sessions]);
  const unlisten = parts.store.sharing?.listen((lag_ms) => {
    if (lag_ms !== null) metrics.signalled(lag_ms);
  });
  const stopCollecting = collectRegularly(relay, surroundings, limits.collect_every_ms, log);
  const stopDropping = dropOver([relay.negotiating, relay.contracts], limits, surroundings, log);
  return {
    relay,
    limits,
    log,
    calls,
    sessions,
    operator_token_file,
    stop: async () => {
      stopCollecting();
      stopDropping();
      unlisten?.();
      others?.stop();
      relay.discovery.stop();
      relay.imports.stop();
      calls.stop();
      await sessions.stop();
      await relay.nodes.stop();
      await reliability.stop();
      await tally.stop();
      await directory.stop();
      await engine.stop();
    },
  };
}

function engineOf(
  { store, surroundings, configuration, engine_limits, onFailure }: RelayParts,
  metrics: Metrics,
  log: Logger,
  asked: Pick<
    ConstructorParameters<typeof Engine>[0],
    "others" | "onEvents" | "onWorkerLeft" | "records" | "reread" | "standing"
  >,
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
    onClaim: (took_ms) => metrics.claimed(took_ms),
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

/** Null: nobody else writes to the store. */
function takeOverOf(
  { store, surroundings, configuration }: RelayParts,
  engine: Engine,
  { take_over_again_ms }: RelayLimits,
  log: Logger,
): TakeOver | null {
  const { sharing } = store;
  if (sharing === undefined) return null;
  return new TakeOver({
    namespace: configuration.namespace,
    read: (names) => sharing.namedRecords(names),
    look: async () => engine.otherRecords?.look(),
    schedule: (delay_ms, callback) => surroundings.schedule(delay_ms, callback),
    retry_ms: take_over_again_ms,
    onFault: (error) => log.warn({ err: error }, "what other nodes wrote could not be read; it is tried again"),
  });
}

/** Every node of a shared store has the same. */
async function openSecrets({ store, configuration, key }: RelayParts) {
  const { data_directory, operator_tokens } = configuration;
  if (store.sharing === undefined) {
    return {
      key: key ?? openRelayKey(data_directory, await formerSecret(store, "relay_key")),
      operator: openOperatorTokens(operator_tokens, data_directory, await formerSecret(store, "operator_token")),
    };
  }
  const shared = key ?? (await openSharedRelayKey(store, data_directory));
  return {
    key: shared,
    operator: await openSharedOperatorTokens(operator_tokens, data_directory, store, shared.jwk),
  };
}

async function relayOf(
  parts: RelayParts,
  engine: Engine,
  metrics: Metrics,
  limits: RelayLimits,
  log: Logger,
  others: TakeOver | null,
) {
  const { store, configuration, surroundings } = parts;
  const { namespace, data_directory, admission, operator_keys } = configuration;
  const now = () => engine.now();
  const randomBytes = (count: number) => surroundings.randomBytes(count);
  const records: Records = {
    load: (kind: string) => store.records(namespace, kind),
    find: (kind: string, key: string) => store.record(namespace, kind, key),
    put: (writes: readonly RecordWrite[]) => engine.putRecords(writes),
    others: others ?? undefined,
  };
  const { key, operator } = await openSecrets(parts);
  const schemas = new Schemas();
  const audience = new Audience(configuration.public_urls);
  const directory = await Directory.open({
    namespace,
    records,
    schemas,
    now,
    limits,
    isAsking: (agent, worker) => engine.isAsking(namespace, agent, worker),
    shared: store.sharing && {
      sharing: store.sharing,
      schedule: (after_ms, task) => surroundings.schedule(after_ms, task),
    },
    warn: (about, message) => parts.log?.warn(about, message),
  });
  const routes = await Routes.open({ namespace, records, now });
  const tokens = await Tokens.open({ namespace, records, now, randomBytes });
  const reliability = await KeptReliability.open({
    namespace,
    store,
    put: records.put,
    hasRoom: () => (engine.stats().free_bytes ?? Number.MAX_SAFE_INTEGER) > configuration.limits.reserve_bytes,
    schedule: (delay_ms, callback) => surroundings.schedule(delay_ms, callback),
    limits,
    knownSince: (agent) => directory.record(agent)?.registered_at,
    onUnwritten: (error) => log.warn({ err: error }, "measured reliability could not be written; it is tried again"),
  });
  const standings = new Standings({ directory, reliability: reliability.figures, limits });
  const operator_tokens = operator.tokens;
  const identity = new Identity({
    namespace,
    directory,
    tokens,
    audience,
    now,
    operator_tokens,
    operator_keys,
    catchUp: others === null ? undefined : () => others.catchUp(),
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
    challenge_secret: others === null ? undefined : key.derive("challenges"),
  });
  const { reserve_bytes } = configuration.limits;
  const files = new ArtifactFiles(data_directory);
  const space = () => store.space();
  const shared =
    store.sharing && new SharedArtifacts({ bytes: store.sharing.bytes(namespace), now, space, earlier: files });
  const bytes = parts.artifacts ?? shared ?? files;
  const artifacts = await Artifacts.open({ namespace, bytes, engine, store, reserve_bytes });
  // Of its own: what is compared for discovery pushes nothing out that handoffs are checked by.
  const compared = new Schemas(limits);
  const compare = briefCompare(compared, limits, () => surroundings.random());
  const found = await openDiscovery({
    namespace,
    records,
    directory,
    schemas: compared,
    limits,
    surroundings,
    now,
    compare,
    reliability: reliability.figures,
    fetch:
      parts.fetch_foreign ??
      foreignFetcher({ allow_private: configuration.import_private, max_bytes: limits.import_bytes }),
    onFailure: (name, error) => parts.log?.warn({ err: error, name }, "an imported agent could not be refreshed"),
  });
  const seek = seekBy({ directory, discovery: found.discovery, schemas, limits });
  const told = { directory, standings, audience, seek, compare };
  const agreeing = { namespace, records, store, engine, ...told, limits, surroundings, log };
  const { negotiating, contracts, tally } = await openContracts(agreeing);
  const { imports } = found;
  others?.own(...recordOwners({ directory, tokens, identity, routes, imports, negotiating, contracts }));
  const nodes = new Nodes({
    shared: store.sharing?.nodes ?? null,
    name: configuration.node,
    now,
    schedule: (after_ms, task) => surroundings.schedule(after_ms, task),
    limits,
    log,
  });
  const unready = () => [
    ...(nodes.isDraining ? ["draining"] : []),
    ...reasonsNotReady(engine.stats(), others?.trouble ?? null),
  ];
  const relay: Relay = {
    configuration,
    engine,
    store,
    audience,
    identity,
    registration,
    directory,
    ...found,
    routes,
    reliability: reliability.figures,
    schemas,
    negotiating,
    contracts,
    key,
    artifacts,
    metrics,
    nodes,
    catchUp: async () => others?.catchUp(),
    randomBytes,
    limits,
    unready,
  };
  const reread = async (resumed_at: Time) => {
    await directory.load();
    await routes.load();
    await tokens.load();
    await found.imports.load();
    await reliability.reread(resumed_at);
    await negotiating.load();
    await contracts.load();
    await tally.reread();
  };
  return { relay, directory, reliability, standings, tally, operator_token_file: operator.file, reread };
}

function reasonsNotReady({ state, trouble }: ReturnType<Engine["stats"]>, behind: string | null): readonly string[] {
  const why_behind = behind === null ? [] : [`what other nodes wrote could not be read: ${behind}`];
  if (state === "running") return why_behind;
  return [`the engine is ${state}`, ...(trouble === null ? [] : [trouble]), ...why_behind];
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
