"""Event loops that have nothing left to do, as far as one can tell from within."""

from __future__ import annotations

import asyncio
import threading
import weakref

MOST_TURNS = 5_000
"""A test that asks again and again, without a pause, whether something has happened, is not waited for."""
UNSEEN_TURNS = 50
"""Where a loop does not show what it has ready, such as uvloop: as many turns as any sensible chain of tasks takes."""


async def come_to_rest() -> None:
    """Until the running loop has nothing ready but this, though it asked the system for news. One at a time."""
    ready = getattr(asyncio.get_running_loop(), "_ready", None)
    if ready is None:
        for _ in range(UNSEEN_TURNS):
            await asyncio.sleep(0)
        return
    for _ in range(MOST_TURNS):
        # In each turn the loop asks the system for news first, and what there is comes behind this.
        await asyncio.sleep(0)
        if not ready:
            return


class OtherLoops:
    """Loops besides the kit's own on which clients live: those of the synchronous clients.

    To ask one whether it has come to rest takes a while, so only those are asked to which something has come meanwhile.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: weakref.WeakSet[asyncio.AbstractEventLoop] = weakref.WeakSet()
        self._touched: weakref.WeakSet[asyncio.AbstractEventLoop] = weakref.WeakSet()
        self._is_touched = False

    def touch(self, loop: asyncio.AbstractEventLoop) -> None:
        """Something is about to come to this one. From any thread."""
        with self._lock:
            self._known.add(loop)
            self._touched.add(loop)
            self._is_touched = True

    def touch_all(self) -> None:
        with self._lock:
            self._touched.update(self._known)
            self._is_touched = True

    def known(self) -> list[asyncio.AbstractEventLoop]:
        with self._lock:
            return [loop for loop in self._known if loop.is_running()]

    async def come_to_rest(self) -> None:
        if not self._is_touched:
            return
        with self._lock:
            running = [loop for loop in self._touched if loop.is_running()]
            self._touched.clear()
            self._is_touched = False
        for loop in running:
            coroutine = come_to_rest()
            try:
                rested = asyncio.run_coroutine_threadsafe(coroutine, loop)
            except RuntimeError:  # It was closed just now.
                coroutine.close()
                continue
            while not rested.done() and loop.is_running():
                await asyncio.wait((asyncio.wrap_future(rested),), timeout=0.1)
