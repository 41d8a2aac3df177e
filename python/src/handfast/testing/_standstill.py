"""A plain test that blocks for what only time can bring, though nobody but the test itself could let time pass.

Its thread would wait for ever, and the whole test run with it. So when it has blocked for a while it is found out:
everything is at rest, time does not pass, and nothing real is under way that could still bring what it waits for, be it
a thread at work, a timer or a socket of an event loop, or a program that the kit does not know.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
from typing import Any, Final, TypeVar

from ..errors import UsageError
from ._loops import OtherLoops
from ._network import Network
from ._threads import Threads
from ._time import VirtualTime

T = TypeVar("T")

STANDS_S: Final = 5.0
"""Of real time: how long a test blocks before it is asked whether that is for nothing."""


class Standstill:
    """Looks after the test's own thread, for one test relay."""

    def __init__(self, time: VirtualTime, network: Network, threads: Threads, others: OtherLoops) -> None:
        self._time = time
        self._network = network
        self._threads = threads
        self._others = others
        self.knows_all = True
        """False: the test has the relay's real address, and whoever it gave that to may be at work."""

    def join(self, future: concurrent.futures.Future[T], stands_s: float) -> T:
        """What the future comes to, for the test's thread; raises where it would never come to anything."""
        while not concurrent.futures.wait((future,), stands_s).done:
            looking = asyncio.run_coroutine_threadsafe(self._is_for_nothing(), self._network.loop)
            if concurrent.futures.wait((looking,), stands_s).done and looking.result() and not future.done():
                raise UsageError(
                    "The test waits, everything is at rest, and nobody lets time pass: it would wait for ever.",
                    "Let time pass until it is there, such as relay.until(handle.result), or first: "
                    'relay.advance("5m").',
                    "nobody_moves_the_clock",
                )
            looking.cancel()
        return future.result()

    async def _is_for_nothing(self) -> bool:
        if not self.knows_all or self._time.is_passing or self._is_something_real():
            return False
        return await self._time.is_at_rest() and not self._is_something_real()

    def _is_something_real(self) -> bool:
        """Whether anything is under way besides what the kit itself does."""
        loops = [(self._network.loop, self._network.connections), *((loop, 0) for loop in self._others.known())]
        return self._threads.at_real_work() or any(_awaits_something_real(loop, ours) for loop, ours in loops)


def _awaits_something_real(loop: Any, ours: int) -> bool:
    """Whether it has timers, sockets or threads of others. One that shows nothing of that, such as uvloop, has none."""
    timers = [timer for timer in getattr(loop, "_scheduled", ()) if not timer.cancelled()]
    selector = getattr(loop, "_selector", None)
    sockets = (selector.get_map() or ()) if selector is not None else ()
    # One is the loop's own, by which other threads wake it.
    return bool(timers) or len(sockets) > ours + 1 or _is_busy(getattr(loop, "_default_executor", None))


def _is_busy(executor: Any) -> bool:
    """As far as one of concurrent.futures shows it."""
    idle = getattr(executor, "_idle_semaphore", None)
    return idle is not None and idle._value < len(executor._threads)
