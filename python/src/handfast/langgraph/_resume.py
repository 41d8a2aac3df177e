"""Wakes threads by the outcomes of what they handed off, each exactly once, also after the process was killed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Union, cast, overload

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import RunControl
from langgraph.types import Command

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
from .._duration import Duration, to_seconds
from .._generated.views import HandoffView
from .._sync import Client
from ..errors import HandfastError
from ._config import CLIENT_KEY
from ._runs import no_run_of, watch_runs
from ._state import AnyGraph, ThreadState, Unfinished, Waits, look_at, saver_of
from ._step import GRAPH_LABEL, THREAD_LABEL, Waiting

ThreadConfig = Union[RunnableConfig, Callable[[str], RunnableConfig]]
OnWoken = Callable[[Woken], None]
OnError = Callable[[BaseException, str, str], None]

_LOOK_AGAIN_S = 1.0


@overload
def resume_outcomes(
    hf: AsyncClient,
    compiled: AnyGraph,
    *,
    graph: str = ...,
    config: ThreadConfig | None = ...,
    patience: Duration = ...,
    follow: bool = ...,
    lock: Lock | None = ...,
    concurrency: int = ...,
    attempts: int = ...,
    pause: Duration = ...,
    on_woken: OnWoken | None = ...,
    on_error: OnError | None = ...,
) -> Waker: ...


@overload
def resume_outcomes(
    hf: Client,
    compiled: AnyGraph,
    *,
    graph: str = ...,
    config: ThreadConfig | None = ...,
    patience: Duration = ...,
    follow: bool = ...,
    lock: Lock | None = ...,
    concurrency: int = ...,
    attempts: int = ...,
    pause: Duration = ...,
    on_woken: OnWoken | None = ...,
    on_error: OnError | None = ...,
) -> SyncWaker: ...


def resume_outcomes(
    hf: AnyClient,
    compiled: AnyGraph,
    *,
    graph: str = "graph",
    config: ThreadConfig | None = None,
    patience: Duration = 300.0,
    follow: bool = True,
    lock: Lock | None = None,
    concurrency: int = 10,
    attempts: int = 3,
    pause: Duration = 1.0,
    on_woken: OnWoken | None = None,
    on_error: OnError | None = None,
) -> Waker | SyncWaker:
    """Goes on beside the caller until it is stopped. A Client runs threads by ``invoke``, an AsyncClient by
    ``ainvoke``.

    :param graph: As the graph is named in `add_handoff`.
    :param config: What a thread is run with besides its id: ``configurable``, ``recursion_limit``.
    :param patience: With `lock`, when other processes run threads too: how long one that neither waits nor has ended
        is taken to run in one of them, counted from its newest state. Without `lock` it is taken to be cut off.
    :param follow: Go on with what comes. False: end after what is there now.
    :param lock: Makes a lock for a key that holds across processes, where several of them resume the same threads.
    :param concurrency: How many threads are resumed at once.
    :param attempts: How often one is tried.
    :param pause: Before another try; it doubles each time.
    :param on_woken: Told how: ``resumed``; ``continued``, where the thread was cut off before or after it waited;
        ``not_waiting``, where it had the outcome already or does not want it any more; ``redriven``. Of a Client it
        is called on the client's own event loop, and must not block.
    :param on_error: Told of one that could not be resumed: its outcome stays at the relay. Default: a warning.
    """
    saver_of(compiled)
    watch_runs(compiled)
    blocking = BlockingWork(hf, concurrency) if isinstance(hf, Client) else None
    door = _Door(compiled, blocking)
    wait_for_others = 0.0 if lock is None else to_seconds(patience, "The option patience")
    let_go = None if blocking is None else blocking.close
    options = WakeOptions(follow, lock, concurrency, attempts, pause, on_woken, on_error, let_go)
    return wake_by_outcomes(hf, _Threads(hf, door, graph, config or {}, wait_for_others), options)


@dataclass(frozen=True)
class _Door:
    """The graph, run and looked at in the way of its client."""

    graph: AnyGraph
    blocking: BlockingWork | None

    async def run(self, what: Any, config: RunnableConfig) -> None:
        if self.blocking is None:
            await self.graph.ainvoke(what, config, durability="sync")
            return
        # One that is let go of ends after the node that runs: a thread cannot be stopped, a graph can.
        control = RunControl()
        try:
            await self.blocking.run(lambda: self.graph.invoke(what, config, durability="sync", control=control))
        except asyncio.CancelledError:
            control.request_drain("The resumer stops.")
            raise

    async def look(self, thread: str, handoffs: tuple[str, ...]) -> ThreadState:
        await no_run_of(thread)
        place: RunnableConfig = {"configurable": {"thread_id": thread}}
        saver, blocking = saver_of(self.graph), self.blocking
        if blocking is None:
            root = await self.graph.aget_state(place, subgraphs=True)
            return await look_at(self.graph, root, saver.aget_tuple, handoffs)
        root = await blocking.run(lambda: self.graph.get_state(place, subgraphs=True))
        return await look_at(self.graph, root, lambda config: blocking.run(lambda: saver.get_tuple(config)), handoffs)


@dataclass(frozen=True)
class _Threads:
    """Those that sleep."""

    hf: AnyClient
    door: _Door
    graph: str
    config: ThreadConfig
    patience: float

    def key_of(self, view: HandoffView) -> str | None:
        marks = view["labels"]
        thread = marks.get(THREAD_LABEL)
        return None if thread is None or marks.get(GRAPH_LABEL) != self.graph else f"langgraph/{self.graph}/{thread}"

    async def wake(self, call: WakeCall) -> str:
        thread = call.view["labels"][THREAD_LABEL]
        handoff = call.view["id"]
        config = self._config_of(thread)
        state = await self.door.look(thread, call.handoffs)
        while isinstance(state, Unfinished) and time.time() - state.at < self.patience:
            await async_client_of(self.hf)._base.surroundings.sleep(_LOOK_AGAIN_S)
            state = await self.door.look(thread, call.handoffs)
        was_cut_off = isinstance(state, Unfinished)
        if was_cut_off:
            # Sends again what was not kept as sent, under the same key, and goes on from there.
            await self.door.run(None, config)
            state = await self.door.look(thread, call.handoffs)
        if state == "unknown":
            raise _unknown_thread(thread, handoff)
        if not isinstance(state, Waits):
            return "continued" if was_cut_off else "not_waiting"
        waiting: Waiting = {"handfast": {"handoff": state.handoff, "outcome": call.outcome}}
        await self.door.run(Command(resume={state.interrupt: waiting}), config)
        # LangGraph ignores a resume that does not fit, without a word.
        if isinstance(await self.door.look(thread, call.handoffs), Waits):
            raise _not_heard(thread, handoff)
        return "resumed"

    def _config_of(self, thread: str) -> RunnableConfig:
        given = self.config(thread) if callable(self.config) else self.config
        configurable = {CLIENT_KEY: self.hf, **given.get("configurable", {}), "thread_id": thread}
        return cast(RunnableConfig, {**given, "configurable": configurable})


def _unknown_thread(thread: str, handoff: str) -> HandfastError:
    return HandfastError(
        f"The outcome of {handoff} is for the thread {thread}, which this checkpointer does not have.",
        reason="unknown_thread",
        remedy="Resume with the checkpointer that the thread was run with. If that is gone, take the outcome by hand.",
        retryable=False,
        anchor="usage",
    )


def _not_heard(thread: str, handoff: str) -> HandfastError:
    return HandfastError(
        f"The thread {thread} was resumed with the outcome of {handoff} and still waits for it.",
        reason="not_heard",
        remedy="Look at the thread's state: something else runs it at the same time.",
        retryable=True,
        anchor="usage",
    )
