/**
 * Every limit of the relay, with its unit in its name. What the protocol limits for everybody is in
 * `@handfast/protocol` (protocolLimits), what the state machine counts in `@handfast/core` (coreLimits).
 */

import { coreLimits } from "@handfast/core";
import { engineLimits } from "@handfast/engine";
import { wireLimits } from "@handfast/protocol/wire";

const kilobyte = 1_000;
const megabyte = 1_000 * kilobyte;
const gigabyte = 1_000 * megabyte;
const second_ms = 1_000;
const minute_ms = 60 * second_ms;
const day_ms = 24 * 60 * minute_ms;

export const limits = {
  ...wireLimits,

  // Requests
  /** A whole request: an inline payload in base64 with its document and proof. */
  body_bytes: 1.5 * megabyte,
  /** A batch carries many payloads in one body. */
  batch_body_bytes: 16 * megabyte,
  header_bytes: 16 * kilobyte,
  json_depth: 64,
  json_keys: 100_000,
  /** Of one caller. A worker makes about six calls for a handoff, and does thousands of those in a second. */
  requests_per_second: 20_000,
  request_burst: 40_000,
  /** Calls without a proven identity (registration, challenges, wrong credentials), per address. */
  anonymous_requests_per_second: 50,
  anonymous_request_burst: 200,
  /** Distinct callers whose rate is remembered. */
  rate_callers: 50_000,
  requests_in_flight: 20_000,
  /** Health and the acts of those who hold leases go on being taken up to here: work that runs must be able to end. */
  requests_in_flight_vital: 24_000,
  /** Of one caller; its vital calls are counted apart. */
  calls_per_caller: 5_000,
  /** Calls of one caller that wait (`Prefer: wait`). */
  waits_per_caller: 2_000,
  /** A reply that lists things with their payloads ends here, with a cursor; one item it always holds. */
  reply_bytes: 16 * megabyte,
  /** An answer up to this size is made as soon as its own caller takes what it has; larger ones take turns. */
  small_reply_bytes: 64 * kilobyte,
  /** About what a record or an event takes in an answer, without payloads. */
  record_bytes: kilobyte,
  /** Large answers that are made at a time, in the relay and for one caller. */
  pages_in_flight: 16,
  pages_per_caller: 4,
  /** Answers that are made, or not yet taken: beyond this large ones are not made. */
  output_bytes: 256 * megabyte,
  /** Of one caller: beyond this none of its answers that carry payloads are made. */
  output_bytes_per_caller: 64 * megabyte,
  /** Answers that wait for room. */
  replies_waiting: 12_000,
  replies_waiting_per_caller: 4_096,
  /** Making a page lets others go first after so long. */
  page_pause_after_ms: 5,
  /** A reader of an HTTP reply that has taken nothing for so long is cut. */
  reply_drain_ms: 15 * second_ms,
  /** A whole request, an artifact's bytes included. */
  request_timeout_ms: 30 * minute_ms,
  headers_timeout_ms: 10 * second_ms,
  /** A JSON body, from the first byte to the last; and the longest pause between two pieces of an artifact. */
  body_timeout_ms: 20 * second_ms,
  /** A body that is refused unread is thrown away for so long, without a longer pause, so that its caller hears the answer. */
  linger_ms: 5 * second_ms,
  linger_pause_ms: second_ms,
  /** Of it; beyond that the connection is closed whether or not the answer was read. */
  linger_bytes: 64 * 1024 * 1024,
  /** How long what is in flight may take to finish when the relay stops. */
  stop_ms: 10 * second_ms,
  long_poll_ms: 60 * second_ms,
  /** Over a WebSocket no proxy loses patience, and thousands of idle workers that ask anew each minute would be heard. */
  ws_wait_ms: 5 * minute_ms,
  page_size_default: 50,

  // Handoffs
  inline_payload_bytes: megabyte,
  checkpoint_bytes: 256 * kilobyte,
  question_bytes: 64 * kilobyte,
  labels: 16,
  open_handoffs_per_sender: 100_000,
  workers_per_agent: 1_000,
  duration_most_ms: 30 * day_ms,
  default_deadline_ms: 15 * minute_ms,
  default_ack_ms: coreLimits.default_ack_ms,
  default_lease_ms: coreLimits.default_lease_ms,
  default_attempts: 3,
  default_deliveries: 10,
  progress_note_chars: 1_000,

  // Streams
  sse_keep_alive_ms: 15 * second_ms,
  /** A reader that has taken nothing for so long is cut. */
  sse_drain_ms: 15 * second_ms,
  /** Of a correlation's stream: the shortest time between two looks at the log, and at the progress of what is held. */
  sse_gather_ms: 100,
  sse_progress_ms: second_ms,
  /** Open streams, over HTTP and WebSockets together. */
  sse_streams: 10_000,
  sse_streams_per_agent: 1_000,

  // WebSockets
  ws_frame_bytes: 16 * megabyte,
  ws_frame_calls: 1_024,
  ws_frame_json_keys: 400_000,
  /** Of one connection. */
  ws_calls_in_flight: 4_096,
  /** What a connection sent that is still being worked on: beyond this nothing more is read from it. */
  ws_in_flight_bytes: 32 * megabyte,
  /** Replies gathered in one turn go as frames of about this size; one that is larger goes alone. */
  ws_reply_frame_bytes: 256 * kilobyte,
  /** Given to the socket and not taken by the peer: beyond this, what follows waits here. */
  ws_buffered_bytes: megabyte,
  /** What waits for one peer, or is made for it: beyond this no large answer is made. */
  ws_ready_bytes: 4 * megabyte,
  /** And beyond this no small one that carries a payload, and nothing is read from the peer. */
  ws_output_bytes: 16 * megabyte,
  ws_hello_ms: 10 * second_ms,
  /** What a peer may send before the relay knows who it is. */
  ws_hello_bytes: megabyte,
  ws_ping_ms: 30 * second_ms,
  /** A peer that has taken nothing for so long, while there is something for it, is cut. */
  ws_drain_ms: 15 * second_ms,
  /** How long a peer has to answer a close. */
  ws_close_ms: 2 * second_ms,
  /** How often all of these times are looked at. */
  ws_sweep_ms: second_ms,
  ws_connections: 10_000,
  ws_connections_per_agent: 1_000,
  /** Connections that have not said yet who they are: the oldest makes room for the next. */
  ws_strangers: 10_000,
  /** From one address; those that came a moment ago, and may be about to say it, are spared. */
  ws_strangers_per_address: 64,
  ws_stranger_spared_ms: 3 * second_ms,
  /** Leases of one connection whose end it is told of; a worker learns of the others by its next beat. */
  ws_leases_watched: 10_000,

  // What transactions in PostgreSQL have posted
  outbox_rows: 64,
  /**
   * What has to be in order is handed over one after the other, for so long; the rest is left for the next time. Less than the database keeps
   * a transaction in which nobody says anything (`forgotten_transaction_ms`).
   */
  outbox_order_ms: 2 * second_ms,
  /** Between two looks: at least, and at most. */
  outbox_look_least_ms: 200,
  outbox_look_most_ms: second_ms,
  /** After a refusal that time may mend; twice as long after each further one. */
  outbox_retry_ms: second_ms,
  outbox_retry_most_ms: minute_ms,
  /** What could not be taken for so long becomes a dead letter. */
  outbox_give_up_ms: day_ms,

  // Correlations, dead letters, the log
  tree_handoffs: 10_000,
  redrive_set: 10_000,
  redrive_plan_life_ms: 60 * minute_ms,
  redrive_plans_per_caller: 8,
  export_page_events: 500,
  export_piece_bytes: 256 * kilobyte,

  // Artifacts
  artifact_bytes: gigabyte,
  unreferenced_artifact_life_ms: day_ms,
  collect_every_ms: 60 * minute_ms,
  uploads_in_flight: 64,
  uploads_per_caller: 8,
  /** An upload that brings less than this, over so long a time of waiting for it, is cut. */
  upload_bytes_per_second: kilobyte,
  upload_window_ms: 30 * second_ms,

  // Space
  /** Submits are refused below this, so that what is open can still end. */
  reserve_bytes: 64 * megabyte,

  // Identity
  authorization_chars: 2_048,
  credential_life_seconds: 300,
  /** How far the clocks of relay and caller may differ. */
  clock_skew_seconds: 10,
  credentials_cached: 20_000,
  /** Signed roots of batches that verified a moment ago. */
  signed_roots_cached: 10_000,
  signed_root_life_ms: minute_ms,
  challenge_life_ms: minute_ms,
  /** Used challenges, remembered while they could be used again. */
  challenges_remembered: 100_000,
  keys_per_agent: 16,
  /** What other nodes wrote and could not be read is read again after so long. */
  take_over_again_ms: second_ms,
  /** After a rotation the old key goes on working this long, so that many workers can change over. */
  rotation_overlap_ms: day_ms,
  /** Checked public keys, kept because the check of the point is dear. */
  public_keys_cached: 10_000,
  tokens_per_agent: 64,
  tokens: 100_000,
  token_life_most_ms: 366 * day_ms,
  admitted_keys: 100_000,
  operator_token_chars_least: 20,

  // Directory
  agents: 100_000,
  capabilities_per_agent: 256,
  manifest_bytes: 256 * kilobyte,
  /** Parts of all its schemas together, which are compiled when it comes. */
  manifest_schema_nodes: 10_000,
  /** Of all manifests together: they are kept in memory. */
  manifest_bytes_total: 512 * megabyte,
  /** Older manifests of one agent, kept for leases that were given under them. */
  manifests_kept_per_agent: 32,
  /** Manifests of one agent that can still be read, on disk: beyond any of these three its oldest goes, and that is logged. */
  manifests_remembered_per_agent: 1_000,
  manifest_history_bytes_per_agent: 64 * megabyte,
  manifest_history_bytes_total: 4 * gigabyte,
  manifests_dropped_at_once: 100,
  /** Who offered a capability within so long is still kept from the prices of those that do; names of one agent, and of all. */
  offered_before_ms: 30 * day_ms,
  offered_before_per_agent: 256,
  offered_before_total: 1_000_000,
  offered_before_swept_at_once: 20,
  default_registration_lease_ms: day_ms,
  /** Nobody lapses before the relay has been up for so long, or for one whole lease where that is shorter. */
  registration_grace_ms: 5 * minute_ms,
  /** How often a sign of life is written within one lease. */
  registration_signs_per_lease: 4,
  signs_saved_at_once: 500,
  /** Nodes of one store pass on this often what they heard, and read what others did: known to all after twice as long. */
  signs_shared_every_ms: 700,
  /** Of a worker that waits for work its node says so this often. */
  waiting_said_every_ms: 5 * second_ms,
  signs_remembered_ms: 10 * minute_ms,
  /** A node says this often that it is there, and hears whether it should drain; gone is one that was silent for so long. */
  node_signs_every_ms: second_ms,
  node_gone_ms: 10 * second_ms,
  /** What /metrics asks of the store is waited for so long. */
  figures_wait_ms: 2 * second_ms,
  /** A worker heard of within so long makes its agent live; one that left, within as long as routing waits for it. */
  live_ms: minute_ms,
  left_ms: engineLimits.worker_left_ms,
  /** What was accepted this shortly after a new manifest may have been judged by the one before: it is judged again. */
  manifest_settle_ms: 2 * second_ms,
  /** Distinct input schemas of one capability that a submit is checked against. */
  schemas_checked_per_submit: 64,
  /** Agents left out of a handoff at its accept; where more would be, each is checked at the delivery instead. */
  agents_excluded_per_submit: 256,
  /** Versions named to a sender that asked for another. */
  versions_told: 20,
  /** Capabilities whose work operators divide among versions. */
  routes: 1_000,

  // Discovery
  /** Of each part of a capability's text that is searched by words. */
  discovery_text_chars: 2_000,
  discovery_words_per_part: 200,
  discovery_properties: 100,
  /** Words of a need that are looked for. */
  discovery_words: 16,
  /** In one call: texts that have a word, entries looked at, and those among them that are compared with each other. */
  discovery_texts_visited: 1_000,
  discovery_shapes_visited: 5_000,
  discovery_scanned: 10_000,
  discovery_ranked: 250,
  /** Prices that are held against one need: each of them is a look, which the log has. */
  discovery_prices_compared: 500,
  discovery_hits_default: 10,
  /** When a relay starts, reading what all agents offer lets others go first after so long. */
  discovery_fill_ms: 20,
  /** Of the hits in one answer, and again of the misses: of each kind it holds one at least. */
  discovery_reply_bytes: megabyte,
  /** In one call: pairs of schemas compared anew, at most and whatever it takes; and how long the others may take. */
  discovery_comparisons: 256,
  discovery_comparisons_least: 4,
  discovery_compare_ms: 4,
  /** Of one comparison: its proof, and its search for a counterexample; some milliseconds at worst. */
  discovery_compare_steps: 3_000_000,
  discovery_compare_samples: 1_000,
  /** What checking a need's input against one schema may cost. */
  discovery_check_steps: 2_000_000,
  discovery_verdicts_kept: 50_000,
  /** One whose counterexample makes it longer than this is found anew by each call. */
  discovery_verdict_bytes: kilobyte,
  /** Judging schemas for longer than this lets others go first: each pause makes the one who asks wait for all of them. */
  discovery_pause_after_ms: 10,
  /** What is remembered of whether a handoff's expectation follows from its contract. */
  contract_expectations_kept: 10_000,
  /** What is remembered of whether anything fits a question's schema, and whether its contract knows such a question. */
  answer_schemas_kept: 10_000,
  /** Those that do not meet a need: how many are looked at, and how many are told. */
  discovery_near_scanned: 500,
  discovery_near: 5,
  /** Names that may be a misspelt one: how many are compared with it. */
  discovery_names_compared: 2_000,

  // Agents that are registered elsewhere
  imports: 1_000,
  /** What one of them may send. */
  import_bytes: megabyte,
  import_fetch_ms: 10 * second_ms,
  /** Where it says nothing of a lease. */
  import_lease_seconds: 24 * 60 * 60,
  /** Between two looks for what must be refreshed: at least, and at most. */
  import_pause_ms: second_ms,
  import_look_ms: 60 * minute_ms,
  /** After a refresh that came to nothing; twice as long after each further one. */
  import_retry_ms: minute_ms,
  import_retry_most_ms: 60 * minute_ms,

  // Measured reliability
  /** After so long an attempt weighs half. */
  reliability_half_life_ms: day_ms,
  /** Agents times capabilities that figures are kept of: the longest unheard of goes first. */
  reliability_pairs: 100_000,
  /** Pairs in one record of the store: with the longest names and the widest histograms below 64 kB. */
  reliability_chunk_pairs: 16,
  /** What changed is written so long after the first change. */
  reliability_write_ms: 5 * second_ms,
  /** Where more records than this have changed, the next write waits longer in proportion. */
  reliability_write_chunks: 256,
  /** Of a log that was never measured, so much is read at the first start. */
  reliability_first_events: 500_000,
  /** How slowly a slow answer is forgotten, where routing weighs latencies. */
  reliability_peak_forget_ms: minute_ms,
  /** Pairs that are told of in the metrics: the busiest. */
  reliability_gauges: 100,
  /** After so many failures in a row an agent is left out of a capability, for this long times how often it happened. */
  ejection_failures: 5,
  ejection_ms: 30 * second_ms,
  ejection_most_ms: 5 * minute_ms,
  /** Of the agents of a capability; one of two or more always. */
  ejection_share: 0.1,
  /** Of an agent with fewer attempts than this too little is known to weigh it against others. */
  newcomer_attempts: 10,

  // Negotiations and contracts
  /** Offers that one negotiation brings, the best first; and the nearest misses. */
  offers_per_negotiation: 32,
  near_per_negotiation: 8,
  /** Agents that one negotiation asks live, and calls that one agent has open. */
  calls_per_negotiation: 16,
  calls_per_agent: 256,
  negotiations_per_agent: 64,
  /** Negotiations that are being begun, one after another: each searches for some milliseconds. */
  negotiations_in_line: 128,
  /** What the offers of one negotiation quote of capabilities, and its misses of what they refuse; all negotiations of one asker, and of all: they are in memory. */
  negotiation_bytes: megabyte,
  negotiation_bytes_per_agent: 8 * megabyte,
  negotiation_bytes_total: 256 * megabyte,
  negotiations_dropped_at_once: 500,
  /** After its last offer expired it can still be read, and the offer be told from one that never was. */
  negotiation_kept_ms: 60 * minute_ms,
  default_reply_by_ms: 5 * second_ms,
  offer_life_ms: 10 * minute_ms,
  default_contract_ms: day_ms,
  /** Of one asker, with what each side said; and of all: they are kept in memory. */
  contracts_per_agent: 10_000,
  contract_bytes_per_agent: 64 * megabyte,
  contract_bytes_total: 512 * megabyte,
  contracts_dropped_at_once: 500,
  /** Where as many were dropped as are at a time, the next go so soon after. */
  drop_again_ms: second_ms,
  /** Contracts that one page of a list looks at, where most of them are not what is asked for. */
  contracts_scanned: 10_000,
  /** A contract that is over, and under which nothing can be open, can still be read for so long. */
  contract_kept_ms: 7 * day_ms,
  /** Counts that changed are written so long after the first change; the place in the log after so many events. */
  contract_write_ms: 2 * second_ms,
  contract_mark_events: 20_000,

  // JSON Schemas from strangers
  schema_bytes: 64 * kilobyte,
  schema_depth: 32,
  schema_nodes: 1_000,
  /** Of a schema that comes with a single handoff or question: nobody keeps it, so it is compiled for one use. */
  call_schema_nodes: 300,
  /** Nodes after every `$ref` is written out: what doubling by reference explodes. */
  schema_expanded_nodes: 5_000,
  /** Schemas inside of each other after that: whoever walks down recurses. */
  schema_expanded_depth: 128,
  schema_properties: 500,
  schema_branches: 64,
  schema_enum_values: 500,
  schema_definitions: 200,
  schema_patterns: 32,
  schema_pattern_chars: 256,
  /** Instructions of a compiled pattern. */
  schema_pattern_program: 500,
  schemas_compiled: 2_000,
  /** What one check may cost (schemas/meter.ts): a payload that would cost more is refused. */
  schema_check_steps: 150_000_000,
  /** Admitting a schema and checking an input that took longer let others go first before the next of the same batch. */
  schema_pause_after_ms: 2,
  fault_message_chars: 500,

  // Comparing two of them (schemas/compatibility)
  /** How deep a proof, and a search for a counterexample, goes. */
  compare_depth: 100,
  /** What a proof may cost, in steps of schemas/meter.ts. */
  compare_proof_steps: 50_000_000,
  /** What a search for a counterexample may cost. */
  compare_search_steps: 50_000_000,
  /** What may be spent on checking what was found, and on making it smaller. */
  compare_check_steps: 20_000_000,
  /** Values that are tried, those inside others included. */
  compare_samples: 20_000,
  compare_sample_bytes: 32 * kilobyte,
  compare_shrink_tries: 300,
} as const;

export type RelayLimits = { readonly [Name in keyof typeof limits]: number };
