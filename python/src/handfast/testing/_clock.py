"""A clock that stands still until it is told to move. Timers go off one at a time, in the order of their moments."""

from __future__ import annotations

import heapq
import itertools
import math
import threading
from collections.abc import Callable


class _Timer:
    __slots__ = ("at", "number", "run")

    def __init__(self, at: int, number: int, run: Callable[[], None]) -> None:
        self.at = at
        self.number = number
        self.run: Callable[[], None] | None = run

    def __lt__(self, other: _Timer) -> bool:
        # Of two timers of one moment the one that was set first.
        return (self.at, self.number) < (other.at, other.number)


class VirtualClock:
    """Milliseconds since 1970. May be asked, and timers set, from any thread; one thread moves it."""

    def __init__(self, now: int, on_set: Callable[[], None] = lambda: None) -> None:
        """`on_set` is told whenever a timer is set: something is going on."""
        self._now = now
        self._on_set = on_set
        self._lock = threading.Lock()
        self._timers: list[_Timer] = []
        self._numbers = itertools.count()

    def now(self) -> int:
        return self._now

    def after(self, ms: float, run: Callable[[], None]) -> Callable[[], None]:
        """Runs it once, on the thread that moves the clock; the answer calls it off."""
        with self._lock:
            # What was a whole number of milliseconds before it was written as seconds stays one.
            timer = _Timer(self._now + max(0, math.ceil(ms - 1e-6)), next(self._numbers), run)
            heapq.heappush(self._timers, timer)
        self._on_set()

        def call_off() -> None:
            timer.run = None

        return call_off

    def next_at(self) -> int | None:
        """When the next timer goes off; None: none is set."""
        with self._lock:
            timer = self._next()
            return None if timer is None else timer.at

    def fire_next(self, until: int) -> bool:
        """Moves to the next timer that is due by then and runs it; False: there is none."""
        with self._lock:
            timer = self._next()
            if timer is None or timer.at > until:
                return False
            heapq.heappop(self._timers)
            self._now = max(self._now, timer.at)
            run = timer.run
        if run is not None:
            run()
        return True

    def move_to(self, at: int) -> None:
        """Moves on without running anything."""
        with self._lock:
            self._now = max(self._now, at)

    def _next(self) -> _Timer | None:
        while self._timers and self._timers[0].run is None:
            heapq.heappop(self._timers)
        return self._timers[0] if self._timers else None
