"""What a handler says about its failure, made to fit.

A detail that a relay would refuse must not keep the failure itself from getting through. What JSON has no room for
becomes text where it says something.
"""

from __future__ import annotations

import enum
import json
import math
from collections.abc import Mapping
from typing import Any

from pydantic_core import to_jsonable_python

from .._protocol.limits import SAFE_INTEGER
from .._wire_json import plain_text
from .limits import DETAIL_BYTES, DETAIL_DEPTH


def strict_detail(detail: Any) -> Any:
    """None where nothing of it can be kept, or it is too much."""
    try:
        fitted = _Fitting().fit(detail, 0)
        size = len(json.dumps(fitted, ensure_ascii=False, allow_nan=False).encode("utf-8"))
    except Exception:  # What a stranger's object does when it is looked at.
        return None
    return fitted if size <= DETAIL_BYTES else None


def well_formed(text: str) -> str:
    """Halves of surrogate pairs that belong together are joined; what is left of them becomes U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class _Fitting:
    def __init__(self) -> None:
        self._parts = 0

    def fit(self, value: Any, depth: int) -> Any:
        self._parts += 1
        if self._parts > DETAIL_BYTES:
            raise ValueError("more parts than bytes are allowed")
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, enum.Enum):
            return self.fit(value.value, depth + 1)
        if isinstance(value, str):
            return well_formed(plain_text(value))
        if isinstance(value, (int, float)):
            return value if math.isfinite(value) and abs(value) <= SAFE_INTEGER else str(value)
        if isinstance(value, BaseException):
            return well_formed(f"{type(value).__name__}: {value}")
        # Bounded in depth, so one that contains itself ends too.
        if depth >= DETAIL_DEPTH:
            return "…"
        if isinstance(value, Mapping):
            members = ((plain_text(name), member) for name, member in value.items())
            return {well_formed(name): self.fit(member, depth + 1) for name, member in members if name != "__proto__"}
        if isinstance(value, (list, tuple, set, frozenset)):
            return [self.fit(item, depth + 1) for item in value]
        # Models, dataclasses, dates and what else pydantic knows; anything else as it shows itself.
        plain = to_jsonable_python(value, by_alias=True, fallback=str)
        return self.fit(plain if isinstance(plain, (dict, list, str, int, float, bool)) else str(value), depth + 1)
