"""A relay for one test, the clients and fakes around it, and the clock that all of them share.

Time passes only when the test says so; everything else is the relay and the client as they always are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from datetime import datetime, timezone
from types import TracebackType
from typing import Any, TypeVar, Union

import httpx
from typing_extensions import Self, Unpack

from .._client import AsyncClient, connect
from .._duration import Duration, to_ms
from .._generated.views import HandoffEvent, HandoffView
from .._serve import crash_server
from .._settings import ConnectOptions
from ..errors import UsageError
from ._behaviour import Behaviour, check_behaviour
from ._command import find_command
from ._fake import AsyncFake, FakeOptions
from ._network import End
from ._peer import Peer
from ._process import RelayProcess, acquire, release
from ._time import LONGEST_WAIT
from ._transport import Transport
from ._world import World

T = TypeVar("T")

AsyncTarget = Union[AsyncFake, AsyncClient, str]
"""Whose processes something happens to: a fake, a client, or all of an agent's by its name."""

DEFAULT_START = datetime(2026, 1, 1, tzinfo=timezone.utc)
RECONNECT_MOST_MS = 60_000
"""A client that lost its relay tries again within five seconds, and one that hears nothing notices within a minute."""
CLOSE_MOST_MS = 120_000
"""Longer than any grace within which clients and workers close."""


