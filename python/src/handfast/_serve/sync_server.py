"""A running worker for the synchronous client: the same, and everything blocks."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Callable, Coroutine
from types import TracebackType

from .._duration import Duration
from .._link import closed_error
from .._surroundings import Surroundings
from ..errors import UsageError
from .server import Server
from .signals import watch_signals


class SyncServer:
    """Works on its client's own event loop, on another thread."""

    def __init__(self, server: Server, loop: asyncio.AbstractEventLoop, surroundings: Surroundings) -> None:
        self._server = server
        self._loop = loop
        self._surroundings = surroundings

    def __repr__(self) -> str:
        return repr(self._server).replace("Server", "SyncServer", 1)

    @property
    def agent(self) -> str:
        return self._server.agent

    @property
    def worker(self) -> str:
        """The name of this process among the workers of its agent."""
        return self._server.worker

    @property
    def active(self) -> int:
        """Leases that it holds now."""
        return self._server.active

    @property
    def is_stopping(self) -> bool:
        """True as well once it has stopped."""
        return self._server.is_stopping

    def stopped(self) -> None:
        """Blocks until it has stopped, by whatever cause: a signal, ``stop()`` on another thread, the client's end."""
        self._wait(self._server.stopped)

    def stop(self, grace: Duration | None = None) -> None:
        """Takes nothing more, lets handlers end within the grace, and gives back what is left."""
        self._wait(lambda: self._server.stop(grace))

    def watch_signals(self) -> None:
        """Stops it in order on SIGTERM and SIGINT. Only the main thread can listen to them: elsewhere nothing
        happens."""
        self._server.on_stopped(watch_signals(self._server))

    def __enter__(self) -> SyncServer:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.stop()

    def _wait(self, work: Callable[[], Coroutine[None, None, None]]) -> None:
        if _running_loop() is self._loop:
            raise UsageError(
                "The worker was used on its own event loop, which would wait for itself.",
                "Stop it from another thread; an async handler can ask for that with asyncio.to_thread(server.stop).",
            )
        coroutine = work()
        try:
            future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        except RuntimeError:  # The loop is closed.
            coroutine.close()
            return self._check_stopped()
        try:
            self._surroundings.join(future)
        except concurrent.futures.CancelledError:  # The loop ended under it.
            self._check_stopped()

    def _check_stopped(self) -> None:
        """A client that closes stops its workers first: then there is nothing to wait for."""
        if not self._server.has_stopped:
            raise closed_error()


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
