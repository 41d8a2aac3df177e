/** What somebody needs, and who could meet it: how agents that never met find each other. */

import Type, { type Static } from "typebox";
import { closed, fields } from "../fields.ts";
import { agentPattern } from "../ids.ts";
import { wireLimits } from "../limits.ts";
import { nullable, time } from "./handoff.ts";

const share = Type.Number({ minimum: 0, maximum: 1 });

/** What must hold of whoever is found. Everything is optional; what is said must be met. */
export const need_fields = {
  capability: Type.Optional(fields.name),
  version: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: "A range of versions, such as `^1.2` or `>=2 <4`." }),
  ),
  words: Type.Optional(
    Type.String({ minLength: 1, maxLength: wireLimits.words_chars, description: "What it is about, in plain words." }),
  ),
  tags: Type.Optional(fields.tags),
  input: Type.Optional(Type.Unknown({ description: "An input that must be taken, as it is." })),
  input_schema: Type.Optional(fields.json_schema),
  output_schema: Type.Optional(fields.json_schema),
  within_ms: Type.Optional(fields.duration_ms),
  min_reliability: Type.Optional(share),
  max_cost: Type.Optional(fields.cost),
  data_policy: Type.Optional(fields.data_policy),
  side_effects: Type.Optional(Type.Enum(["none", "reversible", "irreversible"])),
  live: Type.Optional(Type.Boolean({ description: "Only those with a worker that was heard of lately." })),
};

export const discover_request = Type.Object(
  { ...need_fields, limit: Type.Optional(Type.Integer({ minimum: 1, maximum: wireLimits.hits_most })) },
  closed,
);

/** What can be said of two schemas: every value of the one fits the other, some value does not, or nobody knows. */
export const schema_verdict = Type.Object({
  verdict: Type.Enum(["proven", "unknown", "refuted", "unasked"]),
  path: Type.Optional(Type.String()),
  because: Type.Optional(Type.String()),
  counterexample: Type.Optional(Type.Unknown()),
});

export const liveness = Type.Object({
  state: Type.Enum(["live", "idle", "lapsed"], {
    description: "live: a worker was heard of lately. idle: none was, and the registration holds. lapsed: it ran out.",
  }),
  last_seen_at: nullable(time),
  lease_until: time,
  workers: Type.Integer(),
});

/** A claim beside what was measured: never a bare percentage. */
export const reliability = Type.Object({
  claim: nullable(share),
  status: Type.Enum(["verified", "breached", "unproven", "unclaimed"]),
  attempts: Type.Number(),
  lower: share,
  upper: share,
  p50_ms: nullable(Type.Number()),
  p95_ms: nullable(Type.Number()),
});

/** Of an agent that is registered elsewhere: it is found here, and nothing can be handed to it here. */
export const foreign_mark = Type.Object({
  url: Type.String({ description: "Where it was fetched from." }),
  fetched_at: time,
  verified: Type.Boolean({ description: "Whether its own signature vouches for what it offers." }),
});

const schema_verdicts = Type.Object({ input: schema_verdict, output: schema_verdict });

export const hit = Type.Object({
  agent_id: Type.String(),
  capability: fields.capability,
  manifest: Type.String(),
  signed: Type.Boolean(),
  discovery_endpoint: Type.String(),
  score: Type.Number(),
  why: Type.Array(Type.String(), { description: "What of it meets the need, each in a sentence." }),
  schemas: schema_verdicts,
  liveness,
  reliability,
  cost: nullable(fields.cost),
  foreign: nullable(foreign_mark),
});

export const miss = Type.Object({
  agent_id: Type.String(),
  capability: Type.String(),
  version: nullable(Type.String()),
  lacks: Type.Array(Type.String(), { description: "What keeps it from meeting the need, each in a sentence." }),
  schemas: Type.Optional(schema_verdicts),
});

export const discover_reply = Type.Object({
  hits: Type.Array(hit),
  found: Type.Integer({ description: "How many meet the need in all, of those that were looked at." }),
  whole: Type.Boolean({
    description:
      "False: more might meet it than are looked at in one call. Ask for less, to have all of them looked at.",
  }),
  near: Type.Array(miss),
});

/** What a need that nobody meets is answered with, beside the problem. */
export const nobody_meets = Type.Object({
  code: Type.Literal(406),
  reason: Type.Literal("nobody_meets"),
  near: Type.Array(miss, { description: "Those that come nearest, the nearest first." }),
});

/** An agent of this relay by its name, or one that was imported: `name@origin`. */
export const found_name = Type.String({
  pattern: agentPattern,
  description: "`name`, or `name@origin` of an agent that is registered elsewhere.",
});

/** An agent card of A2A 1.0, with our terms in an extension. */
export const agent_card = Type.Object({
  name: Type.String(),
  description: Type.String(),
  supportedInterfaces: Type.Array(
    Type.Object({ url: Type.String(), protocolBinding: Type.String(), protocolVersion: Type.String() }),
  ),
  version: Type.String(),
  capabilities: Type.Object({
    streaming: Type.Boolean(),
    pushNotifications: Type.Boolean(),
    extensions: Type.Array(
      Type.Object({
        uri: Type.String(),
        description: Type.String(),
        required: Type.Boolean(),
        params: Type.Unsafe<Record<string, unknown>>({ type: "object" }),
      }),
    ),
  }),
  securitySchemes: Type.Unsafe<Record<string, unknown>>({ type: "object" }),
  securityRequirements: Type.Array(Type.Unsafe<Record<string, unknown>>({ type: "object" })),
  defaultInputModes: Type.Array(Type.String()),
  defaultOutputModes: Type.Array(Type.String()),
  skills: Type.Array(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      description: Type.String(),
      tags: Type.Array(Type.String()),
      examples: Type.Array(Type.String()),
    }),
  ),
});

/** What a discovery endpoint tells of an agent: what it signed, so that nobody need trust who tells it. */
export const discovery_view = Type.Object({
  agent_id: Type.String(),
  identity: nullable(Type.String({ description: "Thumbprint of the first key." })),
  discovery_endpoint: Type.String(),
  manifest: Type.Object({
    digest: Type.String(),
    since: time,
    signed: Type.Boolean(),
    document: nullable(Type.String({ description: "The registration as the agent signed it; null: it did not." })),
    proof: nullable(fields.proof),
  }),
  keys: Type.Array(Type.Object({ thumbprint: Type.String(), x: Type.String(), valid_until: nullable(time) }), {
    description: "Those that speak for it now.",
  }),
  capabilities: fields.capabilities,
  liveness,
  reliability: Type.Array(Type.Object({ capability: Type.String(), ...reliability.properties })),
  foreign: nullable(foreign_mark),
  card: agent_card,
});

export const catalog_query = Type.Object(
  {
    after: Type.Optional(fields.name),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: wireLimits.catalog_entries })),
  },
  closed,
);

export type Need = Omit<Static<typeof discover_request>, "limit">;
export type Discovered = Static<typeof discover_reply>;
export type DiscoveryView = Static<typeof discovery_view>;
export type AgentCard = Static<typeof agent_card>;
export type Hit = Static<typeof hit>;
export type Miss = Static<typeof miss>;
export type SchemaVerdict = Static<typeof schema_verdict>;
export type LivenessView = Static<typeof liveness>;
export type ReliabilityView = Static<typeof reliability>;
