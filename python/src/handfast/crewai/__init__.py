"""Handfast for CrewAI: a tool that hands work off, flows that sleep until an outcome wakes them, crews and flows as
workers.

``handoff_tool`` is for agents, ``handoff`` and ``resume_outcomes`` for flows that send, ``serve_crew`` and
``serve_flow`` for workers (``crew_worker`` and ``flow_worker`` are the handlers alone).
docs/frameworks/crewai.md shows each in use.
"""

from . import _version as _version  # isort: split

from .._adapters import CompletedOutcome, FailedOutcome, Lock, Outcome, SyncWaker, Waker, Woken, outcome_text
from ._crew_worker import crew_worker, serve_crew
from ._flow_worker import SenderFeedback, flow_worker, serve_flow
from ._handoff import HandoffProvider, handoff, outcome_of
from ._resume import resume_outcomes
from ._tool import HandoffTool, handoff_tool

__all__ = [
    "CompletedOutcome",
    "FailedOutcome",
    "HandoffProvider",
    "HandoffTool",
    "Lock",
    "Outcome",
    "SenderFeedback",
    "SyncWaker",
    "Waker",
    "Woken",
    "crew_worker",
    "flow_worker",
    "handoff",
    "handoff_tool",
    "outcome_of",
    "outcome_text",
    "resume_outcomes",
    "serve_crew",
    "serve_flow",
]
