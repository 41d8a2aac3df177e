"""The test relay for tests that block: the same, driven on an event loop of its own, in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from datetime import datetime
from types import TracebackType
from typing import Any, TypeVar, Union

from typing_extensions import Self, Unpack

from .._duration import Duration, to_seconds
from .._generated.views import HandoffEvent, HandoffView
from .._serve.signals import restore_signals
from .._serve.threads import HandlerThreads
from .._settings import ConnectOptions
from .._sync import Client, _open_clients
from ..errors import UsageError
from . import _standstill
from ._async_relay import DEFAULT_START, AsyncTarget, AsyncTestRelay, stopped_error
from ._behaviour import Behaviour
from ._fake import AsyncFake, FakeOptions, Received
from ._peer import Peer
from ._time import LONGEST_WAIT

T = TypeVar("T")


class Fake:
    """Made by ``TestRelay.fake()``: an agent with a script in place of its wits."""

    def __init__(self, fake: AsyncFake, wait: Callable[[Coroutine[Any, Any, None]], None]) -> None:
        self._fake = fake
        self._wait = wait

    @property
    def capability(self) -> str:
        return self._fake.capability

    @property
    def agent(self) -> str:
        return self._fake.agent

    @property
    def received(self) -> list[Received]:
        """Everything that came to it, in order."""
        return self._fake.received

    @property
    def is_running(self) -> bool:
        """Whether a process of it is alive."""
        return self._fake.is_running

    def ready(self) -> None:
        """Returns when its worker is known to the relay; raises where it could not be."""
        self._wait(self._fake.ready())

    def restart(self) -> None:
        """A new process takes the place of one that crashed or was stopped."""
        self._wait(self._fake.restart())

    def stop(self) -> None:
        """Stops in order: what it works on is finished or given back. It may need time: ``relay.until(fake.stop)``."""
        self._wait(self._fake.stop())

    def crash(self) -> None:
        """Dies without a word: its leases are lost when their time is over."""
        self._wait(self._fake.crash())


Target = Union[Fake, Client, str]
"""Whose processes something happens to: a fake, a client, or all of an agent's by its name."""


