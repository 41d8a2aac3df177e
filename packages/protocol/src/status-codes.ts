// The status codes. Generated from spec/status-codes.json by scripts/generate-status-codes.ts: change the table, not this.

export const statusCodes = [
  {
    code: 200,
    name: "completed",
    title: "The handoff is completed.",
    mended_by: "nobody",
    retryable: false,
    meaning: "The agent finished the work and its output was applied.",
  },
  {
    code: 202,
    name: "accepted",
    title: "The relay accepted the handoff.",
    mended_by: "nobody",
    retryable: false,
    meaning: "The handoff is durable at the relay and will reach an end.",
  },
  {
    code: 210,
    name: "delivered",
    title: "The handoff was offered to a worker.",
    mended_by: "nobody",
    retryable: false,
    meaning: "A worker holds a lease under a fence; only its acknowledgement proves receipt.",
  },
  {
    code: 211,
    name: "acknowledged",
    title: "The agent took the handoff.",
    mended_by: "nobody",
    retryable: false,
    meaning: "The agent itself confirmed that it has the handoff and works on it.",
  },
  {
    code: 212,
    name: "progress",
    title: "The agent reported progress.",
    mended_by: "nobody",
    retryable: false,
    meaning: "The report is the whole state of progress, not a difference to the report before it.",
  },
  {
    code: 213,
    name: "question",
    title: "The agent asked a question.",
    mended_by: "asker",
    retryable: false,
    meaning: "The handoff waits for an answer, and its deadline keeps running.",
  },
  {
    code: 400,
    name: "malformed",
    title: "The request is malformed.",
    mended_by: "asker",
    retryable: false,
    meaning: "The request is not the JSON, the fields or the values that the protocol asks for.",
  },
  {
    code: 401,
    name: "identity_not_proven",
    title: "The caller's identity is not proven.",
    mended_by: "asker",
    retryable: false,
    meaning: "The credential or signature is missing, expired, revoked, meant for another relay, or does not verify.",
  },
  {
    code: 402,
    name: "budget_spent",
    title: "The budget is spent.",
    mended_by: "asker",
    retryable: false,
    meaning: "The cost, tokens or handoffs granted at the root are used up.",
  },
  {
    code: 403,
    name: "not_allowed",
    title: "The caller is not allowed to do this.",
    mended_by: "operator",
    retryable: false,
    meaning: "The identity is proven, but no rule allows this caller this action on this target.",
  },
  {
    code: 404,
    name: "unknown",
    title: "There is nothing of this name.",
    mended_by: "asker",
    retryable: false,
    meaning: "The handoff, agent, question or artifact does not exist, or the caller may not know that it does.",
  },
  {
    code: 406,
    name: "nobody_offers",
    title: "Nobody offers this on these terms.",
    mended_by: "asker",
    retryable: false,
    meaning: "No known agent offers the capability with the schema, price or time asked for.",
  },
  {
    code: 408,
    name: "deadline_passed",
    title: "The deadline passed.",
    mended_by: "asker",
    retryable: true,
    meaning: "The handoff did not end before its deadline and is a dead letter.",
  },
  {
    code: 409,
    name: "conflict",
    title: "The same key came with other content.",
    mended_by: "asker",
    retryable: false,
    meaning: "An id, idempotency key, question or fence was already used with different content.",
  },
  {
    code: 410,
    name: "canceled",
    title: "The handoff was canceled.",
    mended_by: "nobody",
    retryable: false,
    meaning: "The sender, the operator or the end of the parent canceled the handoff first.",
  },
  {
    code: 412,
    name: "lease_lost",
    title: "The lease is lost.",
    mended_by: "nobody",
    retryable: false,
    meaning: "The fence is stale: the handoff has moved on, and nothing was changed.",
  },
  {
    code: 413,
    name: "too_large",
    title: "This is too large.",
    mended_by: "asker",
    retryable: false,
    meaning: "A payload, document or batch exceeds a limit of the relay; send large payloads as artifacts.",
  },
  {
    code: 422,
    name: "input_unfit",
    title: "The input does not fit the schema.",
    mended_by: "asker",
    retryable: false,
    meaning: "The input was checked against the capability's schema and refused before it was accepted.",
  },
  {
    code: 428,
    name: "contract_stale",
    title: "The contract is stale.",
    mended_by: "asker",
    retryable: false,
    meaning: "The contract has ended or the manifest under it has changed; negotiate a new one.",
  },
  {
    code: 429,
    name: "over_quota",
    title: "The caller is over its quota.",
    mended_by: "asker",
    retryable: true,
    meaning: "The caller has too much in flight or sends too fast; wait as long as the answer says.",
  },
  {
    code: 500,
    name: "agent_failed",
    title: "The agent failed.",
    mended_by: "agent",
    retryable: true,
    meaning: "The agent reported that it could not do the work; its outcome says whether a retry can help.",
  },
  {
    code: 501,
    name: "rejected",
    title: "The handoff was rejected.",
    mended_by: "agent",
    retryable: false,
    meaning: "Every agent that could have taken the handoff declined it.",
  },
  {
    code: 502,
    name: "output_unfit",
    title: "The output does not fit the schema.",
    mended_by: "agent",
    retryable: true,
    meaning: "The agent's output was refused by the schema as often as the relay allows.",
  },
  {
    code: 503,
    name: "no_capable_agent",
    title: "No capable agent came in time.",
    mended_by: "operator",
    retryable: true,
    meaning: "No worker asked for this handoff before its time in the queue ran out.",
  },
  {
    code: 504,
    name: "not_acknowledged",
    title: "Nobody acknowledged in time.",
    mended_by: "agent",
    retryable: true,
    meaning: "The handoff was delivered as often as allowed and no worker acknowledged it.",
  },
  {
    code: 507,
    name: "out_of_space",
    title: "The relay is out of space.",
    mended_by: "operator",
    retryable: true,
    meaning: "The relay takes no new handoffs while it keeps room for every open one to end.",
  },
  {
    code: 508,
    name: "too_many_hops",
    title: "The handoff went through too many hops.",
    mended_by: "asker",
    retryable: false,
    meaning: "The chain of handoffs from the root is longer than allowed, which is most often a loop.",
  },
  {
    code: 521,
    name: "agent_lost",
    title: "The agent was lost.",
    mended_by: "agent",
    retryable: true,
    meaning: "The agent acknowledged the handoff and its leases ran out without an outcome.",
  },
] as const;

export type StatusCode = (typeof statusCodes)[number]["code"];
export type StatusName = (typeof statusCodes)[number]["name"];
export interface Status {
  readonly code: StatusCode;
  readonly name: StatusName;
  readonly title: string;
  readonly mended_by: "asker" | "agent" | "operator" | "nobody";
  /** True when the same request, unchanged, may succeed later. */
  readonly retryable: boolean;
  readonly meaning: string;
}

const byCode: ReadonlyMap<number, Status> = new Map(statusCodes.map((status) => [status.code, status]));

/** The row of a known code; undefined for any other number. */
export function statusCode(code: StatusCode): Status;
export function statusCode(code: number): Status | undefined;
export function statusCode(code: number): Status | undefined {
  return byCode.get(code);
}
