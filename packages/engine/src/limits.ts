/** Every limit of the engine, in one place. */

import type { Duration } from "@handfast/core";

export interface EngineLimits {
  /** One transaction: at most so many jobs, and about so many bytes of bodies. */
  readonly batch_jobs: number;
  readonly batch_bytes: number;
  /** Jobs that may wait: submits are turned away first, so that ends always get through. */
  readonly pending_submits: number;
  readonly pending_jobs: number;
  readonly pending_bytes: number;
  readonly conflict_retries: number;
  /** Handoffs that time changed, per sweep. */
  readonly due_per_sweep: number;
  /** Open children canceled per commit. */
  readonly children_per_sweep: number;
  /** A dead letter that was routed to a desk may wait there this long. */
  readonly routed_deadline_ms: Duration;
  /** Leases given out in one commit. */
  readonly deliveries_per_batch: number;
  /** A worker not heard of for so long is not waited for. */
  readonly worker_silent_ms: Duration;
  /** Nor is one that went away while it waited, once this is over and nothing was heard of it since. */
  readonly worker_left_ms: Duration;
  /** Work that routing holds back is looked at again after so long. */
  readonly held_again_ms: Duration;
  /** Lanes and conversations of which it is remembered who served them last. */
  readonly remembered_ties: number;
  /** The relay looks at the clock this often; a gap this long is a stall, and no lease is lost for it. */
  readonly pulse_ms: Duration;
  readonly stall_ms: Duration;
  /** What other nodes committed is looked for about this often, so many events and records at a time. */
  readonly follow_every_ms: Duration;
  /** However many signals come: between two looks because of them lies so much at least, and more the more the last one found. */
  readonly follow_gap: { readonly least_ms: Duration; readonly most_ms: Duration; readonly per_event_ms: number };
  readonly follow_events: number;
  readonly follow_records: number;
  readonly cached_handoffs: number;
  readonly cached_body_bytes: number;
  readonly remembered_requests: number;
  /** Submits are refused while less than this is free: room for every open handoff to end. */
  readonly reserve_bytes: number;
  readonly reserve_per_open_bytes: number;
  /** Bodies up to this size are taken as long as there is any room: an end of that size fits for every open handoff. */
  readonly small_body_bytes: number;
  readonly chunk_bytes_per_handoff: number;
  readonly chunk_bytes: number;
  /** Keys outlive retention this long, and events are kept this long. */
  readonly dedupe_window_ms: Duration;
  readonly keep_events_ms: Duration;
  readonly prune_every_ms: Duration;
  readonly prune_rows: number;
}

const second = 1_000;
const day = 86_400_000;
const mebibyte = 1_048_576;

export const engineLimits: EngineLimits = {
  batch_jobs: 512,
  batch_bytes: 8 * mebibyte,
  pending_submits: 10_000,
  pending_jobs: 40_000,
  pending_bytes: 128 * mebibyte,
  conflict_retries: 8,
  due_per_sweep: 256,
  children_per_sweep: 64,
  routed_deadline_ms: day,
  deliveries_per_batch: 512,
  worker_silent_ms: 60 * second,
  worker_left_ms: 5 * second,
  held_again_ms: second,
  remembered_ties: 20_000,
  pulse_ms: second / 2,
  stall_ms: second,
  follow_every_ms: second / 2,
  follow_gap: { least_ms: 5, most_ms: 50, per_event_ms: 0.5 },
  follow_events: 2_000,
  follow_records: 2_000,
  cached_handoffs: 20_000,
  cached_body_bytes: 32 * mebibyte,
  remembered_requests: 10_000,
  reserve_bytes: 64 * mebibyte,
  reserve_per_open_bytes: 16_384,
  small_body_bytes: 4_096,
  chunk_bytes_per_handoff: mebibyte,
  chunk_bytes: 64 * mebibyte,
  dedupe_window_ms: 30 * day,
  keep_events_ms: 90 * day,
  prune_every_ms: 60 * second,
  prune_rows: 5_000,
};
