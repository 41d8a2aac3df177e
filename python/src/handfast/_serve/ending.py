"""What a handler's end means for its handoff: an output, a failure with or without another attempt, or a refusal."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, Union

from .._protocol.limits import DURATION_MS
from .._typed import Unfit
from .._wire_json import check_size, plain_json, plain_text, write_json
from ..errors import Fail, HandfastError, Reject, Retry
from .capabilities import Offered
from .faults import message_of, outcome_error
from .schema import NotJson
from .signals import is_of_process
from .strict_detail import well_formed


@dataclass(frozen=True)
class Completed:
    output: Any
    """Plain JSON; with `is_text` a str that goes as plain text."""
    is_text: bool = False


@dataclass(frozen=True)
class Failed:
    error: dict[str, Any]
    retryable: bool
    retry_after_ms: int | None = None


@dataclass(frozen=True)
class Rejected:
    error: dict[str, Any]


@dataclass(frozen=True)
class Released:
    """The worker stops: back to the queue, and no attempt is counted."""


Ending = Union[Completed, Failed, Rejected, Released]


def is_verdict(raised: BaseException) -> bool:
    """Whether the handler said what is to become of its handoff."""
    return isinstance(raised, (Reject, Fail, Retry))


def ending_of_raised(raised: BaseException) -> Ending:
    """An error that a handler did not mean for us may be an accident: it is tried again."""
    if isinstance(raised, Reject):
        return Rejected(outcome_error(raised.reason, message_of(raised)))
    if isinstance(raised, Fail):
        return Failed(outcome_error(raised.reason, message_of(raised), raised.detail), False)
    if isinstance(raised, Retry):
        return Failed(outcome_error("retry", message_of(raised)), True, _retry_after(raised.after_ms))
    if isinstance(raised, HandfastError):
        return Failed(outcome_error(raised.reason, message_of(raised)), raised.retryable)
    return Failed(outcome_error("handler_error", message_of(raised)), True)


def _retry_after(after_ms: int | None) -> int | None:
    """The longest pause there is stands for every longer one."""
    return None if after_ms is None or after_ms < 1 else min(math.ceil(after_ms), DURATION_MS)


def plainest(ending: Ending, has_more: bool) -> Ending | None:
    """A failure in the fewest words; None: it has no fewer. ``has_more``: something was to be said beside it."""
    if not isinstance(ending, (Failed, Rejected)):
        return None
    has_pause = isinstance(ending, Failed) and ending.retry_after_ms is not None
    if not has_more and "detail" not in ending.error and not has_pause:
        return None
    bare = {"reason": ending.error["reason"], "message": ending.error["message"]}
    return Failed(bare, ending.retryable) if isinstance(ending, Failed) else Rejected(bare)


def ending_of_returned(offered: Offered, returned: Any) -> Ending:
    try:
        if offered.text:
            return Completed(_text_of(returned), is_text=True)
        value = returned if offered.output is None else offered.output.written(returned)
        output = plain_json(value, "The output")
        check_size(write_json(output, "The output"), "The output")
        return Completed(output)
    except Unfit as fault:
        return unfit(str(fault))
    except NotJson as fault:
        return Failed(outcome_error("output_not_json", f"The output cannot be sent as JSON: {fault}"), False)
    except BaseException as error:  # A validator of the user's own may raise anything.
        if is_of_process(error):
            raise
        return Failed(outcome_error("output_not_json", message_of(error)), False)


def unfit(fault: str) -> Failed:
    """Another attempt may do better: the outputs of models differ from run to run."""
    return Failed(outcome_error("output_unfit", f"The output does not fit its schema: {fault}"), True)


def _text_of(returned: Any) -> str:
    """What a text handler returns besides text is shown as JSON, so that nothing is lost."""
    if isinstance(returned, str):
        return well_formed(plain_text(returned))
    if returned is None:
        return ""
    if isinstance(returned, (bytes, bytearray)):
        return bytes(returned).decode("utf-8", "replace")
    try:
        return write_json(returned, "The output")
    except HandfastError:
        return well_formed(json.dumps(returned, ensure_ascii=False, default=str))
