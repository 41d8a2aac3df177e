"""AutoGen (autogen-core and agentchat) and Handfast: agents and teams that hand work off, and that others hand work to.

- ``handoff_tool``: a capability as a tool that waits in place.
- ``pausing_handoff``: the same as one of an agent's ``handoffs``: the team stops, and ``TeamRuns`` goes on with it when
  the outcome is there, also after the process was killed.
- ``HandoffAgent``: a participant of a team that stands for a capability.
- ``CapabilityAgent``: the same for the runtime of autogen-core.
- ``serve_team``, ``team_worker``, ``runtime_worker``: a team, an agent, or an agent of a runtime as a worker.
"""

from . import _version as _version  # isort: split

from .._adapters import CompletedOutcome, FailedOutcome, Lock, Outcome, Waker, Woken, outcome_text
from ._agents import CapabilityAgent, CapabilityOutcome, CapabilityTask, HandoffAgent
from ._records import FileRecords, Records
from ._runs import TeamRun, TeamRuns
from ._sending import PAUSED
from ._tools import HandoffTool, PausingHandoff, handoff_tool, pausing_handoff
from ._worker import handoff_of, keep_state, runtime_worker, serve_team, team_worker

__all__ = [
    "PAUSED",
    "CapabilityAgent",
    "CapabilityOutcome",
    "CapabilityTask",
    "CompletedOutcome",
    "FailedOutcome",
    "FileRecords",
    "HandoffAgent",
    "HandoffTool",
    "Lock",
    "Outcome",
    "PausingHandoff",
    "Records",
    "TeamRun",
    "TeamRuns",
    "Waker",
    "Woken",
    "handoff_of",
    "handoff_tool",
    "keep_state",
    "outcome_text",
    "pausing_handoff",
    "runtime_worker",
    "serve_team",
    "team_worker",
]
