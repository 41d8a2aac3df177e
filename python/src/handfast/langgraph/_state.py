"""Where a thread stands with a handoff.

LangGraph's own account of a thread differs between its versions: some go on listing an interrupt that was answered
while a sibling of its step still waits. So what counts is what it goes by itself, the writes that are kept beside a
state: an interrupt waits as long as its task has written nothing else.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Union

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.pregel import Pregel
from langgraph.types import Interrupt, StateSnapshot

from ._config import no_saver
from ._step import handoff_in

AnyGraph = Pregel[Any, Any, Any, Any]


@dataclass(frozen=True)
class Waits:
    """It sleeps until this handoff has ended."""

    interrupt: str
    handoff: str


@dataclass(frozen=True)
class Unfinished:
    """Something is still to run, and waits for nobody: it runs somewhere, or was cut off."""

    at: float
    """Seconds since 1970, of its newest state."""


ThreadState = Union[Waits, Unfinished, Literal["unknown", "settled"]]
"""``unknown``: there is no such thread here. ``settled``: it has ended, or waits for others only."""

_NOT_DONE = frozenset(["__error__", "__error_source_node__", "__interrupt__", "__resume__"])
"""A task's writes that do not mean that it is done."""

GetTuple = Callable[[RunnableConfig], Awaitable["CheckpointTuple | None"]]


def saver_of(graph: AnyGraph) -> BaseCheckpointSaver[Any]:
    if isinstance(graph.checkpointer, BaseCheckpointSaver):
        return graph.checkpointer
    raise no_saver()


async def look_at(graph: AnyGraph, root: StateSnapshot, get_tuple: GetTuple, handoffs: tuple[str, ...]) -> ThreadState:
    """`handoffs`: the one whose outcome came, and those that it redrives. `root` has the states of subgraphs in it."""
    if root.created_at is None:
        return "unknown"
    levels = [_open_in(level, await get_tuple(level.config)) for level in _levels(root)]
    for interrupt in (each for level in levels for each in level.interrupts):
        told = handoff_in(interrupt.value)
        if told is not None and told["handoff"] in handoffs:
            return Waits(interrupt.id, told["handoff"])
    if any(level.is_complete or not all(_is_breakpoint(graph, name) for name in level.nodes) for level in levels):
        return Unfinished(datetime.fromisoformat(root.created_at).timestamp())
    return "settled"


def _levels(snapshot: StateSnapshot) -> Generator[StateSnapshot, None, None]:
    """The graph's own state, and those of graphs within it."""
    yield snapshot
    for task in snapshot.tasks:
        if isinstance(task.state, StateSnapshot):
            yield from _levels(task.state)


@dataclass(frozen=True)
class _Open:
    interrupts: list[Interrupt]
    """Those that wait."""
    nodes: list[str]
    """Nodes that are to run and wait for nobody."""
    is_complete: bool
    """All nodes of the step have run, and the next step was never begun: the run was cut off in between."""


def _open_in(snapshot: StateSnapshot, kept: CheckpointTuple | None) -> _Open:
    writes = (kept.pending_writes if kept is not None else None) or []
    done = {task for task, channel, _ in writes if channel not in _NOT_DONE}
    waiting = [(task, value) for task, channel, value in writes if channel == "__interrupt__" and task not in done]
    sleeping = {task for task, _ in waiting}
    tasks = [task.id for task in snapshot.tasks]
    return _Open(
        interrupts=[each for _, value in waiting for each in (value if isinstance(value, (list, tuple)) else [value])],
        nodes=[task.name for task in snapshot.tasks if task.id not in done and task.id not in sleeping],
        is_complete=bool(tasks) and done.issuperset(tasks),
    )


def _is_breakpoint(graph: AnyGraph, name: str) -> bool:
    """The graph stops there by its own plan, for a person to look at: it is not for us to go on."""
    before = graph.interrupt_before_nodes
    return before == "*" or name in before or bool(graph.interrupt_after_nodes)
