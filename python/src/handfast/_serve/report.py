"""Says what came of the work, and goes on saying it until the relay has answered: across broken connections and a
relay that restarts, as long as the deadline has not passed. Repeating it changes nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from .._acts import complete, fail, reject
from .._base import Base
from .._signal import Signal, unless
from ..errors import HandfastError, HandoffError, UsageError
from .ending import Completed, Ending, Failed, Rejected, plainest, unfit
from .faults import message_of, outcome_error
from .held import Held
from .limits import ERRAND_PATIENCE_S, ROOM_PATIENCE_S, ROOM_PAUSE_S
from .serving import Serving


@dataclass(frozen=True)
class Said:
    ending: Ending
    enclosed: dict[str, Any] = field(default_factory=dict)
    """What an outcome carries beside its output: usage, artifacts."""


async def report(serving: Serving, held: Held, said: Said) -> None:
    """Raises nothing of ours: what the relay does not take is told to the people here."""
    try:
        await _say_when_there_is_room(serving, held, said)
    except Exception as error:
        instead = None if held.is_over else _say_instead(said, error)
        if instead is None:
            _warn_of_loss(serving, held, error)
            return
        serving.base.warn(instead.reason, instead.message, held.id)
        await report(serving, held, Said(instead.ending))


async def _say_when_there_is_room(serving: Serving, held: Held, said: Said) -> None:
    """A relay whose disk is nearly full takes no large output, and may have room again in a moment.

    The work is done, and the lease is kept alive: for that alone it is not done again.
    """
    surroundings = serving.base.surroundings
    until = surroundings.monotonic() + min(ROOM_PATIENCE_S, held.deadline() - ROOM_PAUSE_S)
    is_first = True
    while True:
        try:
            return await _say(serving, held, said)
        except HandoffError as error:
            may_wait = isinstance(said.ending, Completed) and error.code == 507 and not held.told.is_set
            if not may_wait or surroundings.monotonic() >= until:
                raise
            if is_first:
                message = (
                    f"The relay has no room for the output of handoff {held.id}, and is told again: {error.message}"
                )
                serving.base.warn(error.reason, message, held.id)
            is_first = False
        try:
            await unless(surroundings.sleep(ROOM_PAUSE_S), held.told)
        except HandfastError:
            # Whoever stops this worker, or ends the lease, ends the wait too: then it is said a last time.
            pass


async def _say(serving: Serving, held: Held, said: Said) -> None:
    base, worker, lease = serving.base, serving.worker, held.lease
    ending = said.ending
    patience = max(held.deadline(), ERRAND_PATIENCE_S)
    usage = said.enclosed.get("usage")
    act: Awaitable[Any]
    if isinstance(ending, Completed):
        artifacts = said.enclosed.get("artifacts")
        is_text = ending.is_text
        act = complete(
            base, lease, worker, ending.output, is_text=is_text, usage=usage, artifacts=artifacts, patience=patience
        )
    elif isinstance(ending, Failed):
        retryable, after_ms = ending.retryable, ending.retry_after_ms
        act = fail(
            base,
            lease,
            worker,
            ending.error,
            retryable=retryable,
            retry_after_ms=after_ms,
            usage=usage,
            patience=patience,
        )
    elif isinstance(ending, Rejected):
        act = reject(base, lease, worker, ending.error, patience=patience)
    else:
        act = release(base, worker, lease, serving.gone)
    await unless(act, serving.gone)


async def release(base: Base, worker: str, lease: Mapping[str, Any], gone: Signal) -> None:
    """Gives a lease back. Where it is not heard, the clocks do the same later."""
    body = {"fence": lease["fence"], "worker": worker}
    call = base.link.call("release", params={"id": lease["id"]}, body=body, patience=ERRAND_PATIENCE_S)
    try:
        await unless(call, gone)
    except HandfastError:
        pass


@dataclass(frozen=True)
class _Instead:
    ending: Ending
    reason: str
    message: str


def _say_instead(said: Said, error: Exception) -> _Instead | None:
    """What the relay refused as such is said otherwise, so that it comes to an end and the work is not done again.

    An output as a failure of the handler, a failure in its plainest form. None: it was not refused for what it says,
    or is plain.
    """
    if not isinstance(error, HandfastError) or not _is_refused_content(error):
        return None
    if isinstance(said.ending, Completed):
        failure = _output_refused(error)
        return _Instead(failure, failure.error["reason"], failure.error["message"])
    plain = plainest(said.ending, "usage" in said.enclosed)
    if plain is None:
        return None
    message = f"The relay refused how the failure was told, and is told less: {error.message}"
    return _Instead(plain, "failure_shortened", message)


_REFUSES_CONTENT: Final = frozenset([400, 413, 422, 502, 507])
"""Codes by which the relay says that it does not take this very output or failure."""
_OF_CONNECTION: Final = frozenset(["body_cut", "headers_too_large", "not_a_relay", "not_http"])
"""A fault of the connection says nothing of what was sent over it."""


def _is_refused_content(error: HandfastError) -> bool:
    # What cannot even be written was refused here, before it was sent.
    if isinstance(error, UsageError):
        return error.reason != "closed"
    return isinstance(error, HandoffError) and error.code in _REFUSES_CONTENT and error.reason not in _OF_CONNECTION


def _output_refused(error: HandfastError) -> Failed:
    """The sender is to know why. What found no room may find some in another attempt."""
    if isinstance(error, HandoffError) and error.code == 502:
        return unfit(error.message)
    said = outcome_error("output_refused", f"The relay refused the output: {message_of(error)}")
    return Failed(said, isinstance(error, HandoffError) and error.code == 507)


def _warn_of_loss(serving: Serving, held: Held, error: Exception) -> None:
    """A canceled handoff's result is kept as late: nobody is surprised."""
    code = error.code if isinstance(error, HandoffError) else None
    if serving.gone.is_set or code == 410:
        return
    is_late = code in (408, 412)
    what = "came too late and is kept as a late one" if is_late else "was not taken by the relay"
    message = f"The outcome of handoff {held.id} {what}: {message_of(error)}"
    serving.base.warn("outcome_late" if is_late else "outcome_lost", message, held.id)
