// Every bound of the protocol in one place. A relay may be stricter with sizes, never looser.

export const protocolLimits = {
  /** Messages under one signature. */
  batch_messages: 4096,
  /** log2 of the above. */
  path_digests: 12,
  document_bytes: 65_536,
  /** A registration carries the schemas of all its capabilities. */
  registration_bytes: 1_048_576,
  document_depth: 64,
  duration_ms: 30 * 24 * 60 * 60 * 1000,
  /** A relay notices its own stalls from a second on, and forgives no lease that is shorter than one. */
  lease_least_ms: 2000,
  name_chars: 128,
  text_id_chars: 256,
  url_chars: 2048,
  labels: 16,
  label_key_chars: 64,
  label_value_chars: 256,
  artifacts: 64,
  capabilities: 256,
  tags: 16,
  version_range_chars: 64,
  regions: 32,
  examples: 8,
  questions: 16,
  sla_window_seconds: 90 * 24 * 60 * 60,
  registration_lease_least_seconds: 10,
  /** Of a schema in shorthand. */
  shorthand_depth: 16,
  shorthand_parts: 1_000,
  ext: 16,
  attempts: 100,
  message_chars: 2000,
} as const;

/** Bounds that the schemas of the wire state: part of the protocol, because a client is refused beyond them. */
export const wireLimits = {
  batch_handoffs: 1_000,
  claim_slots: 256,
  page_size_most: 500,
  chunk_bytes: 64_000,
  token_label_chars: 100,
  words_chars: 500,
  hits_most: 100,
  catalog_entries: 500,
  /** Ranges of versions that a capability's work is divided among. */
  route_weights: 16,
  route_weight_most: 1_000_000,
  negotiation_agents: 64,
  reply_by_most_ms: 10 * 60 * 1000,
} as const;
