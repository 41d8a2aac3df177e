/** What is measured side by side: ours in its ways, the bare store below it, and the peers. */

import type { DriverKind } from "./drive/open-driver.ts";
import { startNats, startNatsSync } from "./servers/nats.ts";
import { startOneNode, startThreeNodes } from "./servers/nodes.ts";
import { startPostgres } from "./servers/postgres.ts";
import { startRedis } from "./servers/redis.ts";
import { startRelay } from "./servers/relay.ts";
import { startRestate } from "./servers/restate.ts";
import type { Place, Server } from "./servers/server.ts";

export interface System {
  readonly title: string;
  /** `--only` goes by this. */
  readonly group:
    | "ours"
    | "routing"
    | "bare-store"
    | "bullmq"
    | "pg-boss"
    | "graphile-worker"
    | "jetstream"
    | "restate";
  readonly driver: DriverKind;
  /** What of npm the driver uses. */
  readonly packages?: readonly string[];
  /** Null: everything is in the driver's process. */
  readonly start: ((place: Place) => Promise<Server>) | null;
  /** What is safe when, how the answer comes back, and what is not promised. */
  readonly conditions: string;
}

const ours =
  "every step (submit with lease, ack, complete, take) synced before it is confirmed; fenced, exactly one outcome";
const handfast = (
  title: string,
  transport: "websocket" | "http",
  identity: "keys" | "tokens",
  pairs: number,
  more: string,
): System => ({
  title,
  group: "ours",
  driver: { name: "handfast", transport, identity, pairs },
  start: startRelay,
  conditions: `${more}; ${ours}`,
});
/** What is compared with `ws-unsigned`, to tell what it costs that the relay chooses. */
const routed = (title: string, workers: number, by_name: boolean): System => ({
  title,
  group: "routing",
  driver: { name: "handfast", transport: "websocket", identity: "tokens", pairs: 1, workers, by_name },
  start: startRelay,
  conditions: `@handfast/client, tokens; ${ours}`,
});
/** On PostgreSQL: as many senders as nodes and as many workers, with 256 slots in all. */
const nodes = (title: string, pairs: number, start: System["start"], more: string, apart = false): System => ({
  title,
  group: "ours",
  driver: { name: "handfast", transport: "websocket", identity: "tokens", pairs, apart },
  start,
  conditions: `@handfast/client, tokens, WebSockets; ${more}; ${ours}; followed by every node in the log`,
});
const jetstream =
  "two work-queue streams on file, publishes confirmed, explicit acks, the answer through the second stream";

