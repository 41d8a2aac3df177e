"""Everything that this client raises of its own.

Each says what happened (``message``), its stable name (``reason``), whether the same again may help (``retryable``),
what to do (``remedy``), and which command tells more (``docs``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from ._remedies import remedy_of, status_of

if TYPE_CHECKING:
    from ._duration import Duration
    from ._generated.views import HandoffView, OutcomeView

_E = TypeVar("_E", bound=BaseException)

ProblemDocument = dict[str, Any]
"""A problem as a relay answers it (RFC 9457): at least ``code``, ``reason`` and ``detail``."""


def _again(kind: type[_E], args: tuple[object, ...], state: dict[str, Any]) -> _E:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class _Portable(Exception):
    """Goes to another process and back whole, although its facts are given by name."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), self.args, self.__dict__.copy())


class HandfastError(_Portable):
    """The root of every error of the client: catch it to tell them from your own."""

    message: str
    """What happened."""
    reason: str
    """A stable name of the exact cause, in snake_case."""
    remedy: str
    """What to do about it."""
    retryable: bool
    """True: the same again, unchanged, may succeed later."""
    docs: str
    """The command that explains it, such as ``npx handfast explain wait_over``."""

    def __init__(self, message: str, *, reason: str, remedy: str, retryable: bool, anchor: str) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason
        self.remedy = remedy
        self.retryable = retryable
        # An anchor is a reason or a code, and what tells it from another of the same name.
        self.docs = f"npx handfast explain {anchor.split('-')[0]}"

    def __str__(self) -> str:
        """All that a person needs in a traceback; programs read the attributes."""
        return f"{self.message} [{self.reason}] {self.remedy}"


class HandoffError(HandfastError):
    """A relay refused a call, or a handoff ended otherwise than completed."""

    code: int
    """The status code, such as 408."""
    name: str
    """The status code's name, such as ``deadline_passed``."""
    handoff: str | None
    """The id of the handoff it is about, where it is about one."""
    problem: ProblemDocument | None
    """What the relay answered, where it refused a call."""
    outcome: OutcomeView | None
    """How the handoff ended, where it ended."""

    def __init__(
        self,
        message: str,
        *,
        code: int,
        reason: str,
        remedy: str | None = None,
        retryable: bool | None = None,
        handoff: str | None = None,
        problem: ProblemDocument | None = None,
        outcome: OutcomeView | None = None,
    ) -> None:
        known = remedy_of(code, reason)
        status = status_of(code)
        super().__init__(
            message,
            reason=reason,
            remedy=known.remedy if remedy is None else remedy,
            retryable=(status is not None and status.retryable) if retryable is None else retryable,
            anchor=known.anchor,
        )
        self.code = code
        self.name = f"code_{code}" if status is None else status.name
        self.handoff = handoff
        self.problem = problem
        self.outcome = outcome

    @classmethod
    def of(cls, problem: ProblemDocument, handoff: str | None = None, remedy: str | None = None) -> HandoffError:
        """From a problem that a relay answered a call with."""
        return cls(
            problem["detail"],
            code=problem["code"],
            reason=problem["reason"],
            remedy=remedy,
            retryable=problem.get("retryable"),
            handoff=handoff,
            problem=problem,
        )

    @classmethod
    def ended(cls, view: HandoffView) -> HandoffError:
        """From a handoff that ended otherwise than completed."""
        outcome = view["outcome"]
        error: Mapping[str, Any] = (outcome["error"] if outcome is not None else None) or {}
        status = status_of(view["code"])
        why = error.get("message", view["name"] if status is None else status.title)
        agent = None if outcome is None else outcome["agent"]
        by_whom = "" if agent is None else f" ({agent})"
        ending = _ENDINGS.get(view["state"], view["state"])
        return cls(
            f"The handoff {view['id']} {ending}{by_whom}: {why}",
            code=view["code"],
            reason=error.get("reason", view["name"]),
            retryable=view["retryable"],
            handoff=view["id"],
            outcome=outcome,
        )


