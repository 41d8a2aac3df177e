"""Whoever sleeps until a handoff has ended (a graph's thread, a paused flow) is woken by its outcome.

An outcome stays in the relay's list until it is taken, and it is taken only when the sleeper is awake: a process that
is killed in between finds it there again. For one sleeper outcomes are dealt with one after the other. What cannot be
woken is tried again after a pause, a few times, and then left in the list for the next start.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, overload

from typing_extensions import Self

from .._client import AsyncClient
from .._duration import Duration, to_seconds
from .._generated.views import HandoffView
from .._send.handle import AsyncHandle
from .._sync import Client
from ..errors import HandoffError
from .kinds import AnyClient
from .outcome import Outcome, outcome_of
from .turns import Lock, in_turn


@dataclass(frozen=True)
class WakeCall:
    """One that is to be woken."""

    key: str
    view: HandoffView
    outcome: Outcome
    handoffs: tuple[str, ...]
    """The handoff, and those that it redrives: the sleeper waits for one of them."""


class Sleepers(Protocol):
    """What an adapter knows of those that sleep. Called on the client's event loop."""

    def key_of(self, view: HandoffView) -> str | None:
        """Whom an outcome is for, by what its handoff was labelled with; None: not one of these."""

    async def wake(self, call: WakeCall) -> str:
        """Returns once it is awake, or needs not be woken. What it returns is told to `on_woken`."""


@dataclass(frozen=True)
class Woken:
    """Whom an outcome woke."""

    handoff: str
    key: str
    how: str


@dataclass(frozen=True)
class WakeOptions:
    """How outcomes are dealt with."""

    follow: bool = True
    """Go on with what comes. False: end after what is there now."""
    lock: Lock | None = None
    """A lock that holds across processes, where several of them wake the same sleepers. Default: one of this
    process."""
    concurrency: int = 10
    """How many are woken at once."""
    attempts: int = 3
    """How often one is tried."""
    pause: Duration = 1.0
    """Before another try; it doubles each time."""
    on_woken: Callable[[Woken], None] | None = None
    on_error: Callable[[BaseException, str, str], None] | None = None
    """Told of one that could not be woken (error, handoff, key): its outcome stays at the relay. Default: a warning of
    the client."""
    on_stopped: Callable[[], None] | None = None
    """Called when nothing is under way any more: an adapter lets go of its threads."""


