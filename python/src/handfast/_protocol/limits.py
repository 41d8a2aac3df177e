"""Every bound of the protocol, from its own table. A relay may be stricter with sizes, never looser."""

from __future__ import annotations

from .._remedies import generated

_limits = generated("limits.json")

BATCH_MESSAGES: int = _limits["protocol"]["batch_messages"]
"""Messages under one signature."""
PATH_DIGESTS: int = _limits["protocol"]["path_digests"]
DOCUMENT_BYTES: int = _limits["protocol"]["document_bytes"]
REGISTRATION_BYTES: int = _limits["protocol"]["registration_bytes"]
DOCUMENT_DEPTH: int = _limits["protocol"]["document_depth"]
DURATION_MS: int = _limits["protocol"]["duration_ms"]
REGISTRATION_LEASE_LEAST_SECONDS: int = _limits["protocol"]["registration_lease_least_seconds"]
LEASE_LEAST_MS: int = _limits["protocol"]["lease_least_ms"]
VERSION_RANGE_CHARS: int = _limits["protocol"]["version_range_chars"]
ATTEMPTS: int = _limits["protocol"]["attempts"]
BATCH_HANDOFFS: int = _limits["wire"]["batch_handoffs"]
CLAIM_SLOTS: int = _limits["wire"]["claim_slots"]
PAGE_SIZE_MOST: int = _limits["wire"]["page_size_most"]
WORDS_CHARS: int = _limits["wire"]["words_chars"]
REPLY_BY_MOST_MS: int = _limits["wire"]["reply_by_most_ms"]
CHUNK_BYTES: int = _limits["wire"]["chunk_bytes"]
SAFE_INTEGER: int = 2**53 - 1
"""Numbers beyond lose digits where they are read as IEEE doubles."""
