"""Trying again: while the relay is away, or says that waiting helps.

Backoff is exponential with full jitter, so that many clients of a relay that comes back do not all come at once.
Patience counts from the first failure in a row.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from ._surroundings import Surroundings
from .errors import HandoffError, ProblemDocument, RelayUnreachable

T = TypeVar("T")

BACKOFF_LEAST = 0.1
BACKOFF_MOST = 5.0
WAIT_MOST = 60.0
"""A wait that the relay is asked for at once; longer ones are asked anew."""
ANSWER = 30.0
"""A relay that has not answered a call this long after its wait was over is taken for gone."""
FIRST_TRY = 2.0
"""The least time that a first try gets, however small the patience."""
STREAM_SILENCE = 45.0
"""Of a stream: comments come every 15 seconds."""
EVENT_CHARS = 32_000_000
"""An event of a stream that is larger than this is not Handfast's."""


class NotReached(Exception):
    """No answer came: the same call may be made again."""


class ComeBack(Exception):
    """A refusal with the relay's own word on when to come back."""

    def __init__(self, refusal: HandoffError, after: float) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal
        self.after = after


class Refused(Exception):
    """A relay refused: the problem as it came, and when it says to come back."""

    def __init__(self, problem: ProblemDocument, retry_after: float) -> None:
        super().__init__(problem["detail"])
        self.problem = problem
        self.retry_after = retry_after


_UNMENDABLE = {"too_many_questions", "too_many_keys", "too_many_tokens"}
"""Waiting mends none of these, whatever their code says."""
_PASSING = {429, 500, 503}


def is_passing(error: HandoffError) -> bool:
    """Whether the same call, made again in a moment, may go well."""
    return error.retryable and error.code in _PASSING and error.reason not in _UNMENDABLE


class Failures:
    """Failures in a row, of one call."""

    def __init__(self, url: str, surroundings: Surroundings, patience: float) -> None:
        self._url = url
        self._surroundings = surroundings
        self._patience = patience
        self._count = 0
        self._since = 0.0

    def pause_after(self, error: Exception) -> float:
        """How long to wait before the next try.

        Raises the last word, where another is of no use or patience is over.
        """
        if isinstance(error, NotReached):
            after = 0.0
        elif isinstance(error, ComeBack):
            after = error.after
        else:
            raise error
        now = self._surroundings.monotonic()
        self._count += 1
        if self._count == 1:
            self._since = now
        left = self._since + self._patience - now
        if left <= after:
            if isinstance(error, ComeBack):
                raise error.refusal from None
            # Its message says why: the ninety lines of where that was noticed would hide it.
            raise RelayUnreachable(self._url, self._patience, error) from None
        return min(max(after, backoff(self._count, self._surroundings)), left)


async def persist(url: str, surroundings: Surroundings, patience: float, attempt: Callable[[], Awaitable[T]]) -> T:
    """The attempt's value, once one goes well."""
    failures = Failures(url, surroundings, patience)
    while True:
        try:
            return await attempt()
        except (NotReached, ComeBack) as error:
            pause = failures.pause_after(error)
        await surroundings.sleep(pause)


def backoff(failures: int, surroundings: Surroundings) -> float:
    """From 0 up to the bound that doubles with each failure, but never nothing."""
    most = min(BACKOFF_MOST, BACKOFF_LEAST * float(2 ** min(failures, 16)))
    return max(0.01, surroundings.random() * most)


def answer_within(patience: float) -> float:
    """How long one try may take to be answered: no longer than the patience, but long enough to be a try."""
    return min(ANSWER, max(FIRST_TRY, patience))
