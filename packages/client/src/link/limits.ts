/** Every bound of a link, with its unit in its name. */

export const linkLimits = {
  backoff_least_ms: 100,
  backoff_most_ms: 5_000,
  /** A wait that the relay is asked for at once; longer ones are asked anew. */
  wait_most_ms: 60_000,
  /** The same over a WebSocket, whose own pings tell whether the relay is still there. */
  ws_wait_most_ms: 300_000,
  /** A relay that has not answered a call this long after its wait was over is taken for gone. */
  answer_ms: 30_000,
  /** The least time that a first try gets, however small the patience. */
  first_try_ms: 2_000,
  /** Of a stream: comments come every 15 seconds. */
  stream_silence_ms: 45_000,
  /** Events that wait for a slow reader of one stream before it is let go and opened again from its last id. */
  stream_events: 1_000,
  /** Documents that one signature covers. */
  signed_together: 1_024,
  /** Silence after which a ping is sent, and the time for its pong. */
  ping_after_ms: 15_000,
  pong_within_ms: 5_000,
  /** A timer that goes off later than this was held up: by a handler that blocked, or a machine that slept. */
  late_ms: 1_000,
  /** For the peer to take leave of a connection that is over. */
  goodbye_ms: 3_000,
  /** The least time for a connection to come about, however soon a call wants its answer. */
  opening_least_ms: 1_000,
  /** A connection that said hello and was of no use before it ended counts as a failure, unless it lasted this long. */
  useful_after_ms: 10_000,
  /** Of one frame: a relay takes more, but what is large is long in the way of what is small. */
  frame_bytes: 8_000_000,
  /** Of one frame, keys of objects: a relay takes 400,000. */
  frame_keys: 200_000,
  /** From the opening of a connection to the relay's hello. */
  hello_ms: 10_000,
  /** A message of a stream or a frame that is larger than this is not Handfast's. */
  event_chars: 32_000_000,
  /** Calls that leave room in flight for those of a worker that must end what it holds. */
  vital_reserve: 256,
} as const;
