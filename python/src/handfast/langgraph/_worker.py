"""A compiled graph as a worker.

The thread is the handoff: a redelivery finds its state and goes on where the earlier attempt stopped. What the graph
asks a person by an interrupt is asked back to the sender.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from typing import Any, Union, cast, overload

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.errors import EmptyInputError, GraphRecursionError, InvalidUpdateError
from langgraph.graph import START
from langgraph.runtime import RunControl
from langgraph.types import All, Command, Durability, Interrupt, StateSnapshot

from .._adapters import AnyClient, blocked, verdict_of
from .._client import AsyncClient
from .._duration import Duration
from .._serve import AsyncContext, Context, Handler, Server, SyncServer
from .._sync import Client
from ..errors import Fail, UsageError
from ._config import CLIENT_KEY, CONTEXT_KEY
from ._handed_on import HandedOn
from ._state import AnyGraph
from ._step import Waiting, handoff_in

GraphInput = Callable[[Any, Union[Context, AsyncContext]], Any]
GraphOutput = Union[str, Callable[[dict[str, Any]], Any]]

_OF_THE_GRAPH = (GraphRecursionError, InvalidUpdateError, EmptyInputError)
"""Errors of a graph that is wrong in itself: another attempt would run into the same."""


def graph_worker(
    hf: AnyClient,
    compiled: AnyGraph,
    *,
    graph_input: GraphInput | None = None,
    graph_output: GraphOutput | None = None,
    config: RunnableConfig | None = None,
) -> Handler:
    """A handler for ``hf.serve()``: a plain one that runs the graph by ``invoke`` for a Client, an async one that runs
    it by ``ainvoke`` for an AsyncClient.

    :param graph_input: The graph's input, out of the handoff's and its context. Default: the handoff's.
    :param graph_output: The handoff's output, out of the graph's values: one of them by its key, or a function.
        Default: all of them.
    :param config: What the graph is run with besides: ``configurable``, ``recursion_limit``.
    """
    runs = _Runs(hf, compiled, graph_input, graph_output, config or {})

    def handler(input: Any, ctx: Context) -> Any:
        try:
            return runs.run(input, ctx)
        except Exception as error:
            # One that is to stop says why: the run itself was only cut short.
            ctx.check()
            raise _verdict(error) from error

    async def ahandler(input: Any, ctx: AsyncContext) -> Any:
        try:
            return await runs.arun(input, ctx)
        except Exception as error:
            ctx.check()
            raise _verdict(error) from error

    return handler if isinstance(hf, Client) else ahandler


def _verdict(error: Exception) -> Exception:
    return verdict_of(error, for_good=isinstance(error, _OF_THE_GRAPH), reason="graph_error")


@overload
def serve_graph(
    hf: AsyncClient,
    capability: str,
    compiled: AnyGraph,
    *,
    graph_input: GraphInput | None = ...,
    graph_output: GraphOutput | None = ...,
    config: RunnableConfig | None = ...,
    concurrency: int | None = ...,
    worker: str | None = ...,
    grace: Duration | None = ...,
    signals: bool = ...,
    **definition: Any,
) -> Coroutine[Any, Any, Server]: ...


@overload
def serve_graph(
    hf: Client,
    capability: str,
    compiled: AnyGraph,
    *,
    graph_input: GraphInput | None = ...,
    graph_output: GraphOutput | None = ...,
    config: RunnableConfig | None = ...,
    concurrency: int | None = ...,
    worker: str | None = ...,
    grace: Duration | None = ...,
    signals: bool = ...,
    **definition: Any,
) -> SyncServer: ...


def serve_graph(
    hf: AnyClient,
    capability: str,
    compiled: AnyGraph,
    *,
    graph_input: GraphInput | None = None,
    graph_output: GraphOutput | None = None,
    config: RunnableConfig | None = None,
    concurrency: int | None = None,
    worker: str | None = None,
    grace: Duration | None = None,
    signals: bool = True,
    **definition: Any,
) -> Any:
    """Serves one capability by a graph. To be awaited with an AsyncClient.

    Compile it with a checkpointer that all workers of the agent share, and a redelivery continues; without one it
    starts over. The other options are those of a capability: ``input`` and ``output`` (types or JSON Schema),
    ``timeout``, ``description``, ``version``, ``tags``, ``idempotent``, ``ext``.
    """
    handler = graph_worker(hf, compiled, graph_input=graph_input, graph_output=graph_output, config=config)
    capabilities = {capability: {**definition, "handler": handler}}
    return hf.serve(capabilities, concurrency=concurrency, worker=worker, grace=grace, signals=signals)


class _Runs:
    """One graph, run for handoffs."""

    def __init__(
        self,
        hf: AnyClient,
        graph: AnyGraph,
        graph_input: GraphInput | None,
        graph_output: GraphOutput | None,
        config: RunnableConfig,
    ) -> None:
        self._hf = hf
        self._graph = graph
        self._input = graph_input
        self._output = graph_output
        self._config = config
        self._keeps = isinstance(graph.checkpointer, BaseCheckpointSaver)
        if not self._keeps and (graph.interrupt_before_nodes or graph.interrupt_after_nodes):
            raise UsageError(
                "The graph has breakpoints and no checkpointer: where it stopped, nobody could go on.",
                "Compile it without interrupt_before and interrupt_after; ask the sender by interrupt() in a node.",
            )
        # Without a checkpointer LangGraph breaks by it.
        self._durability: Durability | None = "sync" if self._keeps else None

    def run(self, input: Any, ctx: Context) -> Any:
        config = self._config_for(ctx)
        handed_on = HandedOn(self._hf, ctx)
        # The graph is let go of at the next step, if it is to stop.
        control = RunControl()
        hang_up = ctx.signal.listen(lambda: control.request_drain("The handoff is over."))
        try:
            before = self._graph.get_state(config) if self._keeps else None
            if before is not None and _has_ended(before):
                blocked(ctx, handed_on.take_rest())
                return self._select(self._values_of(before))
            if before is not None and before.parent_config is not None:
                self._check_breakpoints(before, self._graph.get_state(before.parent_config))
            what = None if _is_known(before) else self._input_of(input, ctx)
            while True:
                values = self._graph.invoke(what, config, durability=self._durability, control=control)
                asked = _interrupts_in(values)
                blocked(ctx, handed_on.take_used(_handoffs_in(asked)))
                if not asked:
                    _check_ended(self._graph.get_state(config) if self._keeps else None)
                    if _is_known(before):
                        blocked(ctx, handed_on.take_rest())
                    return self._select(values)
                what = Command(resume={each.id: self._answer(each, ctx, handed_on) for each in asked})
        except Exception:
            # The state tells what it has used; should that be away as well, its own error counts.
            with suppress(Exception):
                if handed_on.is_open:
                    blocked(ctx, handed_on.take_used(_waited_for(self._graph.get_state(config))))
            raise
        finally:
            hang_up()

    async def arun(self, input: Any, ctx: AsyncContext) -> Any:
        config = self._config_for(ctx)
        handed_on = HandedOn(self._hf, ctx)
        try:
            before = await self._graph.aget_state(config) if self._keeps else None
            if before is not None and _has_ended(before):
                await handed_on.take_rest()
                return self._select(self._values_of(before))
            if before is not None and before.parent_config is not None:
                self._check_breakpoints(before, await self._graph.aget_state(before.parent_config))
            what = None if _is_known(before) else self._input_of(input, ctx)
            while True:
                values = await self._graph.ainvoke(what, config, durability=self._durability)
                asked = _interrupts_in(values)
                await handed_on.take_used(_handoffs_in(asked))
                if not asked:
                    _check_ended(await self._graph.aget_state(config) if self._keeps else None)
                    if _is_known(before):
                        await handed_on.take_rest()
                    return self._select(values)
                answers = await asyncio.gather(*(self._aanswer(each, ctx, handed_on) for each in asked))
                what = Command(resume={each.id: answer for each, answer in zip(asked, answers, strict=True)})
        except Exception:
            with suppress(Exception):
                if handed_on.is_open:
                    await handed_on.take_used(_waited_for(await self._graph.aget_state(config)))
            raise

    def _config_for(self, ctx: Context | AsyncContext) -> RunnableConfig:
        configurable = {
            **self._config.get("configurable", {}),
            "thread_id": ctx.handoff["id"],
            CONTEXT_KEY: ctx,
            CLIENT_KEY: self._hf,
        }
        return cast(RunnableConfig, {**self._config, "configurable": configurable})

    def _input_of(self, input: Any, ctx: Context | AsyncContext) -> Any:
        return input if self._input is None else self._input(input, ctx)

    def _values_of(self, state: StateSnapshot) -> Any:
        """What a run returns of it."""
        keys = self._graph.output_channels
        if isinstance(keys, str) or not isinstance(state.values, dict):
            return state.values
        return {key: value for key, value in state.values.items() if key in keys}

    def _check_breakpoints(self, before: StateSnapshot, earlier: StateSnapshot) -> None:
        """An earlier attempt may have stopped at one, and died before it could say so: run again, the graph would go
        past it."""
        graph = self._graph
        if _is_one_of(before, graph.interrupt_before_nodes) or _is_one_of(earlier, graph.interrupt_after_nodes):
            raise _paused(before)

    def _select(self, values: Any) -> Any:
        if self._output is None or not isinstance(values, dict):
            return values
        return self._output(values) if callable(self._output) else values.get(self._output)

    def _answer(self, asked: Interrupt, ctx: Context, handed_on: HandedOn) -> Any:
        told = handoff_in(asked.value)
        if told is None:
            return ctx.ask(asked.value, id=_question_id(asked))
        outcome = blocked(ctx, handed_on.outcome(told["handoff"]))
        waiting: Waiting = {"handfast": {"handoff": told["handoff"], "outcome": outcome}}
        return waiting

    async def _aanswer(self, asked: Interrupt, ctx: AsyncContext, handed_on: HandedOn) -> Any:
        told = handoff_in(asked.value)
        if told is None:
            return await ctx.ask(asked.value, id=_question_id(asked))
        outcome = await handed_on.outcome(told["handoff"])
        waiting: Waiting = {"handfast": {"handoff": told["handoff"], "outcome": outcome}}
        return waiting


def _is_known(before: StateSnapshot | None) -> bool:
    return before is not None and before.created_at is not None


def _has_ended(before: StateSnapshot) -> bool:
    """It had ended, and only its outcome was lost. `next` is empty too where the last step is done and the next was
    never begun: what counts is whether there are tasks."""
    return before.created_at is not None and not before.tasks


def _is_one_of(state: StateSnapshot, nodes: All | Sequence[str]) -> bool:
    """Whether one of the nodes that the state is followed by is one of these."""
    names = {task.name for task in state.tasks} - {START}
    return bool(names) if nodes == "*" else not names.isdisjoint(nodes)


def _check_ended(after: StateSnapshot | None) -> None:
    """A run that stops at a breakpoint comes back as one that has ended does."""
    if after is not None and after.tasks:
        raise _paused(after)


def _paused(state: StateSnapshot) -> Fail:
    nodes = ", ".join(task.name for task in state.tasks)
    return Fail(
        f"The graph stopped at its own breakpoint, before {nodes}, for a person to look.", reason="graph_paused"
    )


def _interrupts_in(values: Any) -> Sequence[Interrupt]:
    found = values.get("__interrupt__", ()) if isinstance(values, dict) else ()
    return list({each.id: each for each in found}.values())


def _handoffs_in(asked: Iterable[Interrupt]) -> set[str]:
    """Those whose outcomes a graph waits for."""
    return {told["handoff"] for each in asked if (told := handoff_in(each.value)) is not None}


def _waited_for(state: StateSnapshot) -> set[str]:
    """The same of a state."""
    return _handoffs_in(each for task in state.tasks for each in task.interrupts)


def _question_id(asked: Interrupt) -> str:
    """The same in every attempt, so that it is asked once."""
    text = f"{asked.id}\n{json.dumps(asked.value, sort_keys=True, default=str)}"
    return f"langgraph-{hashlib.sha256(text.encode()).hexdigest()[:24]}"
