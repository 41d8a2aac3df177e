"""Who meets a need: the relay's directory, asked by what is needed in place of a name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .._base import Base
from .._generated.views import Hit, Miss
from ..errors import HandoffError
from .need import Need, read_need


@dataclass(frozen=True)
class Found:
    """Who meets a need. Nobody is no error: `hits` is then empty, and `near` says who came nearest."""

    hits: list[Hit]
    """The best first, each with why, what is known of its schemas, its liveness, and its claim beside what was
    measured."""
    found: int
    """How many meet the need in all, of those that were looked at."""
    whole: bool
    """False: more might meet it than are looked at in one call; say more of what is needed."""
    near: list[Miss]
    """Those that do not meet it, the nearest first, and what each lacks."""


_KNOWN = tuple(Need.__annotations__)


async def find(base: Base, words: str | None, limit: int | None, need: Mapping[str, Any]) -> Found:
    body = read_need("find()", words, need, _KNOWN)
    if limit is not None:
        body["limit"] = limit
    try:
        reply = await base.link.call("discover", body=body)
    except HandoffError as error:
        near = list_in(error, "nobody_meets", "near")
        if near is None:
            raise
        return Found([], 0, True, near)
    return Found(reply["hits"], reply["found"], reply["whole"], reply["near"])


def list_in(error: HandoffError, reason: str, name: str) -> list[Any] | None:
    """A list that a refusal for this reason brings, empty where a relay leaves it out; None: it is another error."""
    if error.code != 406 or error.reason != reason:
        return None
    listed = (error.problem or {}).get(name)
    return listed if isinstance(listed, list) else []
