"""One wait that many share.

It begins with the first who waits and is given up when the last of them has gone; what it came to is kept, a failure is
not: whoever waits after that begins anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class SharedWait(Generic[T]):
    """Of one event loop."""

    def __init__(self, begin: Callable[[], Coroutine[Any, Any, T]]) -> None:
        self._begin = begin
        self._running: asyncio.Task[T] | None = None
        self._waiting = 0
        self._value: tuple[T] | None = None

    def settle(self, value: T) -> None:
        """It is known by other means."""
        self._value = (value,)

    async def join(self) -> T:
        if self._value is not None:
            return self._value[0]
        running = self._running
        if running is None:
            running = self._running = asyncio.ensure_future(self._begin())
            self._waiting = 0
            running.add_done_callback(self._over)
        self._waiting += 1
        try:
            return await asyncio.shield(running)
        finally:
            if running is self._running:
                self._waiting -= 1
                if self._waiting == 0:
                    self._running = None
                    running.cancel()

    def _over(self, task: asyncio.Task[T]) -> None:
        if task is self._running:
            self._running = None
        # Asking for its error says that it was seen, also where nobody waits any more.
        if not task.cancelled() and task.exception() is None:
            self._value = (task.result(),)
