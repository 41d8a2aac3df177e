"""Durations as people write them: seconds as a number, a number with its unit, or a timedelta."""

from __future__ import annotations

import math
import re
from datetime import timedelta
from typing import Union

from .errors import UsageError

Duration = Union[int, float, str, timedelta]
"""Seconds, a text such as ``"250ms"``, ``"60s"``, ``"5m"``, ``"2h"``, ``"7d"``, or a ``timedelta``."""

_UNIT_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_SHAPE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(ms|s|m|h|d)")


def to_ms(duration: Duration, what: str, most_ms: int | None = None) -> int:
    """In whole milliseconds, as the wire has them.

    ``what`` names the option in the error; more than ``most_ms`` is refused.
    """
    ms = _read(duration)
    if most_ms is not None and ms > most_ms:
        raise UsageError(f"{what} is {duration!r}, which is too long.", f"Give {_span(most_ms)} at most.")
    if math.isfinite(ms) and ms >= 0:
        return math.floor(ms + 0.5)
    raise UsageError(
        f"{what} is {duration!r}, which is not a duration.",
        'Give seconds as a number, a text such as "250ms", "60s", "5m", "2h" or "7d", or a timedelta.',
    )


def to_seconds(duration: Duration, what: str) -> float:
    """The same in seconds, for waits on this side.

    ``math.inf`` is not a duration: whoever wants no end leaves it out.
    """
    return to_ms(duration, what) / 1_000


def _span(ms: int) -> str:
    """In days or minutes, of which every limit is a whole number."""
    return f"{ms // 86_400_000} days" if ms % 86_400_000 == 0 else f"{ms // 60_000} minutes"


def _read(duration: object) -> float:
    if isinstance(duration, timedelta):
        return duration / timedelta(milliseconds=1)
    if isinstance(duration, bool):
        return math.nan
    if isinstance(duration, (int, float)):
        return _product(duration, 1_000)
    found = _SHAPE.fullmatch(duration.strip()) if isinstance(duration, str) else None
    return math.nan if found is None else _product(float(found[1]), _UNIT_MS[found[2]])


def _product(number: float, unit_ms: int) -> float:
    try:
        return float(number * unit_ms)
    except OverflowError:
        return math.inf