_ENDINGS = {"rejected": "was rejected", "canceled": "was canceled"}


class RelayUnreachable(HandfastError, ConnectionError):
    """No relay answered for as long as the client is patient. A ConnectionError too."""

    url: str
    """Where it was looked for."""

    def __init__(self, url: str, patience: float, cause: BaseException | None = None) -> None:
        known = remedy_of(0, "relay_unreachable")
        why = "" if cause is None else _cause_text(cause)
        remedy = known.remedy
        # What answered took the beginning of TLS for nonsense: it speaks plain HTTP, most often.
        if "WRONG_VERSION_NUMBER" in why:
            why = "it does not speak TLS"
            remedy = "Write http:// in place of https://, or name an address that speaks TLS."
        super().__init__(
            f"No relay answered at {url} for {patience:g} s{f' ({why})' if why else ''}.",
            reason="relay_unreachable",
            remedy=remedy,
            retryable=True,
            anchor=known.anchor,
        )
        self.url = url


class WaitOver(HandfastError, TimeoutError):
    """The timeout of a wait is over, and the handoff goes on. A TimeoutError too, as other waits of Python raise."""

    def __init__(self, what: str, waited: float) -> None:
        known = remedy_of(0, "wait_over")
        super().__init__(
            f"{what} did not come within {waited:g} s, the timeout of this wait.",
            reason="wait_over",
            remedy="The handoff goes on: wait again, follow events(), or cancel().",
            retryable=True,
            anchor=known.anchor,
        )


class UsageError(HandfastError):
    """An option or an argument is wrong: nothing was sent."""

    def __init__(self, message: str, remedy: str, reason: str = "usage") -> None:
        anchor = remedy_of(0, reason).anchor
        # What is not explained on its own is explained with all wrong options.
        place = anchor if anchor.startswith(reason) else "usage"
        super().__init__(message, reason=reason, remedy=remedy, retryable=False, anchor=place)


class ScatterError(HandfastError):
    """Not enough tasks of a scatter succeeded."""

    errors: list[HandoffError]
    """Why each that failed did so, as they came."""

    def __init__(self, wanted: int, tasks: int, errors: list[HandoffError]) -> None:
        first = errors[0] if errors else None
        why = "there are no more tasks" if first is None else f"the first failure: {first.message}"
        super().__init__(
            f"{wanted} of {tasks} tasks were to succeed, and {len(errors)} failed: {why}",
            reason="scatter_failed",
            remedy="Give as many tasks as are to succeed, or more." if first is None else first.remedy,
            retryable=any(error.retryable for error in errors),
            anchor="scatter_failed",
        )
        self.errors = errors


class Retry(_Portable):
    """Raise it in a handler: this attempt failed, another may succeed."""

    after_ms: int | None
    """The soonest that the next attempt makes sense."""

    def __init__(self, message: str, *, after: Duration | None = None) -> None:
        from ._duration import to_ms

        super().__init__(message)
        self.after_ms = None if after is None else to_ms(after, "Retry's after")


class Fail(_Portable):
    """Raise it in a handler: the work failed, and no other attempt would do better."""

    reason: str
    """A short stable name for programs."""
    detail: Any
    """Anything more, as JSON."""

    def __init__(self, message: str, *, reason: str = "failed", detail: Any = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.detail = detail


class Reject(_Portable):
    """Raise it in a handler: not for this agent; another one may take it."""

    reason: str
    """A short stable name for programs."""

    def __init__(self, message: str, *, reason: str = "rejected") -> None:
        super().__init__(message)
        self.reason = reason


def _cause_text(cause: BaseException) -> str:
    """The innermost says what went wrong; those around it that something did."""
    inner = cause.__cause__
    return _cause_text(inner) if inner is not None else str(cause) or type(cause).__name__
