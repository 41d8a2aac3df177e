"""Bytes as text: unpadded base64url. Decoding is strict, so that one value has exactly one spelling."""

from __future__ import annotations

import base64
import re

_ALPHABET = re.compile(r"[A-Za-z0-9_-]*")


def to_base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def from_base64url(text: str) -> bytes | None:
    """None for padding, a foreign character, an impossible length, or bits set past the last byte."""
    if len(text) % 4 == 1 or _ALPHABET.fullmatch(text) is None:
        return None
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    return data if to_base64url(data) == text else None
