"""Handfast for CrewAI: a tool that hands work off, flows that sleep until an outcome wakes them, crews and flows as
workers.

``handoff_tool`` is for agents, ``handoff`` and ``resume_outcomes`` for flows that send, ``serve_crew`` and
``serve_flow`` for workers. docs/frameworks/crewai.md shows each in use.
"""

from . import _version as _version  # isort: split

from .._adapters import FailedOutcome, Lock, Outcome, SyncWaker, Waker, Woken
from ._crew_handler import crew_handler, serve_crew
from ._flow_handler import SenderFeedback, flow_handler, serve_flow
from ._handoff import HandoffProvider, handoff, outcome_of
from ._resume import resume_outcomes
from ._tool import HandoffTool, handoff_tool

__all__ = [
    "FailedOutcome",
    "HandoffProvider",
    "HandoffTool",
    "Lock",
    "Outcome",
    "SenderFeedback",
    "SyncWaker",
    "Waker",
    "Woken",
    "crew_handler",
    "flow_handler",
    "handoff",
    "handoff_tool",
    "outcome_of",
    "resume_outcomes",
    "serve_crew",
    "serve_flow",
]
