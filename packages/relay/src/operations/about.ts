/** How the relay itself is: health, figures, what it can do; and a backup while it runs. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { isElsewhere } from "@handfast/engine";
import { protocolLimits } from "@handfast/protocol";
import { about, backup_reply, backup_request, health } from "@handfast/protocol/wire";
import { limits } from "../limits.ts";
import { Problem } from "../problem.ts";
import { json, operation } from "./operation.ts";
import { version } from "./version.ts";

export const healthz = operation(
  {
    name: "healthz",
    method: "GET",
    path: "/healthz",
    tag: "relay",
    access: "anyone",
    summary: "The process is alive.",
    replies: { 200: health },
  },
  async () => json({ status: "ok", reasons: [] }),
);

export const readyz = operation(
  {
    name: "readyz",
    method: "GET",
    path: "/readyz",
    tag: "relay",
    access: "anyone",
    summary: "The relay takes work; if not, the reasons.",
    replies: { 200: health, 503: health },
  },
  async ({ relay }) => {
    const reasons = relay.unready();
    const { node } = relay.configuration;
    const named = node === null ? {} : { node };
    const is_ready = reasons.length === 0;
    return json({ status: is_ready ? "ok" : "not_ready", reasons, ...named }, is_ready ? 200 : 503);
  },
);

export const metrics = operation(
  {
    name: "metrics",
    method: "GET",
    path: "/metrics",
    tag: "relay",
    access: "anyone",
    summary: "Figures for Prometheus. Outside development mode for operators only.",
    replies: { 200: null },
    media_type: "text/plain",
    problems: [401],
  },
  async ({ relay, visitor }) => {
    const { development, namespace } = relay.configuration;
    if (!development && visitor?.role !== "operator") {
      throw new Problem(401, "operator_only", "The figures are for operators: give the operator's token.");
    }
    const { engine, store, limits: own } = relay;
    // Before anything is asked of it: what that waits for is then seen.
    const pool = store.server?.pool();
    const [counts, held] = await Promise.all([
      promptly(store.counts(namespace), own.figures_wait_ms),
      promptly(store.server?.heldBack(), own.figures_wait_ms),
    ]);
    const text = await relay.metrics.text({
      stats: engine.stats(),
      counts,
      server: pool === undefined ? null : { pool, held },
      measured: relay.reliability.busiest(own.reliability_gauges, engine.now()),
    });
    return { kind: "text", status: 200, headers: { "content-type": relay.metrics.content_type }, text };
  },
);

/** Null: it failed, or did not come in time. The figures tell that too, and the others must not wait for it. */
async function promptly<Answer>(answer: Promise<Answer> | undefined, most_ms: number): Promise<Answer | null> {
  if (answer === undefined) return null;
  const { promise: late, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(resolve, most_ms, null);
  return Promise.race([answer.catch(() => null), late]).finally(() => clearTimeout(timer));
}

const told = [
  "body_bytes",
  "batch_body_bytes",
  "batch_handoffs",
  "json_depth",
  "inline_payload_bytes",
  "artifact_bytes",
  "checkpoint_bytes",
  "question_bytes",
  "claim_slots",
  "long_poll_ms",
  "page_size_most",
  "chunk_bytes",
  "default_deadline_ms",
  "default_ack_ms",
  "default_lease_ms",
  "default_attempts",
  "ws_frame_bytes",
  "ws_frame_calls",
  "ws_calls_in_flight",
] as const satisfies readonly (keyof typeof limits)[];

/** What this relay can do beyond the least, as spec/evolution.md names it. */
export const features = [
  "http",
  "sse",
  "websocket",
  "prefer_wait",
  "prefer_minimal",
  "batch",
  "artifacts",
  "chunks",
  "questions",
  "redrive",
  "signed",
  "attested",
  "reliability",
  "discovery",
  "contracts",
  "manifests",
  "routing",
] as const;

export const wellKnown = operation(
  {
    name: "well_known",
    method: "GET",
    path: "/.well-known/handfast",
    tag: "relay",
    access: "anyone",
    summary: "Versions, limits, features, addresses and the key of this relay.",
    replies: { 200: about },
  },
  async ({ relay }) => {
    const { namespace, development } = relay.configuration;
    return json({
      protocol: "handfast",
      versions: ["v1"],
      software: { name: "handfast", version },
      namespace,
      mode: development ? "development" : "production",
      public_urls: relay.audience.all(),
      websocket_urls: relay.audience.all().map(webSocketUrl),
      relay_key: relay.key.jwk,
      features,
      limits: {
        ...Object.fromEntries(told.map((name) => [name, limits[name]])),
        document_bytes: protocolLimits.document_bytes,
        duration_ms: protocolLimits.duration_ms,
        labels: protocolLimits.labels,
        requests_per_second: relay.configuration.limits.requests_per_second,
      },
    });
  },
);

/** http becomes ws, https becomes wss; what stands before the relay's own paths stays. */
function webSocketUrl(url: string): string {
  return `${url.replace(/^http/, "ws").replace(/\/+$/, "")}/v1/connect`;
}

export const backup = operation(
  {
    name: "backup",
    method: "POST",
    path: "/v1/backup",
    tag: "relay",
    access: "operator",
    summary:
      "A consistent copy of the store while it runs, in the folder backups of its data directory. Artifacts are files beside it.",
    body: backup_request,
    replies: { 200: backup_reply },
    problems: [409],
  },
  async ({ relay, body }) => {
    const directory = join(relay.configuration.data_directory, "backups");
    const name = `${new Date(relay.engine.now()).toISOString().replaceAll(":", "-")}.db`;
    const path = join(directory, body.name ?? name);
    if (existsSync(path)) {
      throw new Problem(409, "exists", `${path} exists already; name a new file.`, { fields: ["/name"] });
    }
    try {
      await relay.store.backup(path);
    } catch (error) {
      if (isElsewhere(error)) throw new Problem(409, "backup_elsewhere", error.message);
      const why = error instanceof Error ? error.message : String(error);
      throw new Problem(400, "backup_failed", `The copy ${path} could not be written: ${why}`, { fields: ["/name"] });
    }
    return json({ path });
  },
);
