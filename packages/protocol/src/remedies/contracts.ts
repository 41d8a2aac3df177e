/** Reasons of negotiations and contracts. */

import type { Reason } from "./reason.ts";

export const contractReasons: readonly Reason[] = [
  {
    codes: [406],
    reason: "no_offer",
    cause: "Nobody offers this on these terms: near says what the nearest lack, declined who was asked and would not.",
    remedy: "Ask for less, wait longer for those that are asked live, or start an agent that offers it.",
  },
  {
    codes: [404],
    reason: "unknown_negotiation",
    cause: "There is no negotiation of this id, it is too old, or somebody else began it.",
    remedy: "Negotiate anew; offers are shown to the asker only.",
  },
  {
    codes: [404],
    reason: "unknown_offer",
    cause: "There is no offer of this id, it is too old, or it was made to somebody else.",
    remedy: "Negotiate, and take one of the offers of the answer.",
  },
  {
    codes: [428],
    reason: "offer_expired",
    cause: "The offer was not taken before its expires_at.",
    remedy: "Negotiate anew, and take the offer in time.",
  },
  {
    codes: [428],
    reason: "offer_stale",
    cause: "The provider has changed the capability since it was offered; changed says in what.",
    remedy: "Negotiate anew: the next offer is on what it is now.",
  },
  {
    codes: [428],
    reason: "provider_gone",
    cause: "The agent whose offer this is was forgotten, or its registration ran out.",
    remedy: "Negotiate anew with those that are there.",
  },
  {
    codes: [403],
    reason: "price_sealed",
    cause:
      "The caller offers the same capability, or did within 30 days, so prices of others are not shown to it, and cannot be agreed to.",
    remedy: "Hand the work over without a contract, or let an agent negotiate that does not offer it.",
  },
  {
    codes: [400],
    reason: "terms_differ",
    cause: "The terms that were signed are not those that were offered or asked for.",
    remedy: "Sign the very terms that the relay showed; fields says which differ.",
  },
  {
    codes: [404],
    reason: "unknown_proposal",
    cause: "There is no call for a proposal of this id, or it was put to another agent.",
    remedy: "Answer one of those that GET /v1/proposals lists.",
  },
  {
    codes: [408],
    reason: "proposal_too_late",
    cause: "The call was to be answered by its reply_by.",
    remedy: "Wait for calls (Prefer: wait) and answer at once; this one counts as declined.",
  },
  {
    codes: [409],
    reason: "already_proposed",
    cause: "The call was answered before, and not like this.",
    remedy: "Leave it: there is one round, and the first answer stands.",
  },
  {
    codes: [400],
    reason: "beyond_call",
    cause: "The proposal gives more time, attempts or validity than was asked for.",
    remedy: "Narrow what was asked, leave it as it is, or decline.",
  },
  {
    codes: [400],
    reason: "validity_over",
    cause: "The proposal's terms would be valid until a time that is past already, so that nobody could take them.",
    remedy: "Name a later time, in milliseconds since 1970, leave the validity as it was asked, or decline.",
  },
  {
    codes: [400],
    reason: "one_answer",
    cause: "The proposal names terms and declines at the same time.",
    remedy: "Give one of the two.",
  },
  {
    codes: [429],
    reason: "too_many_negotiations",
    cause: "The caller, or all agents together, have as many negotiations open as are kept.",
    remedy: "Wait as long as Retry-After says; take or leave the offers that you have.",
  },
  {
    codes: [429],
    reason: "too_many_contracts",
    cause: "The caller, or all agents together, have as many contracts as are kept.",
    remedy: "Use those that you have; one that is over is dropped in time.",
  },
  {
    codes: [404, 428],
    reason: "unknown_contract",
    cause: "There is no contract of this id, or the caller is no party of it; to send under it, it must be the asker.",
    remedy: "Negotiate one, or leave the contract out.",
  },
  {
    codes: [428],
    reason: "contract_expired",
    cause: "The contract is past its valid_until.",
    remedy: "Negotiate a new one, or send without.",
  },
  {
    codes: [428],
    reason: "contract_ended",
    cause: "One of its sides has ended the contract.",
    remedy: "Negotiate a new one, or send without.",
  },
  {
    codes: [428],
    reason: "contract_stale",
    cause: "The provider offers the capability no longer as it was agreed on; changed says in what it differs.",
    remedy: "Negotiate a new one on what it is now, or send without.",
  },
  {
    codes: [428],
    reason: "contract_breached",
    cause:
      "Of the handoffs under the contract less were kept than its min_reliability, as certain as counts can make it.",
    remedy: "Negotiate with another provider, or send without.",
  },
  {
    codes: [400],
    reason: "beyond_contract",
    cause:
      "The handoff asks for more than the contract gives, for another target or version, or expects what was not agreed on; fields says in what.",
    remedy: "Ask for as much or less, or leave the contract out.",
  },
  {
    codes: [400],
    reason: "contract_unsaid",
    cause: "A signed handoff leaves to the contract what it must itself say, since nobody adds to what was signed.",
    remedy: "Sign it with to, capability and, where the contract demands it, evidence.",
  },
];
