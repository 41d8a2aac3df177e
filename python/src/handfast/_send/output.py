"""What a completed handoff came to: JSON as its value, text as a str, anything else as bytes."""

from __future__ import annotations

from typing import Any

from .._payload import from_base64
from .faults import output_gone


def output_of(view: Any) -> Any:
    """None for a notice, which ends without an output."""
    outcome = view["outcome"]
    if outcome is None or outcome["payload"] is None:
        return None
    for form in ("output", "text"):
        if form in outcome:
            return outcome[form]
    data = from_base64(outcome["base64"]) if "base64" in outcome else None
    if data is None:
        raise output_gone(view["id"])
    return data
