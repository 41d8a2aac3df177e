"""Wakes flows by the outcomes of what they handed off, each exactly once, also after the process was killed.

CrewAI forgets that a flow waits before its listeners run: killed there, the flow would be neither waiting nor done. So
what it knows is copied first, under a name of the handoff's, and put back when the flow turns out to be cut off. The
copy is marked when the flow is awake, then the outcome is taken, then the copy goes.

What is found of a flow      what it means                                    what is done
---------------------------  -----------------------------------------------  --------------------------------
it waits for this handoff    the usual                                        copied and resumed
it waits for another one     it had this outcome, and has gone on             taken
a marked copy                it is awake, and only the taking was lost        taken
an unmarked copy alone       it was cut off among its listeners, or failed    put back and resumed again
nothing                      it is just about to pause, or was killed there   looked at again, then left
nothing, and it is a redrive it had the outcome of the first one              taken
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, closing
from typing import Any, Final, Literal, overload

from crewai.flow import Flow
from crewai.flow.async_feedback import PendingFeedbackContext
from crewai.flow.persistence import FlowPersistence, SQLiteFlowPersistence
from crewai.flow.persistence.factory import default_flow_persistence
from crewai_core.lock_store import lock as lock_of_crewai
from typing_extensions import TypedDict, Unpack

from .._adapters import (
    AnyClient,
    BlockingWork,
    Lock,
    SyncWaker,
    WakeCall,
    WakeOptions,
    Waker,
    Woken,
    async_client_of,
    wake_by_outcomes,
)
from .._client import AsyncClient
from .._duration import Duration
from .._generated.views import HandoffView
from .._sync import Client
from ..errors import HandfastError
from ._handoff import LABELS, MARK

PAUSE_WITHIN_S: Final = 10.0
"""An outcome may be there before CrewAI has kept the pause: it is waited for so long."""
_LOOK_EVERY_S: Final = 0.1
_LOCK_WITHIN_S: Final = 3_600.0
_SQLITE_WITHIN_S: Final = 30.0


class ResumeOptions(TypedDict, total=False):
    """All of them optional."""

    follow: bool
    """Go on with what comes. False: end after what is there now. Default: True."""
    lock: Lock
    """Default: CrewAI's own, which holds for all processes of this machine, or of one Redis (REDIS_URL)."""
    concurrency: int
    """How many are woken at once. Default: 10."""
    attempts: int
    """How often one is tried. Default: 3."""
    pause: Duration
    """Before another try; it doubles each time. Default: 1 second."""
    on_woken: Callable[[Woken], None]
    """Told how: ``resumed``; ``continued``, where it had been cut off; ``not_waiting``, where it had the outcome."""
    on_error: Callable[[BaseException, str, str], None]
    """Told of one that could not be woken (error, handoff, key): its outcome stays at the relay."""


@overload
def resume_outcomes(
    hf: Client,
    flow: type[Flow[Any]],
    *,
    persistence: FlowPersistence | None = ...,
    arguments: Mapping[str, Any] | None = ...,
    **options: Unpack[ResumeOptions],
) -> SyncWaker: ...


@overload
def resume_outcomes(
    hf: AsyncClient,
    flow: type[Flow[Any]],
    *,
    persistence: FlowPersistence | None = ...,
    arguments: Mapping[str, Any] | None = ...,
    **options: Unpack[ResumeOptions],
) -> Waker: ...


def resume_outcomes(
    hf: AnyClient,
    flow: type[Flow[Any]],
    *,
    persistence: FlowPersistence | None = None,
    arguments: Mapping[str, Any] | None = None,
    **options: Unpack[ResumeOptions],
) -> Waker | SyncWaker:
    """Resumes each flow of the class when the outcome of its handoff comes, and goes on beside the caller.

    By a Client flows run on threads of their own, by an AsyncClient on its event loop.

    :param persistence: Where the flows are kept. Default: as the class has it, else CrewAI's default.
    :param arguments: What the class is made with besides.
    """
    given: dict[str, Any] = {"lock": _lock, **options}
    chosen = WakeOptions(**given)
    store = persistence or flow(**(arguments or {})).persistence or default_flow_persistence()
    sleepers = _Sleepers(hf, flow, store, dict(arguments or {}), chosen.concurrency)
    return wake_by_outcomes(hf, sleepers, dataclasses.replace(chosen, on_stopped=sleepers.let_go))


def _lock(key: str) -> AbstractContextManager[None]:
    return lock_of_crewai(f"handfast:{key}", timeout=_LOCK_WITHIN_S)


_Found = tuple[Literal["resumed", "continued"], "Flow[Any]"]


