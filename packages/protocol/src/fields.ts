// The fields that documents and the relay's wire messages are made of, as JSON Schemas with static types (TypeBox).
import Type, { type Static } from "typebox";
import { agentPattern, idPattern, namePattern, textIdPattern } from "./ids.ts";
import { protocolLimits as limits } from "./limits.ts";

/** Objects are closed: an unknown field is refused, because a signer may have meant something by it. */
export const closed = { additionalProperties: false } as const;

const amount = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const duration_ms = Type.Integer({ minimum: 1, maximum: limits.duration_ms });
const sha256 = Type.String({ pattern: "^[0-9a-f]{64}$" });
const name = Type.String({ pattern: namePattern });
const id = Type.String({ pattern: idPattern });
const fence = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const media_type = Type.String({ pattern: "^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+(;[ -~]*)?$", maxLength: 255 });
const json_schema = Type.Unsafe<Record<string, unknown>>({ type: "object" });
const message = Type.String({ maxLength: limits.message_chars });

const url = Type.String({ pattern: "^https?://[!-~]+$", maxLength: limits.url_chars });

const jwk = Type.Object(
  {
    kty: Type.Literal("OKP"),
    crv: Type.Literal("Ed25519"),
    // The last character holds four bits of the key and two zero bits: one spelling per key.
    x: Type.String({ pattern: "^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$" }),
  },
  closed,
);

/** Stands for payload bytes beside the document: sha256 is over salt ‖ payload, so an erased payload stays erased. */
const payload_digest = Type.Object(
  { media_type, size: amount, salt: Type.String({ pattern: "^[A-Za-z0-9_-]{21}[AQgw]$" }), sha256 },
  closed,
);

const artifact = Type.Object(
  { sha256, size: amount, media_type, name: Type.Optional(Type.String({ pattern: textIdPattern })) },
  closed,
);

const labels = Type.Unsafe<Record<string, string>>({
  type: "object",
  propertyNames: { type: "string", minLength: 1, maxLength: limits.label_key_chars },
  additionalProperties: { type: "string", maxLength: limits.label_value_chars },
  maxProperties: limits.labels,
});

/** Keyed by URI: kept, passed on, ignored. */
const ext = Type.Unsafe<Record<string, unknown>>({
  type: "object",
  propertyNames: { type: "string", pattern: "^[A-Za-z][A-Za-z0-9+.-]*:[!-~]+$", maxLength: 256 },
  maxProperties: limits.ext,
});

/** `cost` counts millionths of the namespace's unit of account: signed numbers are integers. */
const usage = Type.Object({ cost: Type.Optional(amount), tokens: Type.Optional(amount) }, closed);
const budget = Type.Object({ ...usage.properties, handoffs: Type.Optional(amount) }, closed);

const time_limits = Type.Object(
  {
    deadline_ms: Type.Optional(duration_ms),
    queue_ms: Type.Optional(duration_ms),
    ack_ms: Type.Optional(duration_ms),
    lease_ms: Type.Optional(Type.Integer({ minimum: limits.lease_least_ms, maximum: limits.duration_ms })),
    attempt_ms: Type.Optional(duration_ms),
    max_attempts: Type.Optional(Type.Integer({ minimum: 1, maximum: limits.attempts })),
    retry: Type.Optional(Type.Enum(["attempts", "until_ack"])),
  },
  closed,
);

const error = Type.Object({ reason: name, message, detail: Type.Optional(Type.Unknown()) }, closed);

const proof = Type.Object(
  {
    key: Type.String({ pattern: "^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$" }),
    sig: Type.String({ pattern: "^[A-Za-z0-9_-]{85}[AQgw]$" }),
    index: Type.Integer({ minimum: 0, maximum: limits.batch_messages - 1 }),
    size: Type.Integer({ minimum: 1, maximum: limits.batch_messages }),
    path: Type.Array(Type.String({ pattern: "^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$" }), {
      maxItems: limits.path_digests,
    }),
  },
  closed,
);

/** A schema in full, or in the shorthand of manifests: `{"query": "string", "depth": "int?"}`. */
const some_schema = json_schema;
const seconds = Type.Integer({ minimum: 1, maximum: limits.duration_ms / 1000 });
const tags = Type.Array(Type.String({ pattern: namePattern }), { maxItems: limits.tags });

/**
 * Stands for a price beside the document: rivals see that there is one, not what it is. Unlike that of a payload, the salt is
 * not in the document: prices are few, and whoever had the salt would try them all.
 */
const sealed_cost = Type.Object({ sha256 }, closed);
/** In millionths of the namespace's unit of account. */
const cost = Type.Object({ amount, per: Type.Enum(["handoff", "thousand_tokens"]) }, closed);

