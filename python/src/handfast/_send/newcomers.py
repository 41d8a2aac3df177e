"""A list that entries come into and leave by being dealt with (outcomes by being taken, questions by being answered),
as a stream: each entry once, and then those that come.

The relay's order is that of the handoffs' acceptance, so a newcomer can stand anywhere: the list is read from its
beginning each time. While it is empty one call waits for the next entry. While something stays in it a wait would be
answered at once, so there the list is looked at again after a pause, which grows while nothing is new.
"""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator
from typing import Any

from .._base import Base
from .limits import PAGE, PAUSE_LEAST, PAUSE_MOST, WAIT


def untaken(base: Base, follow: bool) -> AsyncGenerator[dict[str, Any], None]:
    """Outcomes that were never taken."""
    return _newcomers(base, "outcomes", "handoffs", follow)


def open_questions(base: Base, follow: bool) -> AsyncGenerator[dict[str, Any], None]:
    """Open questions put to this agent."""
    return _newcomers(base, "questions", "questions", follow)


async def _newcomers(base: Base, operation: str, entries: str, follow: bool) -> AsyncGenerator[dict[str, Any], None]:
    known: set[str] = set()
    pause = PAUSE_LEAST
    while True:
        listed: set[str] = set()
        is_news = False
        async for entry in _scan(base, operation, entries, follow, follow and not known):
            listed.add(entry["id"])
            if entry["id"] in known:
                continue
            known.add(entry["id"])
            is_news = True
            yield entry
        if not follow:
            return
        # Kept as short as the list: what is no longer in it never comes back.
        known = listed
        pause = PAUSE_LEAST if is_news else min(pause * 2, PAUSE_MOST)
        # What was news may have been dealt with by now: then the next look may wait for more.
        if not is_news and known:
            await base.surroundings.sleep(pause)


async def _scan(
    base: Base, operation: str, entries: str, follow: bool, waits: bool
) -> AsyncGenerator[dict[str, Any], None]:
    """The whole list once, page by page; waiting for its first entry, if asked to.

    Whoever follows waits for what may come in a year: a relay that is away is waited for as long.
    """
    cursor: str | None = None
    while True:
        page = await base.link.call(
            operation,
            query={"limit": PAGE, "cursor": cursor},
            wait=WAIT if waits and cursor is None else None,
            patience=math.inf if follow else None,
        )
        for entry in page[entries]:
            yield entry
        cursor = page["cursor"]
        if cursor is None:
            return
