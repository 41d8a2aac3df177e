"""Prices are sealed.

The signed manifest holds SHA256(salt ‖ canonical JSON of the cost), and the salt stands beside it with the cost.
Whoever is told both can check them; to the others the digest says nothing, since the salt is secret.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from .canonical_json import canonical
from .encoding import from_base64url, to_base64url
from .signing import SALT_BYTES, payload_digest


def seal_cost(salt: str, cost: dict[str, Any]) -> dict[str, str]:
    """As it stands in a manifest."""
    salted = from_base64url(salt)
    if salted is None:
        raise ValueError(f"{salt!r} is not base64url.")
    return {"sha256": payload_digest(salted, canonical(cost).encode("utf-8"))}


def opens_cost(salt: str, cost: dict[str, Any], sealed: dict[str, str]) -> bool:
    """Whether this is the price that was sealed."""
    salted = from_base64url(salt)
    return salted is not None and len(salted) == SALT_BYTES and seal_cost(salt, cost) == sealed


def salt_by_key(sign: Callable[[bytes], bytes], agent: str, capability: str, cost: dict[str, Any]) -> str:
    """A secret of that key, and the same in each process of its agent, so that they all state one manifest."""
    return _salt(sign(_message(agent, capability, cost)))


def salt_by_token(token: str, agent: str, capability: str, cost: dict[str, Any]) -> str:
    """For an agent without a key."""
    return _salt(_message(agent, capability, cost) + b"\0" + token.encode("utf-8"))


def _message(agent: str, capability: str, cost: dict[str, Any]) -> bytes:
    place = canonical({"agent_id": agent, "capability": capability, "cost": cost})
    return f"handfast/v1/cost\0{place}".encode()


def _salt(secret: bytes) -> str:
    return to_base64url(hashlib.sha256(secret).digest()[:SALT_BYTES])
