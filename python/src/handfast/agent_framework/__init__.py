"""Microsoft Agent Framework and Handfast: workflows and agents that hand work off, and that others hand work to.

- ``HandoffExecutor``: a node of a workflow that hands off, and sleeps until the outcome is there.
- ``WorkflowRuns``: keeps runs, and goes on with each when its outcome comes, also after the process was killed.
- ``handoff_tool``: a capability as a tool for agents.
- ``serve_workflow``, ``workflow_worker``: a workflow or an agent as a worker.
"""

from . import _version as _version  # isort: split

from .._adapters import CompletedOutcome, FailedOutcome, Lock, Outcome, Waker, Woken, outcome_text
from ._executor import HandoffExecutor, outcomes_of
from ._kept import WorkflowRun
from ._runs import WorkflowRuns
from ._tool import handoff_tool
from ._worker import serve_workflow, workflow_worker

__all__ = [
    "CompletedOutcome",
    "FailedOutcome",
    "HandoffExecutor",
    "Lock",
    "Outcome",
    "Waker",
    "Woken",
    "WorkflowRun",
    "WorkflowRuns",
    "handoff_tool",
    "outcome_text",
    "outcomes_of",
    "serve_workflow",
    "workflow_worker",
]
