"""SIGTERM and SIGINT.

The first stops every worker of the process in order, and then the process ends with 0, unless somebody waits for a
worker's end, or listens to the signal too: those have an end of their own in mind. A second signal ends the process
as if nobody had listened. One listener serves all workers, and goes with the last of them. A process that is forked off
has no workers, and its signals are its own.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Final, Protocol


class ProcessEnd(SystemExit):
    """Ends the process after its workers have stopped, letting everything on the way out tidy up."""


def is_of_process(error: BaseException) -> bool:
    """Whether it says that the process is to end, and not what somebody's function came to.

    Signals are heard on the main thread alone: on any other these are exceptions like all others.
    """
    is_main = threading.current_thread() is threading.main_thread()
    return is_main and isinstance(error, (KeyboardInterrupt, ProcessEnd))


class Stoppable(Protocol):
    """A worker, as the signals see it."""

    @property
    def is_awaited(self) -> bool:
        """Whether somebody waits for its end."""

    def stop_soon(self, done: Callable[[], None]) -> None:
        """From any thread; `done` is called, on any thread, once it has stopped."""


_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


class _Watch:
    """All of this is one per process: so are signals."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._servers: set[Stoppable] = set()
        self._before: dict[int, Any] = {}
        self._mask = threading.local()
        self._left = 0
        self._is_stopping = False
        self._is_ending = False

    def add(self, server: Stoppable) -> Callable[[], None]:
        """The answer ends the watching. Only the main thread may listen to signals: elsewhere nothing is watched."""
        if threading.current_thread() is not threading.main_thread():
            return lambda: None
        with self._lock:
            if not self._before:
                for number in _SIGNALS:
                    self._listen(number)
            self._servers.add(server)
        return lambda: self._remove(server)

    def _listen(self, number: signal.Signals) -> None:
        before = signal.getsignal(number)
        # One that is ignored, as in a background job of a shell, stays ignored.
        if before is not None and before is not signal.SIG_IGN:
            self._before[number] = before
            signal.signal(number, self._on_signal)

    def _remove(self, server: Stoppable) -> None:
        with self._lock:
            self._servers.discard(server)
            self.restore_if_idle()

    def restore_if_idle(self) -> None:
        with self._lock:
            if not self._servers and not self._is_stopping:
                self._restore()

    def hold_back(self) -> None:
        """Before a fork: a signal to the new process waits until that listens for itself, and is not lost."""
        self._mask.before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS) if self._before else None

    def let_through(self) -> None:
        """After it, in both."""
        before, self._mask.before = getattr(self._mask, "before", None), None
        if before is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def forget(self) -> None:
        """In a process that was forked off: a signal there is not for the workers, which stayed behind."""
        # Whoever held the old one, at the moment of the fork, is not here to let go of it.
        self._lock = threading.RLock()
        self._servers = set()
        self._left = 0
        self._is_stopping = self._is_ending = False
        self._restore()
        self.let_through()

    def _restore(self) -> None:
        """On another thread than the main one that is impossible: then the listener stays, and hands on what it
        hears."""
        if threading.current_thread() is not threading.main_thread():
            return
        for number, before in self._before.items():
            # Bound methods are made anew each time: the same one is only equal.
            if signal.getsignal(number) == self._on_signal:
                signal.signal(number, before)
        self._before.clear()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        with self._lock:
            before = self._before.get(number)
            servers = list(self._servers)
            is_first = not self._is_stopping
            if self._is_ending or not servers or not is_first:
                is_ending = self._is_ending
                self._is_ending = self._is_stopping = False
                self._restore()
                if is_ending:
                    raise ProcessEnd(0)
                # As if nobody had listened.
                _send_to_main(number)
                return
            self._is_stopping = True
            self._left = len(servers)
        for server in servers:
            server.stop_soon(lambda: self._stopped(number, servers))
        if callable(before) and not _is_default(before):
            before(number, frame)

    def _stopped(self, number: int, servers: list[Stoppable]) -> None:
        with self._lock:
            self._left -= 1
            if self._left > 0 or not self._is_stopping:
                return
            is_ours_alone = _is_default(self._before.get(number))
            if not is_ours_alone or any(server.is_awaited for server in servers):
                self._is_stopping = False
                self._restore()
                return
            self._is_ending = True
        _send_to_main(number)


def _send_to_main(number: int) -> None:
    """To that thread, so that whatever it waits for is interrupted."""
    ident = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and ident is not None:
        signal.pthread_kill(ident, number)
    else:
        signal.raise_signal(number)


def _is_default(handler: Any) -> bool:
    """What asyncio.run() installs counts as such: it would cancel everything at once, before anything was given
    back."""
    function = getattr(handler, "func", None)
    is_of_asyncio = getattr(function, "__qualname__", "") == "Runner._on_sigint"
    return handler in (signal.SIG_DFL, signal.default_int_handler, None) or is_of_asyncio


_watch = _Watch()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_watch.hold_back, after_in_parent=_watch.let_through, after_in_child=_watch.forget)


def watch_signals(server: Stoppable) -> Callable[[], None]:
    """Stops this server on SIGTERM and SIGINT; the answer ends the watching."""
    return _watch.add(server)


def restore_signals() -> None:
    """Lets go of them where no worker is left: the last may have ended on a thread that could not. Main thread only."""
    _watch.restore_if_idle()
