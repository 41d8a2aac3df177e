"""Which threads are at work, so that time does not pass while one of them is.

A thread that the clients started (the heartbeats', that of a plain handler) is at work until it ends, but for the times
in which it waits for the clock, an event or an event loop. One that waits for something real, a network or another
program, cannot be told from one that computes: when it has not moved for a while, time goes on without it.
"""

from __future__ import annotations

import asyncio
import contextvars
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any, TypeVar

from ._loops import OtherLoops

T = TypeVar("T")

STUCK_S = 0.5
"""Of real time, without a step in between."""


class _Work:
    def __init__(self) -> None:
        self.thread: int | None = None
        """None: it has not started yet."""
        self.is_done = False
        self.is_abandoned = False
        self.place: tuple[int, int] | None = None
        """Where it stood when it was last looked at."""
        self.stands_since = 0.0


class Threads:
    """Of one test relay. From any thread."""

    def __init__(self, on_change: Callable[[], None], others: OtherLoops) -> None:
        self._on_change = on_change
        self._others = others
        self._lock = threading.Lock()
        self._works: set[_Work] = set()
        # By thread: whether what it waits for has not come yet.
        self._waits: dict[int, Callable[[], bool]] = {}
        self._joins: dict[int, Callable[[Future[Any]], Any]] = {}

    def spawn(self, run: Callable[[], None], name: str) -> threading.Thread:
        work = self._begin()

        def body() -> None:
            work.thread = threading.get_ident()
            try:
                run()
            except SystemExit:
                # The process it belongs to is dead: see Peer.
                pass
            finally:
                self._end(work)

        thread = threading.Thread(target=body, name=name, daemon=True)
        try:
            thread.start()
        except RuntimeError:
            self._end(work)
            raise
        return thread

    async def in_thread(self, run: Callable[[], T], executor: Executor | None = None) -> T:
        """Counts as work until its result has arrived here, or, where nobody waits for that any more, until it ends."""
        work = self._begin()
        context = contextvars.copy_context()
        loop = asyncio.get_running_loop()

        def body() -> T:
            work.thread = threading.get_ident()
            try:
                return context.run(run)
            finally:
                self._others.touch(loop)
                with self._lock:
                    work.is_done = True
                    if work.is_abandoned:
                        self._works.discard(work)

        try:
            return await loop.run_in_executor(executor, body)
        finally:
            with self._lock:
                work.is_abandoned = True
                # One that never started is not waited for either: its executor dropped it.
                if work.is_done or work.thread is None:
                    self._works.discard(work)
            self._on_change()

    def join(self, future: Future[T]) -> T:
        """What a future of any event loop comes to."""
        # Whose it is cannot be told.
        self._others.touch_all()
        return self.join_kit(future)

    def join_kit(self, future: Future[T]) -> T:
        """The same for one of the kit's own loop, which is looked at anyway."""
        join: Callable[[Future[T]], T] = self._joins.get(threading.get_ident(), Future.result)
        with self.waiting(lambda: not future.done()):
            return join(future)

    def watch(self, join: Callable[[Future[Any]], Any]) -> None:
        """This thread, which is the test's, waits for futures in this way."""
        self._joins[threading.get_ident()] = join

    @contextmanager
    def waiting(self, is_in_vain: Callable[[], bool]) -> Iterator[None]:
        """This thread waits as long as that is so; from then on it is at work, though it may not know yet."""
        thread = threading.get_ident()
        before = self._waits.get(thread)
        self._waits[thread] = is_in_vain
        self._on_change()
        try:
            yield
        finally:
            self._on_change()
            if before is None:
                del self._waits[thread]
            else:
                self._waits[thread] = before

    def at_work(self) -> bool:
        """Whether any does something just now."""
        with self._lock:
            works = list(self._works)
        # Every one is looked at, so that those who stand still are found out together.
        return any([self._is_at_work(work) for work in works])

    def at_real_work(self) -> bool:
        """Whether any does something, or waits for something that is not the kit's: a network, another program."""
        with self._lock:
            works = list(self._works)
        return any(not work.is_done and (work.thread is None or work.thread not in self._waits) for work in works)

    def _is_at_work(self, work: _Work) -> bool:
        if work.is_done:
            return not work.is_abandoned
        if work.thread is None:
            return True
        is_in_vain = self._waits.get(work.thread)
        if is_in_vain is not None and is_in_vain():
            work.place = None
            return False
        frame = sys._current_frames().get(work.thread)
        if frame is None:
            return False
        place = (id(frame), frame.f_lasti)
        if is_in_vain is not None or place != work.place:
            work.place = place
            work.stands_since = time.monotonic()
            return True
        return time.monotonic() - work.stands_since < STUCK_S

    def _begin(self) -> _Work:
        work = _Work()
        with self._lock:
            self._works.add(work)
        self._on_change()
        return work

    def _end(self, work: _Work) -> None:
        with self._lock:
            self._works.discard(work)
        self._on_change()
