"""Payloads: from the exact text or bytes to their digest in a document, and from signed bytes back to the value."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from typing import Any

from ._protocol.encoding import from_base64url, to_base64url
from ._protocol.signing import SALT_BYTES, payload_digest
from ._protocol.strict_json import JsonFault, JsonLimits, parse_strict
from ._surroundings import Surroundings
from ._wire_json import JSON_DEPTH

JSON_MEDIA_TYPE = "application/json"
TEXT_MEDIA_TYPE = "text/plain; charset=utf-8"


def seal(surroundings: Surroundings, payload: str | bytes, media_type: str) -> tuple[dict[str, Any], dict[str, str]]:
    """The digest that stands in the document, and the payload as the wire carries it beside it."""
    is_text = isinstance(payload, str)
    data = payload.encode("utf-8") if isinstance(payload, str) else payload
    salt = surroundings.random_bytes(SALT_BYTES)
    digest = {
        "media_type": media_type,
        "size": len(data),
        "salt": to_base64url(salt),
        "sha256": payload_digest(salt, data),
    }
    if is_text:
        return digest, {"payload": str(payload)}
    return digest, {"payload": base64.b64encode(data).decode("ascii"), "payload_encoding": "base64"}


@dataclass(frozen=True)
class Opened:
    """What payload bytes say, by their media type."""

    input: Any
    text: str | None = None
    """The same, where it is text."""


def open_payload(data: bytes, media_type: str) -> Opened | None:
    """None where the bytes are not what their media type promises."""
    if not is_json(media_type) and not media_type.lower().startswith("text/"):
        return Opened(data)
    try:
        text = data.decode("utf-8")
        return Opened(parse_strict(text, JsonLimits(JSON_DEPTH))) if is_json(media_type) else Opened(text, text)
    except (UnicodeDecodeError, JsonFault):
        return None


def is_json(media_type: str) -> bool:
    essence = media_type.split(";", 1)[0].strip().lower()
    return essence == JSON_MEDIA_TYPE or essence.endswith("+json")


def from_base64(text: str) -> bytes | None:
    """With padding, as payloads carry it; None where it is none."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def payload_of(signed: dict[str, Any]) -> bytes | None:
    """The payload beside a document; None where it is not there or cannot be read."""
    payload = signed.get("payload")
    if payload is None:
        return None
    return from_base64(payload) if signed.get("payload_encoding") == "base64" else payload.encode("utf-8", "replace")


def fits(digest: dict[str, Any], data: bytes) -> bool:
    """Whether this is the payload that the digest was made of."""
    salt = from_base64url(digest["salt"])
    return (
        salt is not None
        and len(salt) == SALT_BYTES
        and len(data) == digest["size"]
        and payload_digest(salt, data) == digest["sha256"]
    )
