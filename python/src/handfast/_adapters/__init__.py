"""What the adapters for agent frameworks share. The same as ``@handfast/adapter-kit``, with the same shapes and names.

Everything here is made of coroutines of the client's own event loop; ``kinds`` awaits them or blocks for them, so that
an adapter is written once for both clients.
"""

from .framework import check_framework
from .hand_off import hand_off
from .kinds import AnyClient, AnySender, BlockingWork, async_client_of, awaited, blocked, handle_of, sender_of
from .outcome import (
    CompletedOutcome,
    FailedOutcome,
    Outcome,
    OutcomeError,
    error_text,
    failure_of,
    outcome_of,
    outcome_text,
    refusal_as_outcome,
    sentence,
)
from .scope import Scope, in_scope, scope_now
from .tool_shape import ToolShape, target_of, tool_shape_of
from .turns import Lock
from .verdict import verdict_of
from .wake import Sleepers, SyncWaker, WakeCall, WakeOptions, Waker, Woken, wake_by_outcomes

__all__ = [
    "AnyClient",
    "AnySender",
    "BlockingWork",
    "CompletedOutcome",
    "FailedOutcome",
    "Lock",
    "Outcome",
    "OutcomeError",
    "Scope",
    "Sleepers",
    "SyncWaker",
    "ToolShape",
    "WakeCall",
    "WakeOptions",
    "Waker",
    "Woken",
    "async_client_of",
    "awaited",
    "blocked",
    "check_framework",
    "error_text",
    "failure_of",
    "hand_off",
    "handle_of",
    "in_scope",
    "outcome_of",
    "outcome_text",
    "refusal_as_outcome",
    "scope_now",
    "sender_of",
    "sentence",
    "target_of",
    "tool_shape_of",
    "verdict_of",
    "wake_by_outcomes",
]
