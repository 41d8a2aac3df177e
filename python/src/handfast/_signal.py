"""A signal that ends waits, with the error that they end with: a client that closes, a handoff that is over."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


class Signal:
    """Set once, for good. Of one event loop, like everything it ends."""

    def __init__(self) -> None:
        self._error: BaseException | None = None
        self._listeners: dict[Callable[[], None], None] = {}

    @property
    def error(self) -> BaseException | None:
        """What it was set with; None: it is not set."""
        return self._error

    @property
    def is_set(self) -> bool:
        return self._error is not None

    def set(self, error: BaseException) -> None:
        if self._error is not None:
            return
        self._error = error
        listeners, self._listeners = self._listeners, {}
        for listener in listeners:
            listener()

    def check(self) -> None:
        """Raises its error, if it is set."""
        if self._error is not None:
            raise self._error

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Called once when it is set, at once if it is; the answer lets go."""
        if self._error is not None:
            listener()
            return lambda: None
        self._listeners[listener] = None
        return lambda: self._listeners.pop(listener, None)


async def unless(wait: Awaitable[T], *signals: Signal | None) -> T:
    """What the wait comes to; the error of the first signal that is set before. The wait is canceled with it."""
    given = [signal for signal in signals if signal is not None]
    task = asyncio.ensure_future(wait)

    def give_up() -> None:
        task.cancel()

    hung_up = [signal.listen(give_up) for signal in given]
    try:
        for signal in given:
            signal.check()
        return await task
    except asyncio.CancelledError:
        # Canceled by a signal, and not by whoever waits here: those are told what it was.
        if task.cancelled():
            for signal in given:
                signal.check()
        raise
    finally:
        for hang_up in hung_up:
            hang_up()
        if not task.done():
            task.cancel()


async def within(
    sleep: Callable[[float], Awaitable[None]],
    seconds: float | None,
    wait: Awaitable[T],
    late: Callable[[], BaseException],
) -> T:
    """What the wait comes to, if that is within these seconds by this clock; else it is canceled and `late` is
    raised."""
    if seconds is None or seconds == float("inf"):
        return await wait
    task = asyncio.ensure_future(wait)
    timer = asyncio.ensure_future(sleep(seconds))
    try:
        await asyncio.wait((task, timer), return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise late()
    finally:
        timer.cancel()
        if not task.done():
            task.cancel()
            # Whatever it still has to let go of is let go before the caller goes on.
            await asyncio.wait((task,))
        elif not task.cancelled():
            # Both came at once: its error was seen.
            task.exception()
