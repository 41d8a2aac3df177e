"""Calls made in the background, such as takes: tried again by the link, awaited by `close()`, warned of if they
fail."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any

from .._base import Base
from .._signal import within
from ..errors import HandfastError
from .limits import ERRAND_GRACE


class Errands:
    """Of one client."""

    def __init__(self, base: Base) -> None:
        self._base = base
        self._open: set[asyncio.Task[Any]] = set()

    def run(self, reason: str, failed: str, handoff: str, errand: Awaitable[object]) -> None:
        """Runs it now. `failed` begins the sentence that a person reads, such as "The outcome was not taken"."""
        self.keep(asyncio.ensure_future(self._done(reason, failed, handoff, errand)))

    def keep(self, task: asyncio.Task[Any]) -> None:
        """Held until it is through: the event loop itself would let go of a task that nobody holds."""
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def settled(self) -> None:
        """Until none is left, also of those that began meanwhile; or until it has waited long enough for them."""
        try:
            await within(self._base.surroundings.sleep, ERRAND_GRACE, self._all(), TimeoutError)
        except TimeoutError:
            pass

    async def _all(self) -> None:
        while self._open:
            await asyncio.wait(set(self._open))

    async def _done(self, reason: str, failed: str, handoff: str, errand: Awaitable[object]) -> None:
        try:
            await errand
        except HandfastError as error:
            self._base.warn(reason, f"{failed}: {error.message}", handoff)
