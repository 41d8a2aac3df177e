"""Identifiers: UUIDv7 ids made by senders, ASCII names, and the free-form ids that people bring along."""

from __future__ import annotations

import re

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_TEXT_ID = re.compile("[^\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff]{1,256}")
_TIME_MOST_MS = 2**48 - 1


def make_id(now_ms: int, random: bytes) -> str:
    """A UUIDv7 (RFC 9562) of a time and ten random bytes, of which 74 bits are used."""
    if not 0 <= now_ms <= _TIME_MOST_MS:
        raise ValueError(f"An id needs a time in whole milliseconds since 1970, not {now_ms}.")
    if len(random) != 10:
        raise ValueError(f"An id needs 10 random bytes, not {len(random)}.")
    tail = bytearray(random)
    tail[0] = tail[0] & 0x0F | 0x70
    tail[2] = tail[2] & 0x3F | 0x80
    text = f"{now_ms:012x}{tail.hex()}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def is_id(value: object) -> bool:
    """Only the lowercase spelling, so that equal ids are equal strings."""
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def is_name(value: object) -> bool:
    """Names of agents, workers, capabilities and namespaces."""
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def is_text_id(value: object) -> bool:
    """Correlation and conversation ids, idempotency and ordering keys."""
    return isinstance(value, str) and _TEXT_ID.fullmatch(value) is not None