class AsyncTestRelay:
    """For tests that are async functions. Of one event loop: that on which it is first used."""

    __test__ = False

    def __init__(self, *, start_at: datetime = DEFAULT_START, seed: int = 1, command: str | None = None) -> None:
        """Starts a relay with a clock that stands still.

        :param start_at: When virtual time begins.
        :param seed: Of all chance in the relay and its clients: keys, ids, jitter.
        :param command: How `handfast` is started. Default: HANDFAST_COMMAND, else where it is found.
        """
        begins = start_at if start_at.tzinfo is not None else start_at.replace(tzinfo=timezone.utc)
        self._seed = seed
        self._process: RelayProcess | None
        self._process, self._beginning = acquire(find_command(command), seed, round(begins.timestamp() * 1_000))
        self._opened: World | None = None
        self._peers: list[Peer] = []
        self._clients: list[_Member] = []
        self._fakes: list[AsyncFake] = []
        self._early: list[AsyncFake] = []
        self._stopping: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        """Where the relay really listens, for programs that the kit does not know. Their time is real."""
        return str(self._beginning["url"])

    @property
    def operator_token(self) -> str:
        """Stands for the operator: connect with ``token=``."""
        return str(self._beginning["operator_token"])

    def now(self) -> datetime:
        """Virtual time."""
        ms = self._beginning["now"] if self._opened is None else self._opened.clock.now()
        return datetime.fromtimestamp(ms / 1_000, timezone.utc)

    async def connect(self, agent: str, /, **options: Unpack[ConnectOptions]) -> AsyncClient:
        """A client like any other, of an agent with a key of its own."""
        client, _ = await self._connect(agent, options, is_fake=False)
        return client

    def connect_options(self, agent: str) -> ConnectOptions:
        """Options for your own call of ``connect()``, where your code makes the client itself."""
        return self._world.connect_options(self._peer(agent, is_fake=False))

    def fake(self, capability: str, behaviour: Behaviour, **options: Unpack[FakeOptions]) -> AsyncFake:
        """An agent that offers the capability.

        `behaviour` is a handler, or a list of what happens in each attempt: a handler, `crash`, `hang`, `fail(…)`, or
        an output. What is sent after the fake was made finds it there.
        """
        check_behaviour(capability, behaviour)
        self._check_running()
        number = sum(fake.capability == capability for fake in self._fakes) + 1
        agent = options.get("agent", f"{capability}-{number}")
        fake = AsyncFake(_Stage(self), capability, agent, behaviour, options)
        if self._opened is None and _running_loop() is None:
            # Made by a plain fixture, before there is a loop: it begins with the test.
            self._early.append(fake)
        else:
            self._open()
            fake.begin()
        self._fakes.append(fake)
        return fake

    async def advance(self, duration: Duration) -> None:
        """Time passes for relay, clients and workers: each timer at its own moment, and all settles in between."""
        await self._ready()
        await self._world.time.advance(duration)

    async def settle(self) -> None:
        """Lets everything that is under way come to rest, without time passing."""
        await self._ready()
        await self._world.time.settle()

    async def until(self, awaitable: Awaitable[T], *, within: Duration = LONGEST_WAIT) -> T:
        """Lets time pass, timer by timer, until it is done; a day at most, unless told otherwise."""
        wanted = asyncio.ensure_future(awaitable)
        # It may fail while fakes start; whoever called this is told then.
        wanted.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            await self._ready()
            return await self._world.time.until(wanted, within)
        finally:
            if not wanted.done() and wanted is not awaitable:
                wanted.cancel()

    async def sleep(self, duration: Duration) -> None:
        """Returns when so much virtual time has passed: for handlers that take their time."""
        over = asyncio.Event()
        call_off = self._world.clock.after(to_ms(duration, "sleep()"), over.set)
        try:
            await over.wait()
        finally:
            call_off()

    async def crash(self, target: AsyncTarget) -> None:
        """The process dies without a word: nothing it holds is given back, and nothing it says is heard any more."""
        await self._ready()
        for fake in self._fakes:
            if fake is target or fake.agent == target:
                await fake.crash()
        if not isinstance(target, AsyncFake):
            for peer in self._peers_of(target):
                self._kill(peer)
        await self._world.time.settle()

    def disconnect(self, target: AsyncTarget, *, silently: bool = False) -> None:
        """Cuts the network between the relay and this client, until `reconnect`.

        :param silently: Nothing gets through, but nobody is told: both sides must find out.
        """
        for peer in self._peers_of(target):
            if silently:
                peer.end.silence()
            else:
                peer.end.cut()

    async def reconnect(self, target: AsyncTarget) -> None:
        """Puts the network back, and lets the time pass that the client takes to find its way again."""
        peers = self._peers_of(target)
        for peer in peers:
            peer.end.restore()
        await self._pass_until_connected(peers)

    def delay(self, target: AsyncTarget, by: Duration) -> None:
        """Everything takes so much longer each way."""
        ms = to_ms(by, "delay()")
        for peer in self._peers_of(target):
            peer.end.delay_ms = ms

    async def restart(self, *, down: Duration = 0) -> None:
        """The relay stops and starts again on what it knew, after `down`; time passes until its clients are back."""
        await self._restart(down, is_empty=False)

    async def restart_empty(self, *, down: Duration = 0) -> None:
        """The relay stops and comes back knowing nothing, as one whose disk was lost."""
        await self._restart(down, is_empty=True)

    async def events(self) -> list[HandoffEvent]:
        """Everything that happened, oldest first."""
        await self.settle()
        return self._events({})

    async def events_of(self, handoff: Any) -> list[HandoffEvent]:
        """What happened to one handoff, by its handle or its id."""
        await self.settle()
        return self._events({"handoff": id_of(handoff)})

    async def handoff(self, handoff: Any) -> HandoffView:
        """A handoff as it stands, with its input."""
        await self.settle()
        view: HandoffView = await self._ask("GET", f"/v1/handoffs/{id_of(handoff)}?input=true")
        return view

    async def dead_letters(self) -> list[HandoffView]:
        """Dead letters that are open, oldest first."""
        await self.settle()
        page = await self._ask("GET", "/v1/dead-letters?limit=500")
        letters: list[HandoffView] = page["dead_letters"]
        return letters

    async def redrive(self, handoff: Any) -> str:
        """Gives a dead letter another life, as an operator does; the id of the new handoff."""
        await self.settle()
        return str((await self._ask("POST", f"/v1/dead-letters/{id_of(handoff)}/redrive"))["redriven_as"])

    async def stop(self) -> None:
        """Stops every worker, then lets go of the relay. Nothing is left behind."""
        if self._stopping is None:
            self._stopping = asyncio.ensure_future(self._stop())
        await asyncio.shield(self._stopping)

    def abandon(self) -> None:
        """The same without an event loop, where the test's own is gone already: nobody is told."""
        process, self._process = self._process, None
        if process is not None:
            release(process)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self.stop()

    @property
    def _world(self) -> World:
        return self._opened if self._opened is not None else self._open()

    def _open(self) -> World:
        if self._opened is None:
            if self._process is None:
                raise stopped_error()
            self._opened = World(self._process, self._beginning, self._seed)
            early, self._early = self._early, []
            for fake in early:
                fake.begin()
        return self._opened

    async def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        try:
            if self._opened is not None:
                await self._close(self._opened)
        except BaseException:
            # Whatever state it is in, nobody should meet it again.
            process.stop()
            raise
        release(process)

    async def _close(self, world: World) -> None:
        for peer in self._peers:
            peer.end.restore()
        await world.time.order({"do": "resume"})
        await self._pass(asyncio.gather(*world.network.starting, return_exceptions=True))
        stops = [_on(member.loop, server.stop(0)) for member in self._clients for server in member.client._servers]
        await self._pass(asyncio.gather(*stops, return_exceptions=True))
        for peer in self._peers:
            self._kill(peer)
        await world.network.close()

    async def _pass(self, done: asyncio.Future[Any], most_ms: int = CLOSE_MOST_MS) -> None:
        """Lets time pass until it is done, or for so long."""
        if await self._world.time.pass_until(done.done, most_ms):
            await done

    async def _connect(self, agent: str, options: ConnectOptions, is_fake: bool) -> tuple[AsyncClient, Peer]:
        self._check_running()
        peer = self._peer(agent, is_fake)
        client = await connect(**self._merged(peer, options))
        self._join(client, peer, asyncio.get_running_loop())
        return client, peer

    def _join(self, client: AsyncClient, peer: Peer, loop: asyncio.AbstractEventLoop) -> None:
        self._clients.append(_Member(client, peer, loop))

    def _merged(self, peer: Peer, options: ConnectOptions) -> ConnectOptions:
        here = self._world.connect_options(peer)
        if "token" in options:
            # A token says itself whom it stands for.
            del here["key"], here["agent"]
        here.update(options)
        return here

    def _kill(self, peer: Peer) -> None:
        for client in [member for member in self._clients if member.peer is peer]:
            # Before it learns in any other way that its time is over.
            client.crash()
        peer.die()

    def _peer(self, agent: str, is_fake: bool) -> Peer:
        peer = self._world.peer(agent, is_fake)
        self._peers.append(peer)
        return peer

    async def _ready(self) -> None:
        """A fake that could not start is told here, where somebody waits. While the relay is away, it needs time."""
        self._check_running()
        if self._open().network.loop is not asyncio.get_running_loop():
            raise UsageError(
                "This test relay was first used on another event loop.", "Use it on one, such as that of the test."
            )
        starting = [fake.ready() for fake in self._fakes]
        if starting:
            await self._pass(asyncio.gather(*starting), RECONNECT_MOST_MS)

    def _check_running(self) -> None:
        """After the stop nothing would ever answer: better told than waited for."""
        if self._process is None:
            raise stopped_error()

    def _peers_of(self, target: AsyncTarget) -> list[Peer]:
        name = target if isinstance(target, str) else target.agent if isinstance(target, AsyncFake) else None
        own = next((member.peer for member in self._clients if member.client is target), None)
        peers = [peer for peer in self._peers if peer.agent == name] if own is None else [own]
        if peers:
            return [peer for peer in peers if not peer.is_gone]
        raise unknown_target(name)

    async def _restart(self, down: Duration, is_empty: bool) -> None:
        await self._ready()
        time = self._world.time
        await time.settle()
        await time.order({"do": "pause"})
        await time.advance(down)
        await time.order({"do": "resume", "empty": is_empty})
        await self._pass_until_connected([peer for peer in self._peers if not peer.end.is_cut])

    async def _pass_until_connected(self, peers: list[Peer]) -> None:
        await self._world.time.pass_until(lambda: not any(peer.is_away for peer in peers), RECONNECT_MOST_MS)

    def _events(self, about: dict[str, str]) -> list[HandoffEvent]:
        events: list[HandoffEvent] = self._world.network.ask({"do": "events", **about})["events"]
        return events

    async def _ask(self, method: str, path: str) -> Any:
        network = self._world.network
        headers = {"authorization": f"Bearer {self.operator_token}", "host": "relay.test"}
        body: dict[str, Any] | None = {} if method == "POST" else None
        async with httpx.AsyncClient(transport=Transport(network, End())) as http:
            response = await http.request(method, self._world.name + path, headers=headers, json=body)
        answer = response.json()
        if response.is_success:
            return answer
        raise UsageError(
            answer.get("detail", f"The relay answered {response.status_code}."), "Check the id.", "refused"
        )


