"""What can go wrong on the sending side, said to a person: what happened, which value, what to do next."""

from __future__ import annotations

from typing import Any

from ..errors import HandoffError


def no_time_left(parent: str) -> HandoffError:
    """A child ends before its parent does: with no time left it would be dead on arrival."""
    return HandoffError(
        f"Nothing more can be sent for the handoff {parent}: its deadline has passed.",
        code=408,
        reason="deadline_passed",
        retryable=False,
        handoff=parent,
    )


def output_gone(handoff: str) -> HandoffError:
    """It is completed, and the relay no longer has the bytes of its output, or they do not fit into one answer."""
    return HandoffError(
        f"The handoff {handoff} is completed, but the relay did not give its output.",
        code=404,
        reason="output_gone",
        remedy="Retention may have dropped it: take results in time, or keep them longer (keep-taken, keep-untaken).",
        handoff=handoff,
    )


def output_unfit(handoff: str, expected: str, why: str) -> HandoffError:
    """It is completed and fits the schema, but not the type that its sender reads it as."""
    return HandoffError(
        f"The handoff {handoff} is completed, but its output is no {expected}: {why}",
        code=502,
        reason="output_unfit",
        remedy="It is not taken: read it as it came with outcome(), or correct the type that expects names.",
        retryable=False,
        handoff=handoff,
    )


def not_proven(handoff: str, message: str, remedy: str) -> HandoffError:
    return HandoffError(message, code=401, reason="not_proven", remedy=remedy, retryable=False, handoff=handoff)


_UNKNOWN_ID = (
    "Check the id, and that this is the relay, the namespace and the agent it was sent with; "
    "what was taken is dropped after 7 days."
)
_FORGOTTEN = (
    "The relay came back with an empty or older store, this is another relay, or retention dropped it long ago. "
    "Look at the relay's --data folder; to have the work done, send it again."
)


def explained(error: HandoffError, handoff: str, receipt: Any) -> HandoffError:
    """A 404 for what this client knows was accepted means something else than one for an id that somebody typed."""
    if error.reason != "unknown_handoff":
        return error
    is_ours = receipt is not None
    return HandoffError(
        f"The relay accepted the handoff {handoff} and no longer knows it." if is_ours else error.message,
        code=error.code,
        reason=error.reason,
        remedy=_FORGOTTEN if is_ours else _UNKNOWN_ID,
        handoff=handoff,
        problem=error.problem,
        retryable=False,
    )
