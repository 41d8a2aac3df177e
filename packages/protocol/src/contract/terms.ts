// The terms of a contract: what both sides bind themselves to, in full, so that their hash alone names the contract.
import Type, { type Static } from "typebox";
import { closed, fields } from "../fields.ts";
import { protocolLimits as limits } from "../limits.ts";

const orNull = <S extends Parameters<typeof Type.Union>[0][number]>(schema: S) => Type.Union([schema, Type.Null()]);
const { properties: clocks } = fields.limits;

/** Every clock and count, none left to a default: a handoff may ask for less, never for more. */
const agreed_limits = Type.Object(
  {
    deadline_ms: fields.duration_ms,
    queue_ms: fields.duration_ms,
    ack_ms: fields.duration_ms,
    lease_ms: Type.Integer({ minimum: limits.lease_least_ms, maximum: limits.duration_ms }),
    attempt_ms: fields.duration_ms,
    max_attempts: Type.Integer({ minimum: 1, maximum: limits.attempts }),
    retry: Type.Enum(["attempts", "until_ack"]),
  } satisfies Record<keyof typeof clocks, unknown>,
  closed,
);

/** What is not agreed on is null, never absent: one contract has one spelling. */
export const contractTerms = Type.Object(
  {
    v: Type.Literal(1),
    relay: fields.relay_url,
    namespace: fields.name,
    offer: fields.id,
    asker: fields.name,
    provider: fields.name,
    capability: fields.name,
    /** capabilityDigest() of the capability as it was offered. */
    offered: fields.sha256,
    limits: agreed_limits,
    /** Digests of the canonical schemas that the asker declared: what it sends, and what it takes. */
    input_schema: orNull(fields.sha256),
    output_schema: orNull(fields.sha256),
    /** The share of handoffs under the contract that must be fulfilled. */
    min_reliability: orNull(Type.Number({ minimum: 0, maximum: 1 })),
    evidence: Type.Enum(["signed", "any"]),
    data_policy: orNull(fields.data_policy),
    cost: orNull(fields.cost),
    /** By the relay's clock, in milliseconds since 1970. */
    valid_until: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  },
  closed,
);

export type ContractTerms = Static<typeof contractTerms>;
export type AgreedLimits = ContractTerms["limits"];
