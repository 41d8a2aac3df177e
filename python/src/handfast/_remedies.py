"""For every status code and every reason: why it happens and what to do. The tables come from the protocol's own."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any


@dataclass(frozen=True)
class Status:
    """One row of the table of status codes."""

    code: int
    name: str
    title: str
    mended_by: str
    retryable: bool
    """True when the same request, unchanged, may succeed later."""
    meaning: str


@dataclass(frozen=True)
class Remedy:
    """Why something happens and what to do."""

    cause: str
    remedy: str
    anchor: str
    """Where it stands in docs/errors.md."""


def generated(name: str) -> Any:
    """A table that scripts/generate-python.ts wrote."""
    return json.loads((resources.files("handfast") / "_generated" / name).read_text(encoding="utf-8"))


@cache
def _statuses() -> dict[int, Status]:
    return {row["code"]: Status(**row) for row in generated("status_codes.json")}


@cache
def _remedies() -> Any:
    return generated("remedies.json")


def status_of(code: int) -> Status | None:
    """The row of a known code; None for any other number."""
    return _statuses().get(code)


def remedy_of(code: int, reason: str | None = None) -> Remedy:
    """By the reason, where it is known; else by the code. Code 0: no relay said it."""
    tables = _remedies()
    for row in tables["reasons"].get(reason, ()):
        # An agent's own reason may be spelt like one of the relay's: only with the right code it is that one.
        if code == 0 or not row["codes"] or code in row["codes"]:
            return Remedy(row["cause"], row["remedy"], row["anchor"])
    known = code if code in _statuses() else 500 if code >= 500 else 400 if code >= 400 else 200
    return Remedy(**tables["codes"][str(known)])
