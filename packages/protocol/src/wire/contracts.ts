/**
 * Agreeing on terms in one round: a need is put to whoever could meet it, offers come back, one of them is taken, and
 * the contract that this makes is enforced by the relay for every handoff that names it.
 */

import Type, { type Static } from "typebox";
import { type ContractTerms, contractTerms } from "../contract/terms.ts";
import { closed, fields } from "../fields.ts";
import { wireLimits } from "../limits.ts";
import { miss, need_fields, reliability, schema_verdict } from "./discovery.ts";
import { followed_query, mark } from "./followed.ts";
import { nullable, time } from "./handoff.ts";
import { cursor, limit } from "./list.ts";

const count = Type.Integer({ minimum: 0 });
const price = Type.Union([fields.cost, Type.Null()]);

/** The need as in a search, and on which terms it is to be met. */
export const negotiation_request = Type.Object(
  {
    id: Type.Optional(fields.id),
    ...need_fields,
    limits: Type.Optional(fields.limits),
    evidence: Type.Optional(Type.Enum(["signed", "any"])),
    agents: Type.Optional(
      Type.Array(fields.name, {
        minItems: 1,
        maxItems: wireLimits.negotiation_agents,
        uniqueItems: true,
        description: "Only these are asked.",
      }),
    ),
    reply_by_ms: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: wireLimits.reply_by_most_ms,
        description: "How long those that are asked live may take to answer.",
      }),
    ),
    valid_ms: Type.Optional(fields.duration_ms),
  },
  closed,
);
export type NegotiationRequest = Static<typeof negotiation_request>;

/** The price of a manifest is proven by its seal there; that of a proposal stands in what was signed. */
const cost_salt = nullable(
  Type.String({ description: "Where the price is the manifest's: opens, with it, the seal there." }),
);

export const offer_view = Type.Object({
  offer_id: Type.String(),
  agent_id: Type.String(),
  capability: fields.capability,
  manifest: Type.String(),
  terms: nullable(contractTerms),
  contract_id: nullable(Type.String({ description: "What the contract will be called: the hash of the terms." })),
  sealed: Type.Boolean({
    description: "The caller offers the same: the price, and so the terms, are not shown to it, and it cannot agree.",
  }),
  cost: nullable(fields.cost),
  cost_salt,
  reliability,
  schemas: Type.Object({ input: schema_verdict, output: schema_verdict }),
  made_by: Type.Enum(["manifest", "proposal"]),
  proposal: nullable(
    Type.Object(
      { document: Type.String(), proof: nullable(fields.proof) },
      { description: "What the provider said when it was asked; without a proof where it cannot sign." },
    ),
  ),
  expires_at: Type.Integer({
    description:
      "Until when it can be taken, in milliseconds as `valid_until` of its terms is, and never later than that.",
  }),
});
export type OfferView = Static<typeof offer_view>;

export const declined_view = Type.Object({
  agent_id: Type.String(),
  capability: Type.String(),
  reason: Type.String({ description: "Its own, or `no_answer`, `too_many_calls`, `sealed`." }),
  message: Type.String(),
});

export const negotiation_view = Type.Object({
  negotiation_id: Type.String(),
  open: Type.Boolean({ description: "Somebody who was asked live may still answer." }),
  waiting_for: count,
  reply_by: time,
  offers: Type.Array(offer_view),
  declined: Type.Array(declined_view),
  near: Type.Array(miss),
});
export type NegotiationView = Static<typeof negotiation_view>;

/** A call for a proposal, as the agent that it is put to sees it: never who else was asked, nor what the asker would pay. */
export const proposal_call = Type.Object({
  id: Type.String({ description: "Of the offer that is asked for." }),
  from: Type.String(),
  capability: Type.String(),
  terms: Type.Unsafe<ContractTerms>({
    ...contractTerms,
    description: "What is asked for, with the agent's own list price.",
  }),
  input_schema: Type.Optional(fields.json_schema),
  output_schema: Type.Optional(fields.json_schema),
  asked_at: time,
  reply_by: time,
  answer: nullable(Type.Enum(["proposed", "declined"])),
});
export type ProposalCall = Static<typeof proposal_call>;

const next_page = nullable(Type.String({ description: "Where the next page begins; null: this was the last." }));

export const proposal_page = Type.Object({ proposals: Type.Array(proposal_call), cursor: next_page, mark });
export const proposal_query = followed_query;

/** What is not said stays as it was asked for. Limits may only be narrower, and the validity shorter. */
export const plain_proposal = Type.Object(
  {
    cost: Type.Optional(price),
    limits: Type.Optional(fields.limits),
    valid_until: Type.Optional(contractTerms.properties.valid_until),
    decline: Type.Optional(Type.Object({ reason: fields.name, message: fields.message }, closed)),
  },
  closed,
);

export const agree_request = Type.Object({ offer_id: fields.id }, closed);

export const contract_params = Type.Object({ id: fields.sha256 });
export const offer_params = Type.Object({ id: fields.id });

const side = {
  document: nullable(Type.String({ description: "The exact text; null: there is none." })),
  proof: nullable(fields.proof),
};

/** One field of the capability that is not as it was agreed on. */
export const changed_field = Type.Object({
  field: Type.String(),
  from: Type.Optional(Type.Unknown()),
  to: Type.Optional(Type.Unknown()),
});

export const fulfilment = Type.Object({
  fulfilled: count,
  breaches: count,
  uncounted: count,
  by_reason: Type.Unsafe<Record<string, number>>({ type: "object", additionalProperties: { type: "integer" } }),
  lower: Type.Number(),
  upper: Type.Number(),
});

export const contract_view = Type.Object({
  contract_id: Type.String(),
  terms: contractTerms,
  state: Type.Enum(["in_force", "stale", "breached", "expired", "ended"]),
  valid_until: time,
  agreed_at: time,
  ended: nullable(Type.Object({ by: Type.String(), at: time, reason: nullable(Type.String()) })),
  capability: Type.Optional(fields.capability),
  input_schema: Type.Optional(fields.json_schema),
  output_schema: Type.Optional(fields.json_schema),
  asker_evidence: Type.Object({ kind: Type.Enum(["signed", "attested"]), ...side }),
  provider_evidence: Type.Object({ kind: Type.Enum(["manifest", "proposal"]), ...side, cost_salt }),
  fulfilment,
  changed: Type.Array(changed_field, { description: "Where it is stale: what of the capability is not as agreed on." }),
});
export type ContractView = Static<typeof contract_view>;

export const contract_query = Type.Object(
  {
    state: Type.Optional(contract_view.properties.state),
    as: Type.Optional(Type.Enum(["asker", "provider"])),
    limit: Type.Optional(limit),
    cursor: Type.Optional(cursor),
  },
  closed,
);
export const contract_page = Type.Object({ contracts: Type.Array(contract_view), cursor: next_page });

export const end_contract_request = Type.Object({ reason: Type.Optional(fields.message) }, closed);
