"""Virtual time as a test rules it.

It passes timer by timer, those of the relay and those of its clients in one order, and after each of them everything
comes to rest before the clock moves on: what happens at one moment is over before the next.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import datetime, timezone
from typing import Any, TypeVar

from .._duration import Duration, to_ms
from ..errors import UsageError
from ._calm import Calm
from ._clock import VirtualClock
from ._loops import OtherLoops
from ._network import Network

T = TypeVar("T")

LONGEST_WAIT = "1d"
"""How much virtual time `until` lets pass when it is not told otherwise."""
LONGEST_REST_S = 20.0
"""Of real time. Something that goes on this long without the clock moving goes on for ever."""


class VirtualTime:
    """Of the kit's own loop."""

    def __init__(self, clock: VirtualClock, network: Network, calm: Calm, others: OtherLoops) -> None:
        self._clock = clock
        self._network = network
        self._calm = calm
        self._others = others
        self._turn = asyncio.Lock()
        self._resting = asyncio.Lock()

    async def settle(self) -> None:
        """Lets everything that is under way come to rest while the clock stands still."""
        # The test may have used its clients meanwhile.
        self._others.touch_all()
        self._network.distrust()
        await self._rest()

    @property
    def is_passing(self) -> bool:
        """Whether somebody lets it pass just now."""
        return self._turn.locked()

    async def is_at_rest(self) -> bool:
        """Whether nothing is under way, without waiting for it."""
        self._others.touch_all()
        self._network.distrust()
        return await self._is_at_rest()

    async def _rest(self) -> None:
        async with self._resting:
            give_up = time.monotonic() + LONGEST_REST_S
            while not await self._is_at_rest():
                if time.monotonic() > give_up:
                    raise UsageError(
                        f"The test relay did not come to rest within {LONGEST_REST_S:.0f} s of real time, without any "
                        "virtual time passing.",
                        "Something calls itself again and again: look for a handler or a test that sends, retries or "
                        "reconnects without a pause.",
                        "never_rests",
                    )

    async def _is_at_rest(self) -> bool:
        """Before the relay was asked, and after it."""
        await self._network.until_carried()
        return await self._calm.look() and self._network.is_at_rest() and await self._calm.look()

    async def advance(self, duration: Duration) -> None:
        ms = to_ms(duration, "advance()")
        async with self._turn:
            until = self._clock.now() + ms
            await self.settle()
            while self._step(until):
                await self._rest()
            self._move_to(until)
            await self._rest()

    async def until(self, awaitable: Awaitable[T], within: Duration = LONGEST_WAIT) -> T:
        ms = to_ms(within, "The option within")
        task = asyncio.ensure_future(awaitable)
        try:
            async with self._turn:
                has_happened = await self._pass_until(task.done, ms)
            if has_happened:
                return await task
        finally:
            if not task.done() and task is not awaitable:
                task.cancel()
        shown = datetime.fromtimestamp(self._clock.now() / 1_000, timezone.utc).isoformat(timespec="milliseconds")
        raise UsageError(
            f"What was waited for did not happen within {within} of virtual time (it is {shown} now).",
            "Look at relay.events() for what did happen; give more time with within=; or wait for it without "
            "relay.until, where it waits for something real, such as a file or a network, which the virtual clock does "
            "not wait for.",
            "never_happened",
        )

    async def pass_until(self, is_so: Callable[[], bool], most_ms: int) -> bool:
        """Lets time pass from timer to timer until it is so, for so long at most; whether it is so."""
        async with self._turn:
            return await self._pass_until(is_so, most_ms)

    async def order(self, order: dict[str, Any]) -> None:
        """One that starts or stops the relay."""
        state = await self._network.ask_slowly(order)
        self._clock.move_to(state["now"])

    async def _pass_until(self, is_so: Callable[[], bool], most_ms: int) -> bool:
        latest = self._clock.now() + most_ms
        await self.settle()
        while not is_so() and self._step(latest):
            await self._rest()
        return is_so()

    def _step(self, latest: int) -> bool:
        """To the next timer, of whichever side; False: none is due by then."""
        ours, theirs = self._clock.next_at(), self._network.state["next"]
        if not self._network.is_in_use:
            # Nobody here would learn of what the relay's timers do: it may run through them by itself.
            theirs = None
        at = min((each for each in (ours, theirs) if each is not None), default=None)
        if at is None or at > latest:
            return False
        self._move_to(at)
        # At one moment the relay's come first, and what follows from them is over before ours.
        if theirs is None or theirs > at:
            self._clock.fire_next(at)
        return True

    def _move_to(self, at: int) -> None:
        self._clock.move_to(at)
        if self._network.state["now"] < at:
            self._network.ask({"do": "run", "to": at})
