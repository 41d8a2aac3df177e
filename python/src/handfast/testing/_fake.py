"""An agent that a test makes up: a real worker of a real client, with a script in place of its wits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Protocol, TypedDict, TypeVar

from .._client import AsyncClient
from .._duration import Duration
from .._serve import AsyncContext, CapabilityDefinition, Context
from .._serve.limits import CONCURRENCY
from .._serve.signature import MISSING, is_async, shape_of
from .._serve.threads import HandlerThreads
from ._behaviour import Behaviour, Crash, Step, step_for
from ._peer import Peer

T = TypeVar("T")


class FakeOptions(TypedDict, total=False):
    """Besides these, whatever a capability is declared with."""

    agent: str
    """Default: the capability's name and a number. Fakes of one agent are its workers."""
    concurrency: int
    """Handoffs worked on at once. Default: 10."""
    input: Any
    output: Any
    timeout: Duration
    description: str
    version: str
    tags: list[str]
    idempotent: bool
    ext: dict[str, Any]


@dataclass(frozen=True)
class Received:
    """One time that a handoff came to a fake."""

    id: str
    attempt: int
    input: Any


class Stage(Protocol):
    """What a fake needs of the test relay."""

    async def enter(self, agent: str) -> tuple[AsyncClient, Peer]:
        """A new process of the agent, with a name of its own."""

    def kill(self, peer: Peer) -> None:
        """Ends it and its workers without a word."""

    def start(self, start: Callable[[], Coroutine[Any, Any, T]]) -> asyncio.Task[T]:
        """After the fakes before it; everything that the test says from now on is heard after this one has started."""


class AsyncFake:
    """Made by ``AsyncTestRelay.fake()``."""

    def __init__(self, stage: Stage, capability: str, agent: str, behaviour: Behaviour, options: FakeOptions) -> None:
        self.capability = capability
        self.agent = agent
        self.received: list[Received] = []
        """Everything that came to it, in order."""
        self._stage = stage
        self._behaviour = behaviour
        self._options = options
        self._threads = HandlerThreads(options.get("concurrency", CONCURRENCY))
        self._running: tuple[AsyncClient, Peer] | None = None
        self._starting: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """For the test relay: it starts, on the event loop that runs now."""
        self._starting = self._begin()

    @property
    def is_running(self) -> bool:
        """Whether a process of it is alive."""
        return self._running is not None

    async def ready(self) -> None:
        """Returns when its worker is known to the relay; raises where it could not be."""
        if self._starting is not None:
            await asyncio.shield(self._starting)

    async def restart(self) -> None:
        """A new process takes the place of one that crashed or was stopped."""
        await self.ready()
        if self._running is None:
            self.begin()
            await self.ready()

    async def stop(self) -> None:
        """Stops in order: what it works on is finished or given back."""
        await self.ready()
        running, self._running = self._running, None
        if running is not None:
            await running[0].close()

    async def crash(self) -> None:
        """Dies without a word: its leases are lost when their time is over."""
        await self.ready()
        self._die()

    def _begin(self) -> asyncio.Task[None]:
        starting = self._stage.start(self._start)
        # Whoever waits for anything of this fake is told; until then it is nobody's unhandled error.
        starting.add_done_callback(lambda task: task.cancelled() or task.exception())
        return starting

    async def _start(self) -> None:
        client, peer = await self._stage.enter(self.agent)
        told = {**self._types(), **self._options}
        concurrency = told.pop("concurrency", None)
        told.pop("agent", None)
        definition = CapabilityDefinition(handler=self._handle, **told)
        slots = {} if concurrency is None else {"concurrency": concurrency}
        await client.serve({self.capability: definition}, worker=peer.name, signals=False, **slots)
        self._running = (client, peer)

    def _types(self) -> dict[str, Any]:
        """A handler with types gets what they say, as with any other worker."""
        if not callable(self._behaviour):
            return {}
        shape = shape_of(self._behaviour, self.capability, {}, must_read=False)
        given = {"input": shape.input_type, "output": shape.output_type}
        return {side: type_ for side, type_ in given.items() if type_ is not MISSING and type_ is not type(None)}

    async def _handle(self, input: Any, ctx: AsyncContext) -> Any:
        self.received.append(Received(ctx.handoff["id"], ctx.attempt, input))
        result = await self._perform(step_for(self._behaviour, ctx.attempt), input, ctx)
        if not isinstance(result, Crash):
            return result
        # As a supervisor would: the dead process is replaced by a new one.
        self._die()
        self.begin()
        return await asyncio.Event().wait()

    async def _perform(self, step: Step, input: Any, ctx: AsyncContext) -> Any:
        if not callable(step):
            return step
        shape = shape_of(step, self.capability, {}, must_read=False)
        runs_here = is_async(step)
        context: AsyncContext | Context = ctx if runs_here else Context(ctx._workings)
        words = [input] if shape.takes_input else []
        named: dict[str, Any] = {}
        if shape.takes_context and shape.context_name is not None:
            named[shape.context_name] = context
        elif shape.takes_context:
            words.append(context)
        if runs_here:
            return await step(*words, **named)
        work = ctx._workings.surroundings.in_thread(lambda: step(*words, **named), self._threads)
        result = await _told_by_signal(work)
        return await result if asyncio.iscoroutine(result) else result

    def _die(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            self._stage.kill(running[1])


async def _told_by_signal(work: Coroutine[Any, Any, T]) -> T:
    """A plain handler is told to stop by its signal, and goes on; the async one that stands for it here is canceled."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        return await task
