"""Handfast for LangGraph: graphs that hand work to other agents and sleep until its outcome, and graphs as workers.

``add_handoff`` and ``add_handoff_tools`` put handoffs into a graph, ``resume_outcomes`` wakes its threads,
``handoff_tool`` is a tool for any agent, ``serve_graph`` lets a compiled graph work for others. Guide:
docs/frameworks/langgraph.md.
"""

from . import _version as _version  # isort: split

from .._adapters import CompletedOutcome, FailedOutcome, Lock, Outcome, SyncWaker, Waker, Woken, outcome_text
from ._add_handoff import add_handoff
from ._add_handoff_tools import add_handoff_tools
from ._config import ClientSource, handoff_of
from ._resume import resume_outcomes
from ._tool import HandoffTool, ahandoff_tool, handoff_tool
from ._worker import graph_worker, serve_graph

__all__ = [
    "ClientSource",
    "CompletedOutcome",
    "FailedOutcome",
    "HandoffTool",
    "Lock",
    "Outcome",
    "SyncWaker",
    "Waker",
    "Woken",
    "add_handoff",
    "add_handoff_tools",
    "ahandoff_tool",
    "graph_worker",
    "handoff_of",
    "handoff_tool",
    "outcome_text",
    "resume_outcomes",
    "serve_graph",
]
