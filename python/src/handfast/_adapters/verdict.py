"""What an error of a framework means for the handoff that it worked on."""

from __future__ import annotations

from ..errors import Fail, HandfastError, Reject, Retry


def verdict_of(error: Exception, *, for_good: bool = False, reason: str = "framework_error") -> Exception:
    """What to raise in its place: its class and the first line of its message, nothing of where it happened.

    What was raised for Handfast goes as it is.

    :param for_good: Another attempt would run into the same.
    """
    if isinstance(error, (HandfastError, Fail, Retry, Reject)):
        return error
    first_line = (str(error).splitlines() or [""])[0][:500]
    message = f"{type(error).__name__}: {first_line}" if first_line else type(error).__name__
    return Fail(message, reason=reason) if for_good else Retry(message)
