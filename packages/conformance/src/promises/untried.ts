/** Promises of the specification that no black box can try in reasonable time, each with the reason. */

export interface Untried {
  readonly promise: string;
  readonly section: string;
  readonly why: string;
}

export const untried: readonly Untried[] = [
  {
    promise: "The bonus for priority is bounded, so that nothing starves.",
    section: "handoffs.md#order-and-rank",
    why: "It shows only after four and a half minutes; the order by rank is tried.",
  },
  {
    promise: "After a stall or a jump of the relay's clock no lease is lost before one full lease period.",
    section: "handoffs.md#the-five-clocks",
    why: "From outside a relay can be neither stalled nor given another time; its start, for which the same holds, is tried.",
  },
  {
    promise: "The backoff is at most 60 s.",
    section: "handoffs.md#attempts-and-deliveries",
    why: "It is reached after seven failed attempts, which take two minutes; how it begins and doubles is tried.",
  },
  {
    promise: "After ten seconds a preference for or against a worker holds nothing back any more.",
    section: "handoffs.md#who-gets-it",
    why: "Whether a worker counts as connected is the relay's to know; that the preference holds is tried.",
  },
  {
    promise: "Keys and ids are kept for the dedupe window, 30 days.",
    section: "ids-and-idempotency.md#submit",
    why: "It takes 30 days; that they outlive the handoff is tried.",
  },
  {
    promise: "Taken handoffs are kept for 7 days, others for 30, where the relay is not told otherwise.",
    section: "events.md#retention",
    why: "It takes weeks; the rule is tried on a relay with short retention.",
  },
  {
    promise: "When space runs low, submits are refused with 507 while every open handoff can still end.",
    section: "events.md#retention",
    why: "A black box cannot fill the relay's disk.",
  },
  {
    promise: "A reader of a stream that takes nothing for too long gets `cut` and is disconnected.",
    section: "events.md#server-sent-events",
    why: "How much the network between them buffers is not known.",
  },
  {
    promise: "The relay bounds the time of a body while it reads it.",
    section: "wire.md#calls",
    why: "The specification does not say how long that is.",
  },
  {
    promise: "An artifact that no handoff refers to is dropped a day after it was put up.",
    section: "wire.md#artifacts",
    why: "It takes a day.",
  },
  {
    promise: "A plan of a bulk redrive is good for an hour.",
    section: "wire.md#dead-letters",
    why: "It takes an hour.",
  },
  {
    promise: "A challenge is good for as long as expires_in_seconds says.",
    section: "wire.md#agents-keys-and-tokens",
    why: "It takes a minute; that it is good once is tried.",
  },
  {
    promise: "After the overlap a replaced key is 401, retired_key.",
    section: "signing.md#rotation",
    why: "It takes a day; what the old key may do meanwhile is tried.",
  },
  {
    promise: "Connections beyond the relay's limits are refused with 429 or closed with 4429.",
    section: "websocket.md#opening",
    why: "The limits are the relay's own, and may be in the thousands.",
  },
  {
    promise: "The relay pings a peer that sends nothing for ping_ms, and drops one that sends nothing for two of them.",
    section: "websocket.md#staying-leaving-coming-back",
    why: "The WebSocket of the suite answers pings by itself and cannot be told not to.",
  },
  {
    promise: "A peer that takes nothing for 15 seconds while the relay has something for it is cut with 4430.",
    section: "websocket.md#staying-leaving-coming-back",
    why: "How much the network between them buffers is not known.",
  },
  {
    promise: "A relay that stops answers what waits, finishes what is in flight, and closes with 1001.",
    section: "websocket.md#staying-leaving-coming-back",
    why: "The suite is given a way to kill a relay, not one to stop it in order.",
  },
  {
    promise: "A `Retry-After` header comes with every 429.",
    section: "status-codes.md#problems",
    why: "Which calls are too many is the relay's own limit; the suite obeys the header where it meets one.",
  },
  {
    promise: "A sender that has as many handoffs open as it may is 429, over_quota.",
    section: "status-codes.md#reasons-of-the-state-machine",
    why: "The quota is the relay's own, and may be in the hundred thousands.",
  },
];
