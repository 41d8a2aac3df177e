"""The names that follow from content: of a contract from its terms, of a capability from all but its price."""

from __future__ import annotations

import hashlib
from typing import Any

from .canonical_json import canonical


def contract_id(terms: dict[str, Any]) -> str:
    """SHA-256 of the terms in canonical JSON, in lowercase hexadecimal."""
    return _digest(terms)


def capability_digest(capability: dict[str, Any]) -> str:
    """Without the seal of its price: the price of a contract stands in its terms."""
    return _digest({name: value for name, value in capability.items() if name != "cost"})


def schema_digest(schema: dict[str, Any]) -> str:
    """What stands for a schema of the asker's in the terms."""
    return _digest(schema)


def _digest(value: dict[str, Any]) -> str:
    return hashlib.sha256(canonical(value).encode("utf-8")).hexdigest()
