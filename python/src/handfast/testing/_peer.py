"""One process of a test, as far as a client can tell: clock, chance, threads and an end of the network, all its own."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import TypeVar

import httpx

from ._clock import VirtualClock
from ._network import End, Network
from ._threads import Threads
from ._transport import ThreadTransport, Transport

T = TypeVar("T")


class Peer:
    """The Surroundings of a client in this world. From any thread."""

    def __init__(
        self, agent: str, name: str, network: Network, threads: Threads, chance: random.Random, end: End
    ) -> None:
        self.agent = agent
        self.name = name
        self.end = end
        self._network = network
        self._threads = threads
        self._chance = chance
        self._lock = threading.Lock()
        # What ends each of its waits when it dies.
        self._waits: dict[Callable[[], None], None] = {}
        self._is_gone = False

    @property
    def is_gone(self) -> bool:
        return self._is_gone

    @property
    def is_away(self) -> bool:
        """It has lost its relay and waits to try again; one that has nothing to say does not."""
        return not self._is_gone and self.end.is_broken and not self.end.calls and bool(self._waits)

    def die(self) -> None:
        """Dies without a word: no timer of it runs any more, nothing it says is heard. On the kit's loop."""
        self._is_gone = True
        with self._lock:
            waits, self._waits = self._waits, {}
        for end in waits:
            end()
        self.end.leave()

    def now(self) -> int:
        return self._clock.now()

    def monotonic(self) -> float:
        return self._clock.now() / 1_000

    def random(self) -> float:
        return self._chance.random()

    def random_bytes(self, count: int) -> bytes:
        return self._chance.randbytes(count)

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        loop = asyncio.get_running_loop()
        if loop is not self._network.loop:
            self._network.others.touch(loop)
        over: asyncio.Future[None] = loop.create_future()

        def wake() -> None:
            if not over.done():
                over.set_result(None)

        def die() -> None:
            self._tell(loop, over.cancel)

        self._begin(die)
        call_off = self._clock.after(seconds * 1_000, lambda: self._tell(loop, wake))
        try:
            await over
        finally:
            call_off()
            self._end(die)

    def wait(self, event: threading.Event, seconds: float) -> bool:
        """On the event's own condition: whoever sets it, and the clock, can wake who waits there."""
        if event.is_set():
            return True
        condition: threading.Condition = event._cond  # type: ignore[attr-defined]
        is_due = False

        def wake() -> None:
            nonlocal is_due
            with condition:
                is_due = True
                condition.notify_all()

        self._begin(wake)
        call_off = self._clock.after(seconds * 1_000, wake) if seconds < threading.TIMEOUT_MAX else lambda: None
        try:
            with self._threads.waiting(lambda: not event.is_set() and not is_due), condition:
                condition.wait_for(lambda: event.is_set() or is_due)
        finally:
            call_off()
            self._end(wake)
        if self._is_gone:
            raise SystemExit
        return event.is_set()

    def spawn(self, run: Callable[[], None], name: str) -> threading.Thread:
        return self._threads.spawn(run, name)

    async def in_thread(self, work: Callable[[], T], executor: Executor | None = None) -> T:
        return await self._threads.in_thread(work, executor)

    def join(self, future: Future[T]) -> T:
        return self._threads.join(future)

    def transport(self) -> httpx.AsyncBaseTransport | None:
        return Transport(self._network, self.end)

    def thread_transport(self) -> httpx.BaseTransport | None:
        return ThreadTransport(self._network, self.end, self._threads)

    def _tell(self, loop: asyncio.AbstractEventLoop, news: Callable[[], object]) -> None:
        """The clock moves on the kit's own loop."""
        if loop is self._network.loop:
            news()
            return
        self._network.others.touch(loop)
        try:
            loop.call_soon_threadsafe(news)
        except RuntimeError:  # It is closed: nobody sleeps there.
            pass

    @property
    def _clock(self) -> VirtualClock:
        return self._network.clock

    def _begin(self, die: Callable[[], None]) -> None:
        with self._lock:
            self._waits[die] = None
        if self._is_gone:
            die()

    def _end(self, die: Callable[[], None]) -> None:
        with self._lock:
            self._waits.pop(die, None)
