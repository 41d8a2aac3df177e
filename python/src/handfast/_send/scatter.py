"""Many handoffs under one correlation: all, any, a quorum, what there is at the deadline, or each as it comes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, cast

from .._duration import Duration, to_seconds
from .._signal import unless, within
from ..errors import HandoffError, ScatterError, UsageError, WaitOver
from .follow import until_set
from .handle import AsyncHandle, Out
from .sender import Sender

T = TypeVar("T")


@dataclass(frozen=True)
class AsyncSettled(Generic[Out]):
    """What became of one task of a scatter."""

    status: Literal["completed", "failed", "open"]
    """``open``: not ended when the time was over; it goes on."""
    index: int
    """Its place among the tasks."""
    handle: AsyncHandle[Out]
    output: Out | None = None
    """Of one that is completed."""
    error: HandoffError | None = None
    """Of one that failed."""


class AsyncScatter(Generic[Out]):
    """Many handoffs under one correlation. What is decided early cancels the rest, unless `keep` was asked for.

    ``async for`` gives each as it ends.
    """

    correlation: str
    """What `client.gather()` finds them by, also after a restart."""

    def __init__(
        self, sender: Sender, correlation: str, handles: Coroutine[Any, Any, list[AsyncHandle[Out]]], keep: bool
    ) -> None:
        self.correlation = correlation
        self._sender = sender
        self._keep = keep
        self._handles = asyncio.ensure_future(handles)
        sender.errands.keep(self._handles)
        # Told to everybody who asks for anything; until somebody does, it is nobody's unseen error.
        self._handles.add_done_callback(lambda done: done.cancelled() or done.exception())

    async def handles(self) -> list[AsyncHandle[Out]]:
        """One per task, in the order of the tasks; raises if they were not accepted."""
        return list(await asyncio.shield(self._handles))

    async def all(self, *, timeout: Duration | None = None) -> list[Out]:
        """All outputs in the order of the tasks. Raises with the first failure, and then cancels the rest."""
        return await self._waiting("All outputs", timeout, self._all)

    async def any(self, *, timeout: Duration | None = None) -> Out:
        """The first output; then cancels the rest. Raises a ScatterError when all have failed."""
        return (await self.quorum(1, timeout=timeout))[0]

    async def quorum(self, count: int, *, timeout: Duration | None = None) -> list[Out]:
        """The first `count` outputs, as they came; then cancels the rest. Raises as soon as so many are impossible."""
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise UsageError(f"A quorum of {count!r} is none.", "Give a whole number from 1 to the number of tasks.")
        return await self._waiting(f"A quorum of {count}", timeout, lambda handles: self._quorum(count, handles))

    async def settled(self, *, timeout: Duration | None = None) -> list[AsyncSettled[Out]]:
        """What became of each, in the order of the tasks; at the timeout those that are open are told as such."""
        what = "What became of the tasks"
        clock = self._sender.base.surroundings.monotonic
        until = None if timeout is None else clock() + to_seconds(timeout, "The option timeout")
        # Until the relay has the tasks there is nothing to tell of them.
        handles = await self._waiting(what, timeout, _same)
        settled: list[AsyncSettled[Out]] = [AsyncSettled("open", index, handle) for index, handle in enumerate(handles)]

        async def collect() -> None:
            async for each in _as_they_end(handles):
                settled[each.index] = each

        left = None if until is None else max(0.0, until - clock())
        sleep = self._sender.base.surroundings.sleep
        try:
            await unless(within(sleep, left, collect(), _Enough), self._sender.parent_signal)
        except _Enough:
            pass
        _take(settled)
        return settled

    async def cancel(self, reason: str | None = None) -> None:
        """Cancels every one that is open."""
        await asyncio.gather(*(handle.cancel(reason) for handle in await self.handles()))

    def __aiter__(self) -> AsyncGenerator[AsyncSettled[Out], None]:
        return until_set(self._each(), self._sender.parent_signal, self._sender.base.closed)

    async def _each(self) -> AsyncGenerator[AsyncSettled[Out], None]:
        async for each in _as_they_end(await self.handles()):
            try:
                yield each
            finally:
                _take([each])

    async def _all(self, handles: list[AsyncHandle[Out]]) -> list[Out]:
        outputs: list[Any] = [None] * len(handles)
        async for each in _as_they_end(handles):
            if each.error is not None:
                _take([each])
                self._drop(handles, "Another task of the scatter failed.")
                raise each.error
            outputs[each.index] = each.output
        for handle in handles:
            handle._take_seen()
        return outputs

    async def _quorum(self, count: int, handles: list[AsyncHandle[Out]]) -> list[Out]:
        outputs: list[Out] = []
        seen: list[AsyncSettled[Out]] = []
        errors: list[HandoffError] = []
        if len(handles) >= count:
            async for each in _as_they_end(handles):
                seen.append(each)
                if each.error is None:
                    outputs.append(cast(Out, each.output))
                else:
                    errors.append(each.error)
                if len(outputs) == count or len(handles) - len(errors) < count:
                    break
        if len(outputs) < count:
            _take([each for each in seen if each.error is not None])
            self._drop(handles, "Too many tasks of the scatter failed.")
            raise ScatterError(count, len(handles), errors)
        _take(seen)
        self._drop(handles, "Enough tasks of the scatter were completed.")
        return outputs

    async def _waiting(
        self, what: str, timeout: Duration | None, wait: Callable[[list[AsyncHandle[Out]]], Awaitable[T]]
    ) -> T:
        """Within the caller's timeout, once the handles are known."""
        seconds = None if timeout is None else to_seconds(timeout, "The option timeout")

        async def whole() -> T:
            return await wait(await self.handles())

        sleep = self._sender.base.surroundings.sleep
        limited = within(sleep, seconds, whole(), lambda: WaitOver(what, seconds or 0.0))
        return await unless(limited, self._sender.parent_signal)

    def _drop(self, handles: Sequence[AsyncHandle[Out]], reason: str) -> None:
        """It is decided: what is still open is called off, unless it is to be kept."""
        if not self._keep:
            for handle in handles:
                handle._drop(reason)


class _Enough(Exception):
    """The time for what may come is over."""


async def _same(handles: list[AsyncHandle[Out]]) -> list[AsyncHandle[Out]]:
    return handles


def _take(ended: Sequence[AsyncSettled[Any]]) -> None:
    for each in ended:
        if each.status != "open":
            each.handle._take_seen()


async def _as_they_end(handles: Sequence[AsyncHandle[Out]]) -> AsyncGenerator[AsyncSettled[Out], None]:
    """Each when it ends, until all have."""
    waiting = {asyncio.ensure_future(_end_of(handle, index)) for index, handle in enumerate(handles)}
    try:
        while waiting:
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            # All that are here are told before anything that broke.
            for task in sorted(done, key=lambda each: each.exception() is not None):
                yield task.result()
    finally:
        for task in waiting:
            task.cancel()


async def _end_of(handle: AsyncHandle[Out], index: int) -> AsyncSettled[Out]:
    try:
        view: Any = await handle.outcome(take=False)
        if view["state"] != "completed":
            return AsyncSettled("failed", index, handle, error=HandoffError.ended(view))
        return AsyncSettled("completed", index, handle, output=handle._output_of(view))
    except HandoffError as error:
        # About this one alone: it is unknown, or its outcome is not proven. Else it is about the relay or the wait.
        if error.reason not in ("unknown_handoff", "not_proven", "output_gone", "output_unfit"):
            raise
        return AsyncSettled("failed", index, handle, error=error)
