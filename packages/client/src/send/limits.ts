/** Bounds of the sending side. */

export const sendLimits = {
  /** A payload inline: larger ones are artifacts. A relay may be stricter. */
  inline_bytes: 1_000_000,
  /** As deep as relays read JSON. */
  json_depth: 64,
  /** Calls that wait at once. A relay lets one agent have 500, and its workers need some of them. */
  waits: 384,
  /** One round of a wait; the link asks anew within it as the relay allows. */
  wait_ms: 60_000,
  /** Those beyond `waits` hear of outcomes by one call for all; each looks for itself this often besides. */
  look_ms: 20_000,
  /** The same for a wait for the ack, of which no list tells. */
  look_for_ack_ms: 2_000,
  /** Between two looks at a list in which nothing is new but something stays. */
  pause_least_ms: 500,
  pause_most_ms: 8_000,
  page: 50,
  /** How long a stream waits at least for a relay that is away; and how long after the handoff's deadline. */
  stream_patience_ms: 300_000,
  past_deadline_ms: 60_000,
  /** How long a take or a cancel in the background goes on trying while the relay is away. */
  errand_patience_ms: 60_000,
  /** How long closing waits for them: what was not taken is only listed again. */
  errand_grace_ms: 10_000,
} as const;
