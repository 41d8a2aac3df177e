"""Handles and scatters for code that blocks.

`wait` runs something on the event loop that they live on, and blocks for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, TypeVar

from ._duration import Duration
from ._generated.views import HandoffView, ProgressView, Receipt
from ._send.follow import AsyncChunks
from ._send.handle import AsyncHandle, Out
from ._send.proofs import Proven
from ._send.scatter import AsyncScatter, AsyncSettled
from .errors import HandoffError

T = TypeVar("T")


class Wait(Protocol):
    """Runs it on the loop, and returns what it comes to."""

    def __call__(self, work: Coroutine[Any, Any, T], /) -> T: ...


def iterate(source: AsyncGenerator[T, None], wait: Wait) -> Generator[T, None, None]:
    """The same, blocking for each. Leaving the loop lets go of it."""

    under_way: asyncio.Task[Any] | None = None

    async def following() -> tuple[T] | None:
        nonlocal under_way
        under_way = asyncio.current_task()
        try:
            return (await anext(source),)
        except StopAsyncIteration:
            return None

    async def leave() -> None:
        # Where the wait for the next one was given up, by Ctrl-C for instance, it is just letting go of the source.
        if under_way is not None:
            await asyncio.wait((under_way,))
        await source.aclose()

    try:
        while (item := wait(following())) is not None:
            yield item[0]
    finally:
        wait(leave())


class Chunks:
    """Streamed text, piece by piece, until the handoff ends. The outcome alone is authoritative."""

    def __init__(self, chunks: AsyncChunks, wait: Wait) -> None:
        self._chunks = chunks
        self._wait = wait

    def __iter__(self) -> Generator[str, None, None]:
        return iterate(aiter(self._chunks), self._wait)

    def text(self) -> str:
        """All text of the last attempt, once the handoff has ended."""
        return self._wait(self._chunks.text())


class Handle(Generic[Out]):
    """One handoff that was given away.

    Cheap to keep, and safe to use from many threads at once: waits for the same thing share one call. No wait that ends
    early, by a timeout or a broken connection, cancels anything.
    """

    def __init__(self, handle: AsyncHandle[Out], wait: Wait) -> None:
        """Made by the client."""
        self._handle = handle
        self._wait = wait

    def __repr__(self) -> str:
        return repr(self._handle).replace("AsyncHandle", "Handle")

    @property
    def id(self) -> str:
        return self._handle.id

    @property
    def receipt(self) -> Receipt | None:
        """The relay's word that it is durable; None where the handle was made from an id."""
        return self._handle.receipt

    @property
    def correlation(self) -> str | None:
        """The group it belongs to; None until it is known, after `client.handle(id)`."""
        return self._handle.correlation

    @property
    def view(self) -> HandoffView | None:
        """The newest that this handle has seen of it, without asking; None before that."""
        return self._handle.view

    @property
    def progress(self) -> ProgressView | None:
        """The newest progress that this handle has heard of; `events()` and `status()` bring more."""
        return self._handle.progress

    def acknowledged(self, *, timeout: Duration | None = None) -> HandoffView:
        """Returns once an agent has it and takes it. Raises if it ended before that.

        :param timeout: Raises WaitOver after so long; the handoff goes on.
        """
        return self._wait(self._handle.acknowledged(timeout=timeout))

    def result(self, *, timeout: Duration | None = None, take: bool = True, verify: bool | None = None) -> Out:
        """The output, once it is there: as the type that `expects` named when it was sent, else as plain JSON.

        Raises a HandoffError when it ended otherwise: `code` and `name` say how, `remedy` what to do.

        :param timeout: Raises WaitOver after so long; the handoff goes on.
        :param take: Confirm to the relay, in the background, that the outcome is here.
        :param verify: Check the recipient's own signature under the outcome. Default: where it was demanded when
            sending.
        """
        return self._wait(self._handle.result(timeout=timeout, take=take, verify=verify))

    def outcome(self, *, timeout: Duration | None = None, take: bool = True, verify: bool | None = None) -> HandoffView:
        """The same as a whole, however it ended: only a broken wait raises."""
        return self._wait(self._handle.outcome(timeout=timeout, take=take, verify=verify))

    def events(self) -> Generator[dict[str, Any], None, None]:
        """Everything that happens to it, from its beginning to its end: events of the log, and progress between
        them."""
        return iterate(self._handle.events(), self._wait)

    def chunks(self, *, on_restart: Callable[[], None] | None = None) -> Chunks:
        """The text that its worker streams.

        :param on_restart: Another attempt began: what came before belongs to one that was lost, and the text begins
            anew. It is called on the client's own thread.
        """
        return Chunks(self._handle.chunks(on_restart=on_restart), self._wait)

    def cancel(self, reason: str | None = None) -> HandoffView:
        """Calls it off. The first commit wins: after an end, the answer is that end."""
        return self._wait(self._handle.cancel(reason))

    def take(self) -> HandoffView:
        """Confirms to the relay that the outcome is here. Idempotent."""
        return self._wait(self._handle.take())

    def status(self) -> HandoffView:
        """How it goes now."""
        return self._wait(self._handle.status())

    def proofs(self) -> Proven:
        """Every receipt of its life with the documents, each signature checked here and not by the relay."""
        return self._wait(self._handle.proofs())