@dataclass(frozen=True)
class _Member:
    """A client that the kit made, and the loop it lives on."""

    client: AsyncClient
    peer: Peer
    loop: asyncio.AbstractEventLoop

    def crash(self) -> None:
        def crash() -> None:
            for server in list(self.client._servers):
                crash_server(server)

        if self.loop is asyncio.get_running_loop():
            crash()
        elif self.loop.is_running():
            self.loop.call_soon_threadsafe(crash)


def _on(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T]) -> asyncio.Future[T]:
    if loop is asyncio.get_running_loop():
        return asyncio.ensure_future(work)
    return asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, loop))


class _Stage:
    """What fakes see of their relay."""

    def __init__(self, relay: AsyncTestRelay) -> None:
        self._relay = relay

    async def enter(self, agent: str) -> tuple[AsyncClient, Peer]:
        return await self._relay._connect(agent, {"on_warning": lambda _: None}, is_fake=True)

    def kill(self, peer: Peer) -> None:
        self._relay._kill(peer)

    def start(self, start: Callable[[], Coroutine[Any, Any, T]]) -> asyncio.Task[T]:
        """One fake after the other, so that every run begins the same."""
        starting = self._relay._world.network.starting
        before = tuple(starting)

        async def begin() -> T:
            if before:
                await asyncio.wait(before)
            return await start()

        task = asyncio.ensure_future(begin())
        starting[task] = None
        task.add_done_callback(lambda _: starting.pop(task, None))
        return task


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def id_of(handoff: Any) -> str:
    return handoff if isinstance(handoff, str) else str(handoff.id)


def stopped_error() -> UsageError:
    return UsageError("This test relay was stopped.", "Stop it last, or make another.", "stopped")


def unknown_target(name: str | None) -> UsageError:
    what = "This client is not one of this test relay." if name is None else f"No agent {name} is connected yet."
    return UsageError(
        what,
        "Use a client of relay.connect(), the name of an agent that has connected, or a fake of relay.fake() that has "
        "started: wait for its ready().",
        "unknown_target",
    )
