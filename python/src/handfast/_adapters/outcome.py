"""What became of a handoff, as a value that a framework can keep in its own state: failures and missed deadlines
too."""

from __future__ import annotations

import json
from typing import Any, Literal, Union

from typing_extensions import NotRequired, TypedDict

from .._duration import Duration
from .._generated.views import HandoffView
from .._send.handle import AsyncHandle
from .._send.output import output_of
from ..errors import HandfastError, HandoffError


class CompletedOutcome(TypedDict):
    """It was done."""

    handoff: str
    status: Literal["completed"]
    code: int
    name: str
    output: Any
    retryable: Literal[False]


class OutcomeError(TypedDict):
    """Why it was not done."""

    reason: str
    message: str
    detail: NotRequired[Any]


class FailedOutcome(TypedDict):
    """It ended otherwise."""

    handoff: Union[str, None]
    """None where the relay refused it: then there is no handoff."""
    status: Literal["failed", "rejected", "canceled", "expired", "refused"]
    code: int
    """Such as 408: the deadline passed."""
    name: str
    error: OutcomeError
    retryable: bool
    """Whether the same again may succeed."""


Outcome = Union[CompletedOutcome, FailedOutcome]
"""Plain dicts, so that any checkpointer and any state can keep them."""


async def outcome_of(handle: AsyncHandle[Any], *, timeout: Duration | None = None, take: bool = False) -> Outcome:
    """Waits until it has ended. Raises only where the wait itself broke.

    :param take: Confirm to the relay that it is here.
    """
    view = await handle.outcome(timeout=timeout, take=False)
    outcome: Outcome
    if view["state"] == "completed":
        outcome = {
            "handoff": view["id"],
            "status": "completed",
            "code": view["code"],
            "name": view["name"],
            "output": output_of(view),
            "retryable": False,
        }
    else:
        outcome = failure_of(view)
    if take:
        await handle.take()
    return outcome


def failure_of(view: HandoffView) -> FailedOutcome:
    """Of a handoff that ended otherwise than completed."""
    ended = view["outcome"]
    said: Any = None if ended is None else ended["error"]
    error: OutcomeError
    if said is None:
        error = {"reason": view["name"], "message": HandoffError.ended(view).message}
    else:
        error = {"reason": said["reason"], "message": said["message"]}
        if said.get("detail") is not None:
            error["detail"] = said["detail"]
    status: Any = view["state"]
    return {
        "handoff": view["id"],
        "status": status,
        "code": view["code"],
        "name": view["name"],
        "error": error,
        "retryable": view["retryable"],
    }


_OF_SETUP = frozenset([400, 401, 403, 409])
"""Refusals that say something of the setup and not of the work: nothing that a graph or a model could deal with."""


def refusal_as_outcome(error: BaseException) -> FailedOutcome:
    """What a relay refused, such as a capability that nobody offers (406), as an outcome. Raises everything else."""
    if not isinstance(error, HandoffError) or error.problem is None or error.code in _OF_SETUP:
        raise error
    return {
        "handoff": None,
        "status": "refused",
        "code": error.code,
        "name": error.name,
        "error": {"reason": error.reason, "message": error.message},
        "retryable": error.retryable,
    }


def outcome_text(outcome: Outcome) -> str:
    """For a model: the output, or what went wrong, with its code and whether another try may help."""
    if outcome["status"] == "completed":
        output = outcome["output"]
        return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
    error = outcome["error"]
    trouble = _trouble(outcome["code"], outcome["name"], error["reason"], error["message"], outcome["retryable"])
    return f"The handoff ended as {outcome['status']}: {trouble}"


def error_text(error: HandfastError) -> str:
    """For a model, where there is no outcome: the setup is wrong, or the relay is away."""
    code, name = (error.code, error.name) if isinstance(error, HandoffError) else (None, error.reason)
    told = f"{sentence(error.message)} {error.remedy}"
    return f"The handoff could not be made: {_trouble(code, name, error.reason, told, error.retryable)}"


def _trouble(code: int | None, name: str, reason: str, message: str, retryable: bool) -> str:
    again = "Trying again may help." if retryable else "Trying the same again does not help."
    # Where the reason is the code's own name it was said.
    exactly = "" if reason == name else f" ({reason})"
    return f"{'' if code is None else f'{code} '}{name}{exactly}: {sentence(message)} {again}"


def sentence(message: str) -> str:
    """With an end, so that another can follow: people leave out the full stop."""
    text = message.rstrip()
    return text if text == "" or text[-1] in ".!?…" else f"{text}."
