"""Answering calls for proposals, beside the work and without its slots or its threads.

Each call is answered once, within the time that the relay gives for it: what comes too late, or not at all, counts as a
decline there. Another worker of the agent may have been faster: its answer stands.
"""

from __future__ import annotations

import asyncio
import copy
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from .._acts import propose
from .._base import Base
from .._send.newcomers import open_calls
from .._signal import within
from ..errors import HandfastError, HandoffError, Reject
from .capabilities import Offered
from .faults import message_of, outcome_error, story_of
from .limits import CLAIM_PAUSE_S, PROPOSE_THREADS
from .propose import proposed_terms, strange_in
from .signals import is_of_process
from .threads import HandlerThreads

Call = Mapping[str, Any]


class Proposing:
    """Of one server. Of one event loop."""

    def __init__(self, base: Base, offered: Mapping[str, Offered], is_stopping: Callable[[], bool]) -> None:
        self._base = base
        self._offered = offered
        self._is_stopping = is_stopping
        self._threads = HandlerThreads(PROPOSE_THREADS)
        self._answering: set[str] = set()
        # Held until they are through: a task that nobody holds may vanish.
        self._tasks: set[asyncio.Task[None]] = set()
        self._warned: set[str] = set()

    def start(self) -> None:
        """Nobody is asked who has nothing to say."""
        if any(each.propose is not None for each in self._offered.values()):
            self._spawn(self._follow())

    def stop(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        self._threads.shutdown(wait=False)

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _follow(self) -> None:
        while True:
            try:
                async for call in open_calls(self._base):
                    self._warned.clear()
                    self._spawn(self._answer(call))
            except Exception as error:
                self._warn(error)
                await self._base.surroundings.sleep(CLAIM_PAUSE_S)

    async def _answer(self, call: Call) -> None:
        offered = self._offered.get(call["capability"])
        # Other workers of the agent may serve other capabilities.
        if offered is None or offered.propose is None or self._is_stopping() or call["id"] in self._answering:
            return
        self._answering.add(call["id"])
        seconds = (call["reply_by"] - call["asked_at"]) / 1_000
        try:
            answering = self._say(call, offered)
            await within(self._base.surroundings.sleep, seconds, answering, lambda: _too_late(call))
        except Exception as error:
            self._tell(call, error)
        finally:
            self._answering.discard(call["id"])

    async def _say(self, call: Call, offered: Offered) -> None:
        """A proposal that the relay does not take as it is becomes a decline: the asker need not wait in vain."""
        strange = strange_in(self._base, call, offered.manifest)
        if strange:
            raise _not_offered(call, strange)
        said = await self._proposed(call, offered)
        try:
            await propose(self._base, call["id"], said)
        except HandoffError as error:
            if error.code != 400 or "decline" in said:
                raise
            await propose(self._base, call["id"], self._declined(call, error))

    async def _proposed(self, call: Call, offered: Offered) -> dict[str, Any]:
        try:
            return {"terms": proposed_terms(call, await self._asked(call, offered))}
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            if is_of_process(error):
                raise
            return self._declined(call, error)

    async def _asked(self, call: Call, offered: Offered) -> Any:
        ask: Any = offered.propose
        own = copy.deepcopy(dict(call))
        if inspect.iscoroutinefunction(ask):
            return await ask(own)
        # A plain function may hand out something to be waited for; and what it raises need not be able to cross.
        told, raised = await self._base.surroundings.in_thread(_caught(lambda: ask(own)), self._threads)
        if raised is not None:
            raise raised
        return await told if inspect.isawaitable(told) else told

    def _declined(self, call: Call, error: BaseException) -> dict[str, Any]:
        """The asker is told the reason; what was no `Reject` is a fault of this agent's, and its own people are told
        the story."""
        if isinstance(error, Reject):
            return {"decline": outcome_error(error.reason, message_of(error))}
        what = f"The call {call['id']} of {call['from']} for {call['capability']}"
        self._base.warn("propose_failed", f"{what} is declined: {story_of(error)}")
        return {"decline": {"reason": "propose_failed", "message": "It could not say on which terms it would do it."}}

    def _tell(self, call: Call, error: Exception) -> None:
        """Why a call stays without an answer from here."""
        reason = error.reason if isinstance(error, HandfastError) else "propose_failed"
        # Another worker answered it, or the asker went on.
        if reason in ("already_proposed", "unknown_proposal"):
            return
        what = f"The call {call['id']} of {call['from']} for {call['capability']}"
        self._base.warn(reason, f"{what} is not answered: {message_of(error)}")

    def _warn(self, error: Exception) -> None:
        """Once for each reason, until there are calls again."""
        reason = error.reason if isinstance(error, HandfastError) else "propose_failed"
        if reason in self._warned:
            return
        self._warned.add(reason)
        agent = self._base.agent
        self._base.warn(reason, f"{agent} hears of no calls for proposals, and goes on asking: {message_of(error)}")


def _caught(ask: Callable[[], Any]) -> Callable[[], tuple[Any, BaseException | None]]:
    def run() -> tuple[Any, BaseException | None]:
        try:
            return ask(), None
        except BaseException as error:
            return None, error

    return run


def _too_late(call: Call) -> HandfastError:
    return HandfastError(
        f"What it proposes for {call['capability']} did not come in time.",
        reason="propose_late",
        remedy="It counts as a decline: let propose() answer sooner, or let the asker wait longer (reply_by).",
        retryable=False,
        anchor="propose_late",
    )


def _not_offered(call: Call, strange: list[str]) -> HandoffError:
    return HandoffError(
        f"The terms are not about what this worker offers ({', '.join(strange)}).",
        code=401,
        reason="offer_differs",
        remedy=f"Let all workers of the agent serve the same; else the relay mixes up what {call['from']} asks for.",
        retryable=False,
    )
