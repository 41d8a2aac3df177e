"""Why a handler is told to stop, and what of an error a handoff's record keeps."""

from __future__ import annotations

import traceback
from typing import Any

from .._protocol.ids import is_name
from ..errors import Fail, HandfastError, Reject, Retry
from .limits import MESSAGE_CHARS
from .strict_detail import strict_detail, well_formed


class Parked(BaseException):
    """The handler asked and does not wait: it is run again, from its start, with the answer. Let it pass.

    Not an Exception, so that a handler that catches those does not catch this.
    """

    def __init__(self, question: str) -> None:
        super().__init__(f"Question {question} is parked. The handler ends here and is run again once it is answered.")


def parked_reason(question: str) -> HandfastError:
    """What the signal of a parked handler says."""
    return HandfastError(
        f"Question {question} is parked: the handler is run again, from its start, once it is answered.",
        reason="parked",
        remedy="Let the exception of ask() pass.",
        retryable=True,
        anchor="worker_stopping",
    )


def stopping(handoff: str) -> HandfastError:
    """The worker stops: what is not done within the grace goes back to the queue."""
    return HandfastError(
        f"The worker stops: handoff {handoff} is given back unless it ends now.",
        reason="worker_stopping",
        remedy="Keep a checkpoint and return; the next attempt goes on from it.",
        retryable=True,
        anchor="worker_stopping",
    )


def no_more(worker: str) -> HandfastError:
    """The worker has stopped: what was still on its way for it ends with this."""
    return HandfastError(
        f"The worker {worker} is no more.",
        reason="worker_gone",
        remedy="Nothing: what it held was given back, or another attempt does it when its lease has run out.",
        retryable=True,
        anchor="worker_stopping",
    )


def outcome_error(reason: Any, message: str, detail: Any = None) -> dict[str, Any]:
    """As the wire takes it: bounded, and only what JSON can hold."""
    text = well_formed(message)
    kept = None if detail is None else strict_detail(detail)
    return {
        "reason": reason if is_name(reason) else "failed",
        "message": text if len(text) <= MESSAGE_CHARS else text[: MESSAGE_CHARS - 1] + "…",
        **({} if kept is None else {"detail": kept}),
    }


def message_of(error: BaseException) -> str:
    """Of whatever was raised: its class and what it says, unless it was written for readers of handoffs."""
    try:
        if isinstance(error, HandfastError):
            return error.message
        said = str(error)
        if isinstance(error, (Fail, Retry, Reject)):
            return said or type(error).__name__
        return f"{type(error).__name__}: {said}" if said else type(error).__name__
    except Exception:
        return f"{type(error).__name__}, which cannot be shown"


def story_of(error: BaseException) -> str:
    """With the place it came from, for the people here."""
    try:
        return "".join(traceback.format_exception(type(error), error, error.__traceback__)).rstrip()
    except Exception:
        return message_of(error)