export const systems = {
  "ws-unsigned": handfast("Handfast, WebSocket", "websocket", "tokens", 1, "@handfast/client, tokens"),
  "ws-signed": handfast(
    "Handfast, WebSocket, signed",
    "websocket",
    "keys",
    1,
    "@handfast/client, every act signed and verified",
  ),
  "http-unsigned": handfast("Handfast, HTTP", "http", "tokens", 1, "@handfast/client over HTTP, tokens"),
  "http-signed": handfast(
    "Handfast, HTTP, signed",
    "http",
    "keys",
    1,
    "@handfast/client over HTTP, every act signed and verified",
  ),
  "crowd-unsigned": handfast(
    "Handfast, 256 senders, 256 workers",
    "websocket",
    "tokens",
    256,
    "512 agents, each with a token and a WebSocket of its own",
  ),
  "crowd-signed": handfast(
    "Handfast, 256 senders, 256 workers, signed",
    "websocket",
    "keys",
    256,
    "512 agents, each with a key and a WebSocket of its own, every act signed and verified",
  ),
  "ws-to-agent": routed("Handfast, WebSocket, to an agent by its name", 1, true),
  "ws-to-ten-agents": routed("Handfast, WebSocket, to ten agents by their names, in turn", 10, true),
  "ws-ten-providers": routed("Handfast, WebSocket, to a capability of ten agents", 10, false),
  "one-node": nodes("Handfast, one node", 1, startOneNode, "one sender and one worker"),
  "three-nodes": nodes(
    "Handfast, three nodes",
    3,
    startThreeNodes,
    "a sender and a worker at each node, as a load balancer spreads them; what is sent at a node goes to its own worker while that one is free",
  ),
  "three-nodes-apart": nodes(
    "Handfast, three nodes, senders and workers apart",
    2,
    startThreeNodes,
    "two senders at the first node, a worker at each of the others: every handoff goes from one node to another and back",
    true,
  ),
  engine: {
    title: "Handfast's engine and store alone",
    group: "ours",
    driver: { name: "engine" },
    start: null,
    conditions: "one process, no transport, no signatures; submit with lease, ack, complete, take each synced",
  },
  "bare-store": {
    title: "bare SQLite, group commit",
    group: "bare-store",
    driver: { name: "bare-store" },
    start: null,
    conditions:
      "one process; the rows of a handoff in four synced steps; no rules, no transport: an upper bound of this disk",
  },
  bullmq: {
    title: "BullMQ, Redis fsync always",
    group: "bullmq",
    driver: { name: "bullmq" },
    packages: ["bullmq", "ioredis"],
    start: startRedis,
    conditions:
      "Queue, Worker (concurrency 256), QueueEvents.waitUntilFinished; every write synced before its answer; the sender's wait is not durable, no deadline, no receipts",
  },
  "pg-boss": {
    title: "pg-boss, PostgreSQL",
    group: "pg-boss",
    driver: { name: "pg-boss" },
    packages: ["pg-boss", "pg"],
    start: startPostgres,
    conditions:
      "send() each, workers fetch and settle batches of 64, woken by one NOTIFY at a time beside the inserts (notifyWorker); the sender reads finished jobs by one query every 2 ms; every commit synced; completion is not fenced, no receipts",
  },
  "pg-boss-notify": {
    title: "pg-boss, PostgreSQL, own notify",
    group: "pg-boss",
    driver: { name: "pg-boss-notify" },
    packages: ["pg-boss", "pg"],
    start: startPostgres,
    conditions:
      "the same with pg-boss's own notify: a NOTIFY in every insert, which makes those commit one after the other",
  },
  "graphile-worker": {
    title: "graphile-worker, PostgreSQL",
    group: "graphile-worker",
    driver: { name: "graphile-worker" },
    packages: ["graphile-worker", "pg"],
    start: startPostgres,
    conditions:
      "addJob() each over 40 connections, with the NOTIFY in every insert that it comes with; concurrency 256, a local queue of 257, completions in batches; it keeps no results: the task writes them into a table of the user's, many in one insert, and the sender reads that by one query every 2 ms; every commit synced; completion is not fenced, no receipts",
  },
  jetstream: {
    title: "NATS JetStream, default (not synced)",
    group: "jetstream",
    driver: { name: "jetstream" },
    packages: ["@nats-io/jetstream"],
    start: startNats,
    conditions: `${jetstream}; NOT synced before a confirmation (every two minutes): what was confirmed can be lost in a power cut; acks are not fenced`,
  },
  "jetstream-sync": {
    title: "NATS JetStream, sync always",
    group: "jetstream",
    driver: { name: "jetstream" },
    packages: ["@nats-io/jetstream"],
    start: startNatsSync,
    conditions: `${jetstream}; every message synced before its confirmation, the consumer's acks are not; acks are not fenced`,
  },
  restate: {
    title: "Restate",
    group: "restate",
    driver: { name: "restate" },
    packages: ["@restatedev/restate-sdk"],
    start: startRestate,
    conditions:
      "a service called through the ingress with an idempotency key, handler in the driver over HTTP/2; the log is synced before a step counts, the journal follows it; the answer is kept for a day",
  },
} as const satisfies Record<string, System>;

export type SystemName = keyof typeof systems;

export const systemNames = Object.keys(systems) as SystemName[];
