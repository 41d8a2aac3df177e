"""A graph that has research done elsewhere and writes about it, with what its nodes did, for tests.

START → plan → research → research_outcome → note → write → END.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from handfast.langgraph import Outcome, add_handoff


class Planned(TypedDict, total=False):
    topic: str
    report: Outcome
    text: str


Ran = Callable[[str, Planned], Any]


def planner(
    hf: Any,
    capability: str,
    saver: BaseCheckpointSaver[Any] | None,
    ran: Ran = lambda _node, _state: None,
    **options: Any,
) -> Any:
    """`ran` is told when a node runs. It may raise, or not come back."""

    def plan(state: Planned) -> Planned:
        ran("plan", state)
        return {"topic": state["topic"].strip()}

    def note(state: Planned) -> Planned:
        ran("note", state)
        return {}

    def write(state: Planned) -> Planned:
        ran("write", state)
        return {"text": text_of(state["report"])}

    graph: Any = StateGraph(Planned)
    graph.add_node("plan", plan)
    graph.add_node("note", note)
    graph.add_node("write", write)
    usual: dict[str, Any] = {"input": lambda state: {"topic": state["topic"]}, "output": "report", "timeout": 60}
    add_handoff(graph, "research", capability=capability, hf=hf, **{**usual, **options})
    graph.add_edge(START, "plan")
    graph.add_edge("plan", "research")
    graph.add_edge("research_outcome", "note")
    graph.add_edge("note", "write")
    graph.add_edge("write", END)
    return graph.compile(checkpointer=saver)


def text_of(report: Outcome) -> str:
    if report["status"] == "completed":
        return json.dumps(report["output"])
    return f"{report['code']} {report['error']['reason']}"
