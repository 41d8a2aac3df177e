/** Bounds of the serving side. */

export const serveLimits = {
  concurrency: 10,
  grace_ms: 20_000,
  /** Handlers that are told to stop get this long to end by themselves, to keep a last checkpoint for instance. */
  farewell_ms: 1_000,
  /** Claims open at once. They wait only when there is no work, and the first that gets some claims all that is free. */
  claims: 4,
  /** One round of a claim; the link asks anew within it as the relay allows. */
  claim_wait_ms: 300_000,
  /** After a claim that was refused or not answered. */
  claim_pause_ms: 1_000,
  /** Beats in one lease period: two may be lost. */
  beats: 3,
  /** Progress goes out at most this often; the last is always sent. */
  progress_ms: 250,
  progress_note_chars: 1_000,
  /** One chunk on the wire. */
  chunk_chars: 16_000,
  /** Text that may wait to be sent before `write` makes its caller wait. */
  chunk_backlog_chars: 64_000,
  /** More than this is waited for by nobody: the stream ends, the work goes on. */
  chunk_pending_chars: 8_388_608,
  /** As much as a relay keeps of one stream: kept here too, to be written again to a relay that restarted. */
  chunk_kept_chars: 1_048_576,
  error_detail_bytes: 16_384,
  /** Of the 64 levels that a document may have. */
  error_detail_depth: 32,
  /** A handler that goes on for so long after its signal was aborted is named in a warning. */
  deaf_ms: 3_000,
  /** A timer that keeps the process alive while it serves; it only goes off to be set again. */
  stay_ms: 86_400_000,
  /** An output that a full relay has no room for is told again this often, and for this long: then it is a failure. */
  room_pause_ms: 5_000,
  room_patience_ms: 60_000,
  /** How long a last call (a release, a claim taken back) goes on trying while the relay is away. */
  errand_patience_ms: 2_000,
} as const;
