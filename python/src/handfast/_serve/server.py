"""A worker: it claims as much as it has free slots, runs a handler for each lease, and stops in order.

Slots. A lease takes one from its delivery until its outcome is answered and its handler has ended; an open claim is
lent some. What is neither is claimed. A handler that ignores its signal keeps its slot.

Stop. No new claims; what the open ones bring is given back. Running handlers have the grace to end, then they are
told to stop and have another moment, then what is left is given back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from types import TracebackType
from typing import Any

from .._duration import Duration, to_seconds
from .claims import Claims
from .faults import message_of, no_more, stopping
from .held import Held, key_of
from .limits import ERRAND_PATIENCE_S, FAREWELL_S
from .report import release
from .serving import Serving
from .work import work


class Server:
    """A running worker."""

    def __init__(self, serving: Serving, *, concurrency: int, grace: float, only: Sequence[str] | None = None) -> None:
        self._serving = serving
        self._concurrency = concurrency
        self._grace = grace
        self._loop = asyncio.get_running_loop()
        self._claims = Claims(serving.base, serving.worker, only, self._receive)
        self._held: dict[tuple[str, int], Held] = {}
        # Held until they are through: a task that nobody holds may vanish.
        self._tasks: set[asyncio.Future[Any]] = set()
        self._stopped = asyncio.Event()
        self._grace_over = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._endings: list[Callable[[], None]] = []
        self._awaiting = 0
        self._was_awaited = False
        self._fills_soon = False
        self._is_stopping = False
        self._is_ended = False

    def __repr__(self) -> str:
        served = ", ".join(self._serving.handlers.names)
        is_done = "stopped" if self._is_ended else "stopping"
        state = is_done if self._is_stopping else f"serves {served}, works on {self.active}"
        return f"<{type(self).__name__} {self.agent} {state}>"

    @property
    def agent(self) -> str:
        return self._serving.base.agent

    @property
    def worker(self) -> str:
        """The name of this process among the workers of its agent."""
        return self._serving.worker

    @property
    def active(self) -> int:
        """Leases that it holds now."""
        return len(self._held)

    @property
    def is_stopping(self) -> bool:
        """True as well once it has stopped."""
        return self._is_stopping

    @property
    def has_stopped(self) -> bool:
        return self._is_ended

    @property
    def is_awaited(self) -> bool:
        """Whether somebody waits for its end; once it has stopped, whether somebody did."""
        return self._was_awaited if self._is_ended else self._awaiting > 0

    async def stopped(self) -> None:
        """Waits until it has stopped, by whatever cause."""
        self._awaiting += 1
        try:
            await self._stopped.wait()
        finally:
            self._awaiting -= 1

    async def stop(self, grace: Duration | None = None) -> None:
        """Takes nothing more, lets handlers end within the grace, and gives back what is left.

        :param grace: How long running handlers may still take. Default: that of ``serve()``, 20 seconds.
        """
        seconds = self._grace if grace is None else to_seconds(grace, "The option grace")
        if self._is_ended:
            return
        grace_task = self._spawn(self._end_grace(seconds))

        def call_off() -> None:
            grace_task.cancel()

        self.on_stopped(call_off)
        if not self._is_stopping:
            self._is_stopping = True
            self._spawn(self._stop_in_order())
        await self._stopped.wait()

    async def __aenter__(self) -> Server:
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self.stop()

    def stop_soon(self, done: Callable[[], None]) -> None:
        """From any thread, a signal's handler too; `done` is called once it has stopped."""

        async def stop() -> None:
            try:
                await self.stop()
                await self._settled()
            finally:
                done()

        try:
            self._loop.call_soon_threadsafe(lambda: self._spawn(stop()))
        except RuntimeError:  # Its loop is closed.
            done()

    def start(self) -> None:
        self._serving.beats.start()
        self._fill()

    def on_stopped(self, ending: Callable[[], None]) -> None:
        """Run once, when it has stopped."""
        self._endings.append(ending)

    def crash(self) -> None:
        """For tests: as if the process had died. Nothing is given back, and what handlers still return is ignored."""
        self._is_stopping = True
        self._claims.abandon()
        for held in list(self._held.values()):
            held.leave(no_more(self.worker))
        self._end()

    async def _settled(self) -> None:
        """What handlers took and canceled in the background is said before the process ends, if the relay is there."""
        errands = asyncio.ensure_future(self._serving.sending.settled())
        timer = asyncio.ensure_future(self._serving.base.surroundings.sleep(ERRAND_PATIENCE_S))
        await asyncio.wait((errands, timer), return_when=asyncio.FIRST_COMPLETED)
        for each in (errands, timer):
            each.cancel()

    def _spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Future[Any]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _fill(self) -> None:
        self._fills_soon = False
        if not self._is_stopping:
            self._claims.ask(self._concurrency - len(self._held) - self._claims.credit)

    def _fill_soon(self) -> None:
        """What ends in the same turn of the loop is claimed anew together."""
        if not self._fills_soon:
            self._fills_soon = True
            self._loop.call_soon(self._fill)

    def _receive(self, leases: Sequence[Mapping[str, Any]]) -> None:
        for lease in leases:
            if self._is_stopping:
                self._spawn(self._release(lease))
            elif key_of(lease) not in self._held:
                self._begin(lease)
        self._fill()

    def _begin(self, lease: Mapping[str, Any]) -> None:
        held = Held(self._serving.base, lease, self.worker)
        self._held[held.key] = held
        self._idle.clear()
        self._spawn(self._run(held))

    async def _run(self, held: Held) -> None:
        try:
            await work(self._serving, held)
        except Exception as error:
            self._serving.base.warn("worker_fault", f"Handoff {held.id}: {message_of(error)}", held.id)
        finally:
            self._held.pop(held.key, None)
            if not self._held:
                self._idle.set()
            self._fill_soon()

    async def _release(self, lease: Mapping[str, Any]) -> None:
        await release(self._serving.base, self.worker, lease, self._serving.gone)

    async def _end_grace(self, seconds: float) -> None:
        await self._serving.base.surroundings.sleep(seconds)
        self._grace_over.set()

    async def _stop_in_order(self) -> None:
        given_back = self._spawn(self._give_back_claims())
        try:
            await self._first(self._idle.wait(), self._grace_over.wait())
            for held in list(self._held.values()):
                held.hurry(stopping(held.id))
            await self._first(self._idle.wait(), self._serving.base.surroundings.sleep(FAREWELL_S))
            await asyncio.gather(given_back, *[self._give_up(held) for held in list(self._held.values())])
        finally:
            self._end()

    async def _first(self, *waits: Coroutine[Any, Any, Any]) -> None:
        tasks = [asyncio.ensure_future(wait) for wait in waits]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()

    async def _give_back_claims(self) -> None:
        leases = await self._claims.take_back()
        await asyncio.gather(*[self._release(lease) for lease in leases])

    async def _give_up(self, held: Held) -> None:
        if held.is_over:
            return
        held.leave(stopping(held.id))
        await self._release(held.lease)

    def _end(self) -> None:
        if self._is_ended:
            return
        self._was_awaited = self._awaiting > 0
        self._is_ended = True
        self._serving.gone.set(no_more(self.worker))
        self._serving.beats.close()
        self._serving.threads.shutdown(wait=False)
        endings, self._endings = self._endings, []
        for ending in endings:
            ending()
        self._stopped.set()
