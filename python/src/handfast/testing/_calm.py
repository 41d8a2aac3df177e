"""When this side of a test is at rest: no event loop has anything ready, and no thread is at work."""

from __future__ import annotations

import asyncio

from ._loops import OtherLoops, come_to_rest
from ._threads import Threads

LOOK_S = 0.002
"""Of real time: how often threads that are at work are looked at."""


class Stir:
    """Counts everything that happens. From any thread; it is watched on the kit's own loop."""

    def __init__(self) -> None:
        self.count = 0
        self._loop = asyncio.get_running_loop()
        self._watchers: list[asyncio.Future[None]] = []

    def note(self) -> None:
        """Something happens just now."""
        self.count += 1
        if self._watchers:
            try:
                self._loop.call_soon_threadsafe(self._tell)
            except RuntimeError:  # The test is over.
                pass

    async def since(self, before: int, seconds: float) -> None:
        """Until something has happened since that count, and no longer than this, of real time."""
        watcher = self._loop.create_future()
        self._watchers.append(watcher)
        # What happened before it was listed told nobody.
        if self.count == before:
            await asyncio.wait((watcher,), timeout=seconds)
        if watcher in self._watchers:
            self._watchers.remove(watcher)

    def _tell(self) -> None:
        watchers, self._watchers = self._watchers, []
        for watcher in watchers:
            if not watcher.done():
                watcher.set_result(None)


class Calm:
    """Of the kit's own loop."""

    def __init__(self, stir: Stir, threads: Threads, others: OtherLoops) -> None:
        self._stir = stir
        self._threads = threads
        self._others = others
        # Two that wait for the loop to have nothing left would each see the other.
        self._one = asyncio.Lock()

    async def look(self) -> bool:
        """Whether it is at rest now. False: what still moves was given a moment."""
        before = self._stir.count
        # Threads first: what they left for an event loop, before they began to wait, is done there by then.
        if self._threads.at_work():
            await self._stir.since(before, LOOK_S)
            return False
        async with self._one:
            await come_to_rest()
            await self._others.come_to_rest()
        return self._stir.count == before and not self._threads.at_work()

    async def reach(self) -> None:
        while not await self.look():
            pass
