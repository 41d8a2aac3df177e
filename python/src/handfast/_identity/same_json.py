"""Whether two values are the same JSON, whatever the order of their members."""

from __future__ import annotations

from typing import Any


def is_same_json(one: Any, other: Any) -> bool:
    """As JSON compares: 1 and 1.0 are the same number, and neither is true."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same_json(value, other[name]) for name, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same_json, one, other))
    return bool(one == other)
