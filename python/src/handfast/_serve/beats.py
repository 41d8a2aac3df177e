"""Heartbeats, from threads of their own over connections of their own.

A handler that blocks, on its thread or on the event loop itself, keeps its lease while the process lives. One thread
waits for what is due next and sends it; while it does, another waits, because a beat may hang on a dead connection and
must not hold up those of other leases. Only code that holds Python's global lock for longer than the lease, as some
extensions written in C do, keeps them from beating.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Final

from .._base import Base
from .._link import ThreadLink
from ..errors import HandoffError, RelayUnreachable
from .faults import message_of
from .held import Held
from .limits import BEAT_MOST_S, BEAT_THREADS, BEATS

_FINAL: Final = frozenset([403, 404, 408, 410, 412])
"""Codes after which a lease is never heard of again."""
_ENOUGH: Final = 2
_LONG_S: Final = 3_600.0
"""With nothing to beat: until it is told otherwise."""


@dataclass
class _Beating:
    held: Held
    interval: float
    due_at: float
    is_on_its_way: bool = False


class Beats:
    """Of one server. May be used from any thread."""

    def __init__(self, base: Base) -> None:
        self._base = base
        self._link: ThreadLink = base.thread_link()
        self._lock = threading.Lock()
        self._leases: dict[tuple[str, int], _Beating] = {}
        self._threads = 0
        self._waiting: list[threading.Event] = []
        """Of each thread that waits, what wakes it."""
        self._is_closed = False
        self._warned: set[str] = set()

    def start(self) -> None:
        """Before the first lease: a handler that blocks at once must find it beating."""
        with self._lock:
            self._spawn()

    def hold(self, held: Held) -> None:
        interval = min(held.lease["lease_ms"] / 1_000 / BEATS, BEAT_MOST_S)
        with self._lock:
            due_at = self._base.surroundings.monotonic() + interval
            self._leases[held.key] = _Beating(held, interval, due_at)
            self._wake()
            self._let_another_wait()

    def drop(self, held: Held) -> None:
        """Its turn comes and finds nothing: most leases are over long before their first beat."""
        with self._lock:
            self._leases.pop(held.key, None)

    def close(self) -> None:
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            self._leases.clear()
            self._wake()
        self._link.close()

    def _spawn(self) -> None:
        self._base.surroundings.spawn(self._run, f"handfast-heartbeats-{self._threads + 1}")
        self._threads += 1

    def _wake(self) -> None:
        for wake in self._waiting:
            wake.set()

    def _run(self) -> None:
        wake = threading.Event()
        is_needed = True
        while is_needed:
            try:
                is_needed = self._round(wake)
            except Exception as error:  # No fault, of one beat or of a system without memory, ends those of all leases.
                self._warn(error)

    def _round(self, wake: threading.Event) -> bool:
        """Whether another one follows on this thread."""
        with self._lock:
            wake.clear()
            due, wait = self._next()
            # Two are enough while nothing hangs.
            if self._is_closed or (due is None and len(self._waiting) > 0 and self._threads > _ENOUGH):
                self._threads -= 1
                return False
            if due is None:
                self._waiting.append(wake)
            else:
                due.is_on_its_way = True
                self._let_another_wait()
        if due is not None:
            self._beat(due)
            return True
        try:
            self._base.surroundings.wait(wake, wait)
        finally:
            with self._lock:
                self._waiting.remove(wake)
        return True

    def _next(self) -> tuple[_Beating | None, float]:
        """What is due now; else how long until something is."""
        now = self._base.surroundings.monotonic()
        waiting = [beating for beating in self._leases.values() if not beating.is_on_its_way]
        first = min(waiting, key=lambda beating: beating.due_at, default=None)
        if first is None:
            return None, _LONG_S
        return (first, 0.0) if first.due_at <= now else (None, first.due_at - now)

    def _let_another_wait(self) -> None:
        is_alone = len(self._leases) == 1
        if is_alone or self._waiting or self._threads >= BEAT_THREADS:
            return
        try:
            self._spawn()
        except (RuntimeError, MemoryError):  # The system has no thread left: then one after the other.
            pass

    def _beat(self, beating: _Beating) -> None:
        """Whether or not it is answered, the next one follows: this one may be lost on a connection that died in
        silence."""
        held = beating.held
        started_at = self._base.surroundings.monotonic()
        over: HandoffError | None = None
        pause = beating.interval / 2
        try:
            held.hear(
                self._link.call(
                    "heartbeat",
                    params={"id": held.id},
                    body=held.holder,
                    patience=beating.interval,
                    answer=beating.interval,
                )
            )
            pause = beating.interval
        except HandoffError as error:
            # Anything else than a last word is no reason to give up the work.
            over = error if error.code in _FINAL else None
        except RelayUnreachable:
            pause = beating.interval
        finally:
            with self._lock:
                beating.is_on_its_way = False
                beating.due_at = started_at + pause
                is_over = over is not None and self._leases.get(held.key) is beating
                if is_over:
                    del self._leases[held.key]
        if is_over and over is not None:
            held.end_from_thread(over)

    def _warn(self, error: Exception) -> None:
        """It goes on: the next beat may do better. Once for each kind."""
        kind = type(error).__name__
        if self._is_closed or kind in self._warned:
            return
        self._warned.add(kind)
        message = f"A heartbeat of {self._base.agent} failed, and the next is tried all the same: {message_of(error)}"
        self._base.warn("heartbeat_failed", message)
