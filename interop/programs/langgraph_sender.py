"""A sender whose handoffs are nodes of LangGraph graphs: a thread for each, asleep until it has its outcome.

The suite names a capability with every command, and a graph has its own: so there is a graph for each, with a name
that a new life finds in the labels of what the last one sent.
"""

from __future__ import annotations

import asyncio
import json
import operator
from typing import Annotated, Any

from handfast.langgraph import Outcome, Waker, add_handoff, resume_outcomes
from harness import Sender, tell
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from typing_extensions import TypedDict


class One(TypedDict, total=False):
    """A thread with one handoff."""

    tag: str
    input: dict[str, Any]
    report: Outcome


class Part(TypedDict, total=False):
    """One of many: a graph of its own within the other."""

    at: int
    input: dict[str, Any]
    report: Outcome
    reports: Annotated[list[tuple[int, Outcome]], operator.add]


class Many(TypedDict, total=False):
    """A thread with many handoffs at once."""

    inputs: list[dict[str, Any]]
    reports: Annotated[list[tuple[int, Outcome]], operator.add]


class GraphSender(Sender):
    """Graphs by their names, each with what wakes its threads."""

    def __init__(self, saver: BaseCheckpointSaver[Any]) -> None:
        super().__init__()
        self._saver = saver
        self._graphs: dict[str, Any] = {}
        self._wakers: list[Waker] = []
        self._ended: dict[str, asyncio.Event] = {}

    async def hand_off(self, tag: str, capability: str, input: dict[str, Any], options: dict[str, Any]) -> None:
        ended = self._ended[tag] = asyncio.Event()
        graph = self._graph(json.dumps(["one", capability, options]))
        values = await graph.ainvoke({"tag": tag, "input": input}, _thread(tag), durability="sync")
        for paused in values.get("__interrupt__", ()):
            self.sent(tag, paused.value["handfast"]["handoff"])
        # Where it had ended before the thread could sleep, the graph went on at once.
        if "__interrupt__" not in values and (id := values["report"]["handoff"]) is not None:
            self.sent(tag, id)
        await ended.wait()

    async def scatter(self, tag: str, capability: str, inputs: list[dict[str, Any]]) -> list[Any]:
        ended = self._ended[tag] = asyncio.Event()
        graph = self._graph(json.dumps(["many", capability, {"correlation": tag}]))
        config = _thread(tag)
        await graph.ainvoke({"inputs": inputs}, config, durability="sync")
        await ended.wait()
        reports = dict((await graph.aget_state(config)).values["reports"])
        return [reports[at].get("output") for at in range(len(inputs))]

    async def resume(self) -> None:
        """Every graph of which a thread may still sleep goes on; the rest follows by itself."""
        views: list[Any] = (await self.hf.call("outcomes", query={"limit": 500}))["handoffs"]
        for state in ("queued", "delivered", "working"):
            views.extend((await self.hf.call("list", query={"state": state, "limit": 500}))["handoffs"])
        for name in {view["labels"]["langgraph.graph"] for view in views if view["from"] == self.hf.agent}:
            self._graph(name)

    async def _answer(self, tag: str, answer: str) -> None:
        """The question may be there before the graph has come to its pause: the label says whose it is."""
        async for question in self.hf.questions():
            labels = (await self.hf.handle(question["handoff"]).status())["labels"]
            if labels.get("langgraph.thread") == tag:
                await self.hf.answer(question, answer)
                return

    async def stop(self) -> None:
        """No thread is woken any more."""
        await asyncio.gather(*(waker.stop(0) for waker in self._wakers))

    def _graph(self, name: str) -> Any:
        if name not in self._graphs:
            kind, capability, options = json.loads(name)
            make = self._one if kind == "one" else self._many
            graph = self._graphs[name] = make(name, capability, options).compile(checkpointer=self._saver)
            self._wakers.append(resume_outcomes(self.hf, graph, graph=name, on_error=_broken))
        return self._graphs[name]

    def _one(self, name: str, capability: str, options: dict[str, Any]) -> Any:
        builder = StateGraph(One)
        self._handoff(builder, name, capability, options, "tell")
        builder.add_node("tell", self._tell)
        builder.add_edge("tell", END)
        return builder

    def _many(self, name: str, capability: str, options: dict[str, Any]) -> Any:
        part = StateGraph(Part)
        self._handoff(part, name, capability, options, "keep")
        part.add_node("keep", lambda state: {"reports": [(state["at"], state["report"])]})
        part.add_edge("keep", END)
        builder: Any = StateGraph(Many)
        builder.add_node("part", part.compile())
        builder.add_conditional_edges(START, _each, ["part"])
        builder.add_node("end", self._end)
        builder.add_edge("part", "end")
        builder.add_edge("end", END)
        return builder

    def _handoff(self, builder: Any, name: str, capability: str, options: dict[str, Any], next: str) -> None:
        add_handoff(
            builder,
            "hand_off",
            hf=self.hf,
            capability=capability,
            input=lambda state: state["input"],
            output="report",
            next=next,
            graph=name,
            **options,
        )
        builder.add_edge(START, "hand_off")

    async def _tell(self, state: One) -> One:
        report, tag = state["report"], state["tag"]
        if report["status"] == "refused":
            tell(tag=tag, refused=report["code"])
        else:
            self.ended(tag, report["status"], report["code"], report.get("output"))
        if tag in self._ended:
            self._ended[tag].set()
        return {}

    async def _end(self, _state: Many, config: RunnableConfig) -> Many:
        self._ended[config["configurable"]["thread_id"]].set()
        return {}


def _each(state: Many) -> list[Send]:
    return [Send("part", {"at": at, "input": input}) for at, input in enumerate(state["inputs"])]


def _thread(id: str) -> Any:
    return {"configurable": {"thread_id": id}}


def _broken(error: BaseException, handoff: str, _key: str) -> None:
    tell(tag=handoff, broken=f"{type(error).__name__}: {error}")


async def main() -> None:
    async with AsyncSqliteSaver.from_conn_string("threads.db") as saver:
        sender = GraphSender(saver)
        try:
            await sender.run()
        finally:
            await sender.stop()


asyncio.run(main())
