"""A worker whose work is done by a LangGraph graph; what it asks, it asks by LangGraph's own interrupt."""

from __future__ import annotations

import asyncio
from typing import Any

import handfast
from handfast import AsyncClient, AsyncContext
from handfast.langgraph import serve_graph
from harness import INPUT_SCHEMA, OUTPUT_SCHEMA, QUESTION, Worker, do_task
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict


class State(TypedDict, total=False):
    """The handoff's input, and what comes of it."""

    text: str
    mode: str
    hold: str
    answer: str
    output: dict[str, str]


def ask(state: State) -> State:
    """The sender is asked by whoever serves the graph."""
    return {"answer": interrupt(QUESTION)} if state.get("mode") == "ask" else {}


async def work(state: State) -> State:
    """Reaches the handoff that it works on."""
    ctx = handfast.current()
    assert isinstance(ctx, AsyncContext)
    output = await do_task({"text": state["text"], "mode": _hold_or_plain(state), "hold": state.get("hold", "")}, ctx)
    return {"output": output if "answer" not in state else {**output, "answer": state["answer"]}}


def _hold_or_plain(state: State) -> str:
    return "hold" if state.get("mode") == "hold" else "plain"


def graph_of(saver: BaseCheckpointSaver[Any]) -> Any:
    """ask → work."""
    builder = StateGraph(State)
    builder.add_node("ask", ask)
    builder.add_node("work", work)
    builder.add_edge(START, "ask")
    builder.add_edge("ask", "work")
    builder.add_edge("work", END)
    return builder.compile(checkpointer=saver)


class GraphWorker(Worker):
    """The same graph for every agent."""

    def __init__(self, graph: Any) -> None:
        super().__init__()
        self._graph = graph

    async def offer(self, hf: AsyncClient, capability: str) -> None:
        await serve_graph(
            hf,
            capability,
            self._graph,
            input=INPUT_SCHEMA,
            output=OUTPUT_SCHEMA,
            graph_output="output",
            concurrency=12,
            signals=False,
        )


async def main() -> None:
    async with AsyncSqliteSaver.from_conn_string("threads.db") as saver:
        await GraphWorker(graph_of(saver)).run()


asyncio.run(main())
