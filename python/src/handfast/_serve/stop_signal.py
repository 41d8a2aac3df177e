"""What tells a handler to stop, whatever thread it runs on and whatever its event loop is busy with."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from .._surroundings import Surroundings
from .signals import is_of_process

_LONG_S: Final = 3_600.0


class StopSignal:
    """Set once, for good, from any thread, with the error that says why.

    Set when the handoff is canceled or expired, when the lease is lost, and when the worker stops.
    """

    def __init__(self, surroundings: Surroundings, on_fault: Callable[[BaseException], None]) -> None:
        """`on_fault` is told what a listener raised, on whatever thread."""
        self._surroundings = surroundings
        self._on_fault = on_fault
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._reason: Exception | None = None
        self._listeners: list[Callable[[], None]] = []

    @property
    def is_set(self) -> bool:
        """Whether the handler is to stop."""
        return self._event.is_set()

    @property
    def reason(self) -> Exception | None:
        """Why: an error with ``reason`` (and ``code``, of a HandoffError). None: it is not set."""
        return self._reason

    @property
    def event(self) -> threading.Event:
        """For what can wait for an event; never to be set by others."""
        return self._event

    def wait(self, timeout: float | None = None) -> bool:
        """Blocks until it is set, or so many seconds. Whether it is set."""
        if timeout is not None:
            return self._surroundings.wait(self._event, timeout)
        while not self._surroundings.wait(self._event, _LONG_S):
            pass
        return True

    def check(self) -> None:
        """Raises the reason, if it is set. A loop that calls it in each round stops in time."""
        if self._reason is not None:
            raise self._reason

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Calls once when it is set, on the thread that sets it, or at once if it is; the answer lets go.

        Listeners are called in the order in which they came; what one raises is a warning, and the next is called.
        """
        with self._lock:
            if not self._event.is_set():
                self._listeners.append(listener)
                return lambda: self._forget(listener)
        self._call(listener)
        return lambda: None

    def set(self, reason: Exception) -> None:
        with self._lock:
            if self._event.is_set():
                return
            self._reason = reason
            self._event.set()
            listeners, self._listeners = self._listeners, []
        for listener in listeners:
            self._call(listener)

    def _call(self, listener: Callable[[], None]) -> None:
        """The thread is the heartbeats' or the event loop's: it goes on, whatever a handler's own function raises."""
        try:
            listener()
        except BaseException as error:
            if is_of_process(error):
                raise
            self._on_fault(error)

    def _forget(self, listener: Callable[[], None]) -> None:
        with self._lock:
            if listener in self._listeners:
                self._listeners.remove(listener)