class TestRelay:
    """For tests that are plain functions. To be used on one thread, but for `sleep`, which is for handlers."""

    __test__ = False

    def __init__(self, *, start_at: datetime = DEFAULT_START, seed: int = 1, command: str | None = None) -> None:
        """Starts a relay with a clock that stands still.

        :param start_at: When virtual time begins.
        :param seed: Of all chance in the relay and its clients: keys, ids, jitter.
        :param command: How `handfast` is started. Default: HANDFAST_COMMAND, else where it is found.
        """
        self._relay = AsyncTestRelay(start_at=start_at, seed=seed, command=command)
        self._clients: list[Client] = []
        self._test = threading.get_ident()
        self._is_stopped = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="handfast-test-relay", daemon=True)
        self._thread.start()
        # A handler on whatever thread can then ask for the time.
        self._sleeper: Peer = self._do(lambda: self._relay._world.peer("the test", is_fake=True))
        world = self._relay._world
        world.threads.watch(lambda future: world.standstill.join(future, _standstill.STANDS_S))

    @property
    def url(self) -> str:
        """Where the relay really listens, for programs that the kit does not know. Their time is real."""
        self._relay._world.standstill.knows_all = False
        return self._relay.url

    @property
    def operator_token(self) -> str:
        """Stands for the operator: connect with ``token=``."""
        return self._relay.operator_token

    def now(self) -> datetime:
        """Virtual time."""
        return self._relay.now()

    def connect(self, agent: str, /, **options: Unpack[ConnectOptions]) -> Client:
        """A client like any other, of an agent with a key of its own."""
        self._check_running()
        peer = self._do(lambda: self._relay._peer(agent, is_fake=False))
        client = Client(**self._relay._merged(peer, options))
        self._clients.append(client)
        self._do(lambda: self._relay._join(client._client, peer, client._loop.loop))
        return client

    def connect_options(self, agent: str) -> ConnectOptions:
        """Options for your own call of ``Client()``, where your code makes the client itself."""
        return self._do(lambda: self._relay.connect_options(agent))

    def fake(self, capability: str, behaviour: Behaviour, **options: Unpack[FakeOptions]) -> Fake:
        """An agent that offers the capability.

        `behaviour` is a handler, or a list of what happens in each attempt: a handler, `crash`, `hang`, `fail(…)`, or
        an output. What is sent after the fake was made finds it there.
        """
        return Fake(self._do(lambda: self._relay.fake(capability, behaviour, **options)), self._wait)

    def advance(self, duration: Duration) -> None:
        """Time passes for relay, clients and workers: each timer at its own moment, and all settles in between."""
        self._wait(self._relay.advance(duration))

    def settle(self) -> None:
        """Lets everything that is under way come to rest, without time passing."""
        self._wait(self._relay.settle())

    def until(self, work: Callable[[], T], *, within: Duration = LONGEST_WAIT) -> T:
        """Lets time pass, timer by timer, until the work is done; a day at most, unless told otherwise.

        The work blocks, such as ``handle.result``, so it is done on another thread: ``relay.until(handle.result)``.
        """
        if not callable(work):
            raise UsageError(
                f"until() got {type(work).__name__}, which is there already.",
                "Give what is to be called, without calling it: relay.until(handle.result), or with a lambda.",
            )
        return self._wait(self._until(work, within))

    async def _until(self, work: Callable[[], T], within: Duration) -> T:
        # A daemon's: work that never ends must not keep the process from ending.
        thread = HandlerThreads(1)
        try:
            return await self._relay.until(self._relay._world.threads.in_thread(work, thread), within=within)
        finally:
            thread.shutdown(wait=False)

    def sleep(self, duration: Duration) -> None:
        """Returns when so much virtual time has passed: for handlers that take their time."""
        seconds = to_seconds(duration, "sleep()")
        if threading.get_ident() == self._test:
            raise UsageError(
                "sleep() was called by the test itself, which is the one to let time pass.",
                "Call relay.advance() there; sleep() is for handlers.",
            )
        if _is_on_a_loop():
            raise UsageError(
                "sleep() was called on an event loop, which it would block.",
                "Make the handler a plain function, which runs on a thread; or make the test async, and await it.",
            )
        self._sleeper.wait(threading.Event(), seconds)

    def crash(self, target: Target) -> None:
        """The process dies without a word: nothing it holds is given back, and nothing it says is heard any more."""
        self._wait(self._relay.crash(_inner(target)))

    def disconnect(self, target: Target, *, silently: bool = False) -> None:
        """Cuts the network between the relay and this client, until `reconnect`.

        :param silently: Nothing gets through, but nobody is told: both sides must find out.
        """
        self._do(lambda: self._relay.disconnect(_inner(target), silently=silently))

    def reconnect(self, target: Target) -> None:
        """Puts the network back, and lets the time pass that the client takes to find its way again."""
        self._wait(self._relay.reconnect(_inner(target)))

    def delay(self, target: Target, by: Duration) -> None:
        """Everything takes so much longer each way."""
        self._do(lambda: self._relay.delay(_inner(target), by))

    def restart(self, *, down: Duration = 0) -> None:
        """The relay stops and starts again on what it knew, after `down`; time passes until its clients are back."""
        self._wait(self._relay.restart(down=down))

    def restart_empty(self, *, down: Duration = 0) -> None:
        """The relay stops and comes back knowing nothing, as one whose disk was lost."""
        self._wait(self._relay.restart_empty(down=down))

    def events(self) -> list[HandoffEvent]:
        """Everything that happened, oldest first."""
        return self._wait(self._relay.events())

    def events_of(self, handoff: Any) -> list[HandoffEvent]:
        """What happened to one handoff, by its handle or its id."""
        return self._wait(self._relay.events_of(handoff))

    def handoff(self, handoff: Any) -> HandoffView:
        """A handoff as it stands, with its input."""
        return self._wait(self._relay.handoff(handoff))

    def dead_letters(self) -> list[HandoffView]:
        """Dead letters that are open, oldest first."""
        return self._wait(self._relay.dead_letters())

    def redrive(self, handoff: Any) -> str:
        """Gives a dead letter another life, as an operator does; the id of the new handoff."""
        return self._wait(self._relay.redrive(handoff))

    def stop(self) -> None:
        """Stops every worker, then lets go of the relay. Nothing is left behind."""
        if self._is_stopped:
            return
        try:
            self._wait(self._stop())
        finally:
            self._is_stopped = True
            for client in self._clients:
                # Not closed in order: its process is dead, as far as the relay knows.
                _open_clients.discard(client)
                client._loop.stop()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
            restore_signals()

    async def _stop(self) -> None:
        self._sleeper.die()
        await self._relay.stop()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await asyncio.get_running_loop().shutdown_asyncgens()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.stop()

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            self._check_running()
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        except BaseException:
            work.close()
            raise
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def _do(self, act: Callable[[], T]) -> T:
        async def done() -> T:
            return act()

        return self._wait(done())

    def _check_running(self) -> None:
        if self._is_stopped:
            raise stopped_error()


def _is_on_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _inner(target: Target) -> AsyncTarget:
    if isinstance(target, Fake):
        return target._fake
    return target._client if isinstance(target, Client) else target