class _Sleepers:
    def __init__(
        self, hf: AnyClient, flow: type[Flow[Any]], store: FlowPersistence, arguments: dict[str, Any], most: int
    ) -> None:
        self._hf = async_client_of(hf)
        self._is_async = isinstance(hf, AsyncClient)
        self._flow = flow
        self._store = store
        self._arguments = arguments
        self._threads = BlockingWork(hf, most)

    def let_go(self) -> None:
        self._threads.close()

    def key_of(self, view: HandoffView) -> str | None:
        marks = view["labels"]
        id = marks.get(LABELS["id"])
        name = self._flow.__name__
        return f"crewai/{name}/{id}" if id is not None and marks.get(LABELS["flow"]) == name else None

    async def wake(self, call: WakeCall) -> str:
        id = call.view["labels"][LABELS["id"]]
        found = await self._look(id, call)
        how = "not_waiting"
        if found is not None:
            how, flow = found
            text = json.dumps(call.outcome, ensure_ascii=False)
            # By a Client on a thread, where a flow may block: its event loop is the client's own.
            await (flow.resume_async(text) if self._is_async else self._threads.run(lambda: flow.resume(text)))
            await self._threads.run(lambda: self._mark(call))
        # Now, though whoever called does it again: before this the copy must not go.
        await self._hf.handle(call.view["id"]).take()
        await self._threads.run(lambda: self._forget(_copy_of(call)))
        return how

    async def _look(self, id: str, call: WakeCall) -> _Found | None:
        surroundings = self._hf._base.surroundings
        until = surroundings.monotonic() + PAUSE_WITHIN_S
        while True:
            is_known, found = await self._threads.run(lambda: self._look_once(id, call))
            if is_known:
                return found
            # It had the first outcome, and a person redrove that later: the flow has long gone on.
            if call.view["redrive_of"] is not None:
                return None
            # Somebody else may have dealt with it meanwhile.
            if (await self._hf.handle(call.view["id"]).status())["taken_at"] is not None:
                return None
            if surroundings.monotonic() >= until:
                raise _no_such_flow(self._flow.__name__, id, call.view["id"])
            await asyncio.sleep(_LOOK_EVERY_S)

    def _look_once(self, id: str, call: WakeCall) -> tuple[bool, _Found | None]:
        """Whether anything is known of it, and if it is to be resumed, the flow."""
        pending = self._store.load_pending_feedback(id)
        copy = self._store.load_pending_feedback(_copy_of(call))
        if pending is not None:
            state, context = pending
            if _handoff_of(context) not in call.handoffs:
                return True, None
            self._store.save_pending_feedback(_copy_of(call), context, state)
            return True, ("resumed", self._made(id))
        if copy is None:
            return False, None
        state, context = copy
        if context.metadata[MARK].get("is_awake"):
            return True, None
        self._store.save_pending_feedback(id, context, state)
        return True, ("continued", self._made(id))

    def _made(self, id: str) -> Flow[Any]:
        made: Any = self._flow.from_pending(id, self._store, **self._arguments)
        flow: Flow[Any] = made
        return flow

    def _mark(self, call: WakeCall) -> None:
        copy = self._store.load_pending_feedback(_copy_of(call))
        if copy is not None:
            _, context = copy
            metadata = {**context.metadata, MARK: {**context.metadata[MARK], "is_awake": True}}
            self._store.save_pending_feedback(_copy_of(call), dataclasses.replace(context, metadata=metadata), {})

    def _forget(self, copy: str) -> None:
        self._store.clear_pending_feedback(copy)
        if isinstance(self._store, SQLiteFlowPersistence):
            # It keeps a state beside each pause, and has no way to drop one.
            with closing(sqlite3.connect(self._store.db_path, timeout=_SQLITE_WITHIN_S)) as store, store:
                store.execute("DELETE FROM flow_states WHERE flow_uuid = ?", (copy,))


def _copy_of(call: WakeCall) -> str:
    return f"handfast:{call.view['id']}"


def _handoff_of(context: PendingFeedbackContext) -> str | None:
    found: str | None = context.metadata.get(MARK, {}).get("handoff")
    return found


def _no_such_flow(name: str, id: str, handoff: str) -> HandfastError:
    return HandfastError(
        f"The outcome of {handoff} is for the flow {id} ({name}), which does not wait for anything.",
        reason="no_such_flow",
        remedy="Where the flow was killed before it paused, kick it off again with the same id. Or wake it with the "
        "persistence that it was run with. If it was deleted, take the outcome by hand.",
        retryable=True,
        anchor="usage",
    )
