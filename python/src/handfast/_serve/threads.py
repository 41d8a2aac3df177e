"""The threads that plain handlers run on: as many as there are slots, made when needed, kept for the next handler.

Those of ``concurrent.futures`` are waited for when the interpreter ends; a handler that does not end must not keep a
worker alive that was told to stop, so these are daemons. Where the system has no thread left for the moment, the job is
not taken and the next one is tried anew.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, TypeVar

T = TypeVar("T")

_Job = Callable[[], None]


class NoThread(Exception):
    """The system starts no thread just now: the job was not begun."""


class HandlerThreads(Executor):
    """An executor of daemon threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._idle = 0

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Raises NoThread."""
        future: Future[T] = Future()

        def job() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(fn(*args, **kwargs))
            except BaseException as error:  # Whatever a handler raises is an answer.
                future.set_exception(error)

        with self._lock:
            if self._idle == 0 and self._threads < self._most:
                self._start_one()
            else:
                self._idle = max(0, self._idle - 1)
        self._jobs.put(job)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Idle threads end; those at work end with their handler."""
        with self._lock:
            threads, self._threads = self._threads, 0
        for _ in range(threads):
            self._jobs.put(None)

    def _start_one(self) -> None:
        name = f"handfast-handler-{self._threads + 1}"
        try:
            threading.Thread(target=self._run, name=name, daemon=True).start()
        except (RuntimeError, MemoryError) as error:
            raise NoThread(str(error)) from error
        self._threads += 1

    def _run(self) -> None:
        while True:
            job = self._jobs.get()
            if job is None:
                return
            job()
            # What it did must not outlive it while the thread waits for the next.
            del job
            with self._lock:
                self._idle += 1