class Waker:
    """Wakes until it is stopped. Of one event loop."""

    def __init__(self, hf: AsyncClient, sleepers: Sleepers, options: WakeOptions) -> None:
        self._hf = hf
        self._base = hf._base
        self._sleepers = sleepers
        self._options = options
        self._pause = to_seconds(options.pause, "The option pause")
        self._ending = asyncio.Event()
        self._underway: set[asyncio.Task[None]] = set()
        self._following = asyncio.ensure_future(self._follow())
        self._run = asyncio.ensure_future(self._whole())

    async def stopped(self) -> None:
        """Returns when nothing is under way any more."""
        await asyncio.shield(self._run)

    async def stop(self, grace: Duration = 20.0) -> None:
        """Takes up nothing new, lets what is under way end for so long, then cancels it."""
        seconds = to_seconds(grace, "The option grace")
        self._ending.set()
        self._following.cancel()
        timer = asyncio.ensure_future(self._base.surroundings.sleep(seconds))
        await asyncio.wait((self._run, timer), return_when=asyncio.FIRST_COMPLETED)
        timer.cancel()
        for task in self._underway:
            task.cancel()
        await self.stopped()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def _whole(self) -> None:
        await asyncio.wait((self._following,))
        while self._underway:
            await asyncio.wait(self._underway)
        if self._options.on_stopped is not None:
            self._options.on_stopped()

    async def _follow(self) -> None:
        outcomes = self._hf.outcomes(follow=self._options.follow)
        try:
            async for handle in outcomes:
                view = handle.view
                key = None if view is None else self._sleepers.key_of(view)
                if view is None or key is None:
                    continue
                task = asyncio.ensure_future(self._deal(handle, view, key))
                self._underway.add(task)
                task.add_done_callback(self._underway.discard)
                if len(self._underway) >= self._options.concurrency:
                    await asyncio.wait(self._underway, return_when=asyncio.FIRST_COMPLETED)
        except Exception as error:
            # That the client was closed is no news to whoever closed it.
            if not self._base.closed.is_set:
                self._tell(error, "", "")
        finally:
            await outcomes.aclose()

    async def _deal(self, handle: AsyncHandle[Any], view: HandoffView, key: str) -> None:
        for attempt in range(1, self._options.attempts + 1):
            try:
                async with in_turn(key, self._options.lock):
                    how = await self._wake(handle, view, key)
                await handle.take()
            except Exception as error:
                if attempt >= self._options.attempts or self._ending.is_set():
                    self._tell(error, view["id"], key)
                    return
                await self._sleep(self._pause * 2 ** (attempt - 1))
                continue
            # What the user's own function does is no reason to wake anybody again.
            if self._options.on_woken is not None:
                self._options.on_woken(Woken(view["id"], key, how))
            return

    async def _wake(self, handle: AsyncHandle[Any], view: HandoffView, key: str) -> str:
        # Its redrive is on the way, or has ended too: the outcome of that one counts.
        dead_letter = view["dead_letter"]
        if dead_letter is not None and dead_letter["status"] == "redriven":
            return "redriven"
        outcome = await outcome_of(handle)
        return await self._sleepers.wake(WakeCall(key, view, outcome, await self._line_of(view)))

    async def _line_of(self, view: HandoffView) -> tuple[str, ...]:
        """From the newest to the first. One that retention has dropped ends it."""
        line = [view["id"]]
        earlier = view["redrive_of"]
        while earlier is not None:
            line.append(earlier)
            try:
                earlier = (await self._hf.handle(earlier).status())["redrive_of"]
            except HandoffError as error:
                if error.code != 404:
                    raise
                break
        return tuple(line)

    async def _sleep(self, seconds: float) -> None:
        """Shorter where it is to stop."""
        timer = asyncio.ensure_future(self._base.surroundings.sleep(seconds))
        ending = asyncio.ensure_future(self._ending.wait())
        try:
            await asyncio.wait((timer, ending), return_when=asyncio.FIRST_COMPLETED)
        finally:
            timer.cancel()
            ending.cancel()

    def _tell(self, error: BaseException, handoff: str, key: str) -> None:
        if self._options.on_error is not None:
            self._options.on_error(error, handoff, key)
            return
        what = f"The outcome of {handoff} woke nobody ({key})" if handoff else "No outcome wakes anybody any more"
        self._base.warn("not_woken", f"{what}: {type(error).__name__}: {error}", handoff or None)


class SyncWaker:
    """The same for code that blocks: it works on its client's own event loop, on another thread."""

    def __init__(self, waker: Waker, hf: Client) -> None:
        self._waker = waker
        self._hf = hf

    def stopped(self) -> None:
        """Blocks until nothing is under way any more."""
        self._wait(self._waker.stopped())

    def stop(self, grace: Duration = 20.0) -> None:
        """Takes up nothing new, lets what is under way end for so long, then leaves it."""
        self._wait(self._waker.stop(grace))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.stop()

    def _wait(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            future: concurrent.futures.Future[None] = asyncio.run_coroutine_threadsafe(work, self._hf._loop.loop)
        except RuntimeError:
            # The loop ended with its client, and this with it.
            work.close()
            return
        try:
            self._hf._loop.surroundings.join(future)
        except concurrent.futures.CancelledError:
            pass


@overload
def wake_by_outcomes(hf: AsyncClient, sleepers: Sleepers, options: WakeOptions = ...) -> Waker: ...


@overload
def wake_by_outcomes(hf: Client, sleepers: Sleepers, options: WakeOptions = ...) -> SyncWaker: ...


@overload
def wake_by_outcomes(hf: AnyClient, sleepers: Sleepers, options: WakeOptions = ...) -> Waker | SyncWaker: ...


def wake_by_outcomes(hf: AnyClient, sleepers: Sleepers, options: WakeOptions | None = None) -> Waker | SyncWaker:
    """Begins at once, and goes on beside the caller."""
    chosen = WakeOptions() if options is None else options
    if isinstance(hf, AsyncClient):
        return Waker(hf, sleepers, chosen)
    client = hf._client
    return SyncWaker(hf._on_loop(lambda: Waker(client, sleepers, chosen)), hf)
