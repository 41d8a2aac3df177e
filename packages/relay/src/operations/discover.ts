/** Discovery by need: who could do it, why, and of those that come near what they lack. */

import { compileSchema } from "@handfast/protocol";
import { discover_reply, discover_request, type Hit, type Miss, type Need } from "@handfast/protocol/wire";
import type { Discovered } from "../directory/discovery/discovery.ts";
import type { Found, NearMiss } from "../directory/discovery/search.ts";
import type { Caller } from "../identity/caller.ts";
import { Problem } from "../problem.ts";
import { toldWithin } from "../told-within.ts";
import { endpointOf } from "./discovery-endpoint.ts";
import { json, operation } from "./operation.ts";
import type { Relay } from "./relay.ts";
import { checkVersionAsked } from "./version-asked.ts";

export const discover = operation(
  {
    name: "discover",
    method: "POST",
    path: "/v1/discover",
    tag: "discovery",
    access: "caller",
    summary:
      "Who meets a need: by name and version, words, tags, schemas, time, reliability, cost, data policy. Best first, each with why.",
    body: discover_request,
    replies: { 200: discover_reply },
    problems: [406, 507],
  },
  async ({ relay, caller, body, room }) => {
    const { limit = relay.limits.discovery_hits_default, ...asked } = body;
    const need = readNeed(relay, asked);
    const discovered = await relay.discovery.find(need, caller, limit);
    const { discovery_reply_bytes: most_bytes } = relay.limits;
    const hits = toldWithin(
      discovered.hits.map((found) => showHit(relay, found)),
      most_bytes,
    );
    await noteLooks(relay, caller, need, discovered);
    // Each that refuses an input tells it again.
    const near = toldWithin(discovered.near.map(showMiss), most_bytes);
    await room(hits.bytes + near.bytes);
    if (discovered.hits.length === 0 && Object.keys(asked).length > 0) throw nobodyMeets(near.shown);
    const { found, is_whole } = discovered;
    return json({ hits: hits.shown, found, whole: is_whole, near: [...near.shown] });
  },
);

/** Schemas may be in shorthand, as in manifests: what comes out is in full, and safe to be compared. */
export function readNeed({ schemas }: Pick<Relay, "schemas">, need: Need): Need {
  const { input_schema, output_schema, version } = need;
  if (version !== undefined) checkVersionAsked(version);
  const full = (schema: Record<string, unknown>, side: "input" | "output") => {
    const where = `/${side}_schema`;
    const read = compileSchema(schema, side);
    if (!read.ok) {
      const { path, message } = read.fault;
      throw new Problem(400, "schema_refused", `A JSON Schema is refused: ${where}${path} ${message}.`, {
        path: `${where}${path}`,
        keyword: read.fault.keyword,
      });
    }
    schemas.admit(read.schema, where);
    return read.schema;
  };
  return {
    ...need,
    ...(input_schema === undefined ? {} : { input_schema: full(input_schema, "input") }),
    ...(output_schema === undefined ? {} : { output_schema: full(output_schema, "output") }),
  };
}

function showHit(relay: Relay, { candidate, verdicts, score, why }: Found): Hit {
  const { entry, liveness, reliability, cost } = candidate;
  const { name, manifest, signed, foreign, discovery_endpoint } = entry.provider;
  return {
    agent_id: name,
    capability: entry.capability,
    manifest,
    signed,
    discovery_endpoint: discovery_endpoint ?? endpointOf(relay, name),
    score,
    why: [...why],
    schemas: verdicts,
    liveness,
    reliability,
    cost: cost.kind === "shown" ? cost.cost : null,
    foreign,
  };
}

export function showMiss({ candidate: { entry }, verdicts, lacks }: NearMiss): Miss {
  return {
    agent_id: entry.provider.name,
    capability: entry.capability.name,
    version: entry.capability.version ?? null,
    lacks: [...lacks],
    ...(verdicts === null ? {} : { schemas: verdicts }),
  };
}

/** Whose prices the caller is about to see, or to be told how they compare: in the log before it is told. */
async function noteLooks(relay: Relay, caller: Caller, need: Need, discovered: Discovered): Promise<void> {
  const { hits, near, compared } = discovered;
  const told = need.max_cost === undefined ? hits : [...hits, ...near];
  const seen = [...told.map(({ candidate }) => candidate), ...compared].filter(
    ({ cost, entry }) => cost.kind === "shown" && entry.provider.name !== caller.name,
  );
  if (seen.length === 0) return;
  const agents = [...new Set(seen.map(({ entry }) => entry.provider.name))].sort();
  const [capability, ...others] = new Set(seen.map(({ entry }) => entry.capability.name));
  await relay.engine.note([
    {
      namespace: caller.namespace,
      type: "looked",
      by: caller.name,
      agents,
      capability: others.length === 0 ? (capability ?? null) : null,
    },
  ]);
}

function nobodyMeets(near: readonly Miss[]): Problem {
  const [nearest] = near;
  const message =
    nearest === undefined
      ? "Nobody meets this need, and nobody comes near it. Wait until an agent offers it, or ask for less."
      : `Nobody meets this need. ${nearest.agent_id} comes nearest with ${nearest.capability}: ${nearest.lacks.join(" ")}`;
  return new Problem(406, "nobody_meets", message, { near });
}
