"""A list that entries come into and leave by being dealt with (outcomes by being taken, questions by being answered),
as a stream: each entry once, and then those that come.

The relay's order is that of the handoffs' acceptance, so a newcomer can stand anywhere: the list is read from its
beginning each time. The mark that came with it lets the next call wait until something has come into it since,
whatever else still stays in it.
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


def open_calls(base: Base) -> AsyncGenerator[dict[str, Any], None]:
    """Calls for proposals that are put to this agent, for as long as they are followed."""
    return _newcomers(base, "proposals", "proposals", True)


async def _newcomers(base: Base, operation: str, entries: str, follow: bool) -> AsyncGenerator[dict[str, Any], None]:
    known: set[str] = set()
    since: str | None = None
    pause = PAUSE_LEAST
    while True:
        asked_at = base.surroundings.monotonic()
        listed: set[str] = set()
        is_news = False
        mark: str | None = None
        async for page in _pages(base, operation, follow, since):
            mark = mark or page["mark"]
            for entry in page[entries]:
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
        since = mark
        pause = PAUSE_LEAST if is_news else min(pause * 2, PAUSE_MOST)
        # A relay whose marks never last must not be asked without a pause.
        has_waited = base.surroundings.monotonic() - asked_at >= PAUSE_LEAST
        if not is_news and not has_waited:
            await base.surroundings.sleep(pause)


async def _pages(base: Base, operation: str, follow: bool, since: str | None) -> AsyncGenerator[dict[str, Any], None]:
    """The whole list once, page by page.

    Whoever follows waits for what may come in a year: a relay that is away is waited for as long.
    """
    patience = math.inf if follow else None
    # Calls for proposals all fit on one page.
    query = {"since": since} if operation == "proposals" else {"limit": PAGE, "since": since}
    page = await base.link.call(operation, query=query, wait=WAIT if follow else None, patience=patience)
    yield page
    while page.get("cursor") is not None:
        page = await base.link.call(operation, query={"limit": PAGE, "cursor": page["cursor"]}, patience=patience)
        yield page