@dataclass(frozen=True)
class Settled(Generic[Out]):
    """What became of one task of a scatter."""

    status: Literal["completed", "failed", "open"]
    """``open``: not ended when the time was over; it goes on."""
    index: int
    """Its place among the tasks."""
    handle: Handle[Out]
    output: Out | None = None
    """Of one that is completed."""
    error: HandoffError | None = None
    """Of one that failed."""


class Scatter(Generic[Out]):
    """Many handoffs under one correlation. What is decided early cancels the rest, unless `keep` was asked for.

    A ``for`` loop gives each as it ends.
    """

    def __init__(self, scatter: AsyncScatter[Out], wait: Wait) -> None:
        """Made by the client."""
        self._scatter = scatter
        self._wait = wait

    @property
    def correlation(self) -> str:
        """What `client.gather()` finds them by, also after a restart."""
        return self._scatter.correlation

    def handles(self) -> list[Handle[Out]]:
        """One per task, in the order of the tasks; raises if they were not accepted."""
        return [Handle(handle, self._wait) for handle in self._wait(self._scatter.handles())]

    def all(self, *, timeout: Duration | None = None) -> list[Out]:
        """All outputs in the order of the tasks. Raises with the first failure, and then cancels the rest."""
        return self._wait(self._scatter.all(timeout=timeout))

    def any(self, *, timeout: Duration | None = None) -> Out:
        """The first output; then cancels the rest. Raises a ScatterError when all have failed."""
        return self._wait(self._scatter.any(timeout=timeout))

    def quorum(self, count: int, *, timeout: Duration | None = None) -> list[Out]:
        """The first `count` outputs, as they came; then cancels the rest. Raises as soon as so many are impossible."""
        return self._wait(self._scatter.quorum(count, timeout=timeout))

    def settled(self, *, timeout: Duration | None = None) -> list[Settled[Out]]:
        """What became of each, in the order of the tasks; at the timeout those that are open are told as such."""
        return [self._plain(each) for each in self._wait(self._scatter.settled(timeout=timeout))]

    def cancel(self, reason: str | None = None) -> None:
        """Cancels every one that is open."""
        self._wait(self._scatter.cancel(reason))

    def __iter__(self) -> Generator[Settled[Out], None, None]:
        for each in iterate(aiter(self._scatter), self._wait):
            yield self._plain(each)

    def _plain(self, each: AsyncSettled[Out]) -> Settled[Out]:
        return Settled(each.status, each.index, Handle(each.handle, self._wait), each.output, each.error)
