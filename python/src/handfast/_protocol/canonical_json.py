"""Canonical JSON (RFC 8785): one text for one value. Manifests are named by its digest."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any


def canonical(value: Any) -> str:
    """Of plain JSON values: numbers in their shortest form, names ordered by UTF-16 code units."""
    if value is None or isinstance(value, (bool, str)):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, (int, float)):
        return number_text(value)
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(canonical(item) for item in value) + "]"
    if isinstance(value, dict):
        members = sorted(value.items(), key=lambda member: utf16_order(member[0]))
        return (
            "{" + ",".join(f"{json.dumps(name, ensure_ascii=False)}:{canonical(item)}" for name, item in members) + "}"
        )
    raise TypeError(f"{type(value).__name__} is not JSON")


def utf16_order(name: str) -> bytes:
    return name.encode("utf-16-be", "surrogatepass")


def number_text(number: float) -> str:
    """As ECMAScript writes it: the fewest digits that read back as the same double."""
    if isinstance(number, int):
        return str(number)
    if not math.isfinite(number):
        raise ValueError(f"{number} is not JSON")
    if number == 0:
        return "0"
    sign = "-" if number < 0 else ""
    digits, _, exponent = f"{abs(number)!r}".partition("e")
    whole, _, rest = digits.partition(".")
    rest = "" if rest == "0" else rest
    # The value is 0.<figures> times ten to the power of `place`.
    figures = (whole + rest).lstrip("0")
    place = int(exponent or 0) + (len(whole) if whole.strip("0") else len(figures) - len(rest))
    figures = figures.rstrip("0")
    if -6 < place <= 0:
        return f"{sign}0.{'0' * -place}{figures}"
    if 0 < place <= 21:
        rest = figures[place:]
        return f"{sign}{figures[:place].ljust(place, '0')}{f'.{rest}' if rest else ''}"
    mantissa = figures[0] + (f".{figures[1:]}" if len(figures) > 1 else "")
    return f"{sign}{mantissa}e{place - 1:+d}"


_MANIFEST = ("agent_id", "capabilities", "version", "discovery_endpoint", "lease_seconds")


def manifest_digest(holder: dict[str, Any]) -> str:
    """What acks and outcomes bind, as leases state it. Whatever else the value holds is no part of the manifest."""
    text = canonical({name: holder[name] for name in _MANIFEST if name in holder})
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