/** What an agent does with what it is given. What it leaves out it does not promise. */
const data_policy = Type.Object(
  {
    retention_seconds: Type.Optional(amount),
    regions: Type.Optional(Type.Array(name, { minItems: 1, maxItems: limits.regions })),
    trains: Type.Optional(Type.Boolean()),
    shares: Type.Optional(Type.Boolean()),
  },
  closed,
);

const capability = Type.Object(
  {
    name,
    description: Type.Optional(message),
    version: Type.Optional(Type.String({ pattern: textIdPattern })),
    input_schema: Type.Optional(some_schema),
    output_schema: Type.Optional(some_schema),
    timeout_seconds: Type.Optional(seconds),
    reliability_sla: Type.Optional(
      Type.Number({ exclusiveMinimum: 0, maximum: 1, description: "The share of attempts that it says will succeed." }),
    ),
    sla: Type.Optional(
      Type.Object(
        {
          window_seconds: Type.Integer({ minimum: 60, maximum: limits.sla_window_seconds }),
          conditions: Type.Optional(message),
        },
        closed,
      ),
    ),
    idempotent: Type.Optional(Type.Boolean()),
    side_effects: Type.Optional(Type.Enum(["none", "reversible", "irreversible"])),
    tags: Type.Optional(tags),
    examples: Type.Optional(
      Type.Array(
        Type.Object(
          { title: Type.Optional(message), input: Type.Unknown(), output: Type.Optional(Type.Unknown()) },
          closed,
        ),
        { maxItems: limits.examples },
      ),
    ),
    max_concurrent: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
    latency: Type.Optional(
      Type.Object({ p50_ms: Type.Optional(duration_ms), p95_ms: Type.Optional(duration_ms) }, closed),
    ),
    cost: Type.Optional(sealed_cost),
    data_policy: Type.Optional(data_policy),
    questions: Type.Optional(
      Type.Array(
        Type.Object({ name, description: Type.Optional(message), schema: Type.Optional(some_schema) }, closed),
        { maxItems: limits.questions },
      ),
    ),
    proposes: Type.Optional(
      Type.Boolean({ description: "Wants to be asked before an offer is made in its name, and may price or decline." }),
    ),
    ext: Type.Optional(ext),
  },
  closed,
);

/** What opens the sealed cost of each capability that has one, by its name: beside the document, for the relay to keep. */
const costs = Type.Unsafe<Record<string, { salt: string; cost: Static<typeof cost> }>>({
  type: "object",
  propertyNames: { type: "string", pattern: namePattern },
  additionalProperties: Type.Object({ salt: payload_digest.properties.salt, cost }, closed),
  maxProperties: limits.capabilities,
});

export const fields = {
  id,
  name,
  /** One that is registered elsewhere is named, and refused where it cannot be reached. */
  agent: Type.String({ pattern: agentPattern }),
  text_id: Type.String({ pattern: textIdPattern }),
  relay_url: url,
  url,
  amount,
  fence,
  duration_ms,
  sha256,
  media_type,
  message,
  json_schema,
  jwk,
  payload_digest,
  artifact,
  artifacts: Type.Array(artifact, { maxItems: limits.artifacts }),
  labels,
  ext,
  usage,
  budget,
  limits: time_limits,
  error,
  proof,
  capability,
  capabilities: Type.Array(capability, { maxItems: limits.capabilities }),
  cost,
  costs,
  data_policy,
  tags,
  /** Counts the manifests of an agent: an older one never takes the place of a newer. */
  manifest_version: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  lease_seconds: Type.Integer({ minimum: limits.registration_lease_least_seconds, maximum: limits.duration_ms / 1000 }),
  challenge: Type.String({ pattern: "^[A-Za-z0-9_-]{22,256}$" }),
  version_range: Type.String({
    minLength: 1,
    maxLength: limits.version_range_chars,
    description: "A range of versions, such as `^1.2` or `>=2 <4`.",
  }),
  priority: Type.Integer({ minimum: 0, maximum: 9 }),
  traceparent: Type.String({ pattern: "^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$" }),
};

export type PayloadDigest = Static<typeof payload_digest>;
export type Artifact = Static<typeof artifact>;
export type Usage = Static<typeof usage>;
export type Budget = Static<typeof budget>;
export type Limits = Static<typeof time_limits>;
export type OutcomeError = Static<typeof error>;
export type Capability = Static<typeof capability>;
export type Cost = Static<typeof cost>;
export type Costs = Static<typeof costs>;
export type DataPolicy = Static<typeof data_policy>;
