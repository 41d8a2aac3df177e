"""Time, chance, threads and the network, given from outside so that a test can rule them."""

from __future__ import annotations

import asyncio
import contextvars
import os
import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Protocol, TypeVar

import httpx

T = TypeVar("T")


class Surroundings(Protocol):
    """What the client asks of the world around it. Safe to be asked from any thread."""

    def now(self) -> int:
        """Milliseconds since 1970, as the wire counts."""

    def monotonic(self) -> float:
        """Seconds of a clock that never goes back."""

    async def sleep(self, seconds: float) -> None:
        """For tasks. Every timeout of the client is such a sleep, so that a test's clock rules them all."""

    def wait(self, event: threading.Event, seconds: float) -> bool:
        """For threads: until the event is set, and no longer than this. Whether it is set."""

    def random(self) -> float:
        """From 0 up to, not including, 1."""

    def random_bytes(self, count: int) -> bytes:
        """Unguessable: salts and keys are made of them."""

    # A test's clock moves on only when everything is at rest, so it must know of every thread that is at work: those
    # that the client starts come from here, and where one waits for an event loop it says so here.

    def spawn(self, run: Callable[[], None], name: str) -> threading.Thread:
        """Starts a thread of the client's own, such as that of the heartbeats. It keeps no process alive."""

    async def in_thread(self, work: Callable[[], T], executor: Executor | None = None) -> T:
        """What the work comes to, done in a thread because it may block: a plain handler. Canceled, the thread
        goes on."""

    def join(self, future: Future[T]) -> T:
        """For threads: what the future comes to. It is an event loop's, such as one of run_coroutine_threadsafe."""

    def transport(self) -> httpx.AsyncBaseTransport | None:
        """The way to the relay for an httpx.AsyncClient; None: httpx's own."""

    def thread_transport(self) -> httpx.BaseTransport | None:
        """The same for an httpx.Client, which blocks its thread."""


class RealSurroundings:
    """The system's own clock, randomness, threads and network."""

    def now(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def wait(self, event: threading.Event, seconds: float) -> bool:
        return event.wait(min(seconds, threading.TIMEOUT_MAX))

    def random(self) -> float:
        return random.random()

    def random_bytes(self, count: int) -> bytes:
        return os.urandom(count)

    def spawn(self, run: Callable[[], None], name: str) -> threading.Thread:
        thread = threading.Thread(target=run, name=name, daemon=True)
        thread.start()
        return thread

    async def in_thread(self, work: Callable[[], T], executor: Executor | None = None) -> T:
        context = contextvars.copy_context()
        return await asyncio.get_running_loop().run_in_executor(executor, lambda: context.run(work))

    def join(self, future: Future[T]) -> T:
        return future.result()

    def transport(self) -> httpx.AsyncBaseTransport | None:
        return None

    def thread_transport(self) -> httpx.BaseTransport | None:
        return None


real_surroundings: Surroundings = RealSurroundings()
