"""How a fake behaves: always the same, or in each attempt its own way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn, Union

from .._duration import Duration
from ..errors import Fail, Reject, Retry, UsageError


class Crash:
    """See `crash`."""

    def __repr__(self) -> str:
        return "crash"


crash: Final = Crash()
"""A step of a script, or what a handler returns: the worker's process dies here and now, without a word."""

FakeHandler = Callable[..., Any]
"""What a fake does with a handoff: ``handler(input)`` or ``handler(input, ctx)``, plain or async, as any other handler.

It may raise, never return, or return `crash`.
"""

Step = Any
"""What happens in one attempt: a handler, `crash`, or simply the output."""

Behaviour = Union[FakeHandler, Sequence[Step]]
"""A handler for every attempt; or a list, first attempt first, whose last step is for all that follow."""


async def hang(_input: Any) -> NoReturn:
    """A step: works on it and never ends, though it beats, until it is told to stop."""
    while True:
        await asyncio.Event().wait()


def fail(
    message: str, *, retryable: bool = True, after: Duration | None = None, reason: str | None = None
) -> FakeHandler:
    """A step: the attempt fails.

    :param retryable: False: no other attempt would do better.
    :param after: The soonest that the next attempt makes sense.
    :param reason: A short stable name for programs, where it is not retryable.
    """

    async def failing(_input: Any) -> NoReturn:
        if retryable:
            raise Retry(message, after=after)
        raise Fail(message) if reason is None else Fail(message, reason=reason)

    return failing


def reject(message: str) -> FakeHandler:
    """A step: not for this agent."""

    async def rejecting(_input: Any) -> NoReturn:
        raise Reject(message)

    return rejecting


def check_behaviour(capability: str, behaviour: object) -> None:
    is_script = isinstance(behaviour, (list, tuple)) and len(behaviour) > 0
    if callable(behaviour) or is_script:
        return
    raise UsageError(
        f"The fake of {capability} has neither a handler nor a script.",
        "Give a handler, such as lambda input: output, or a list of what happens in each attempt, such as "
        "[crash, output].",
    )


def step_for(behaviour: Behaviour, attempt: int) -> Step:
    """Attempts count from 1."""
    if callable(behaviour):
        return behaviour
    return behaviour[min(attempt, len(behaviour)) - 1]
