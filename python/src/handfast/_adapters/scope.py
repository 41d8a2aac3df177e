"""The handoff that a framework's run works on, for whatever the run calls.

A tool that hands work on then names it as the cause, and the relay ends what is below it together with it.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from .._serve import AsyncContext, Context
from .outcome import Outcome


@dataclass(frozen=True)
class Scope:
    """One run."""

    run: str
    """Equal in every attempt of the run: what is sent again is sent under the same key."""
    sender: Context | AsyncContext | None = None
    """In place of the client: what is sent is a child of the handoff being worked on."""
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    """Outcomes that are at hand, by the id of the call that waited for each."""


_scope: ContextVar[Scope | None] = ContextVar("handfast_scope", default=None)


@contextmanager
def in_scope(scope: Scope) -> Generator[None, None, None]:
    """For as long as the block runs, and whatever it starts."""
    token = _scope.set(scope)
    try:
        yield
    finally:
        _scope.reset(token)


def scope_now() -> Scope | None:
    return _scope.get()
