"""The handoff that is being worked on, for whatever its handler calls: a framework's node or tool is not given it."""

from __future__ import annotations

from contextvars import ContextVar

from .context import AsyncContext, Context

_current: ContextVar[Context | AsyncContext | None] = ContextVar("handfast_current", default=None)


def current() -> Context | AsyncContext | None:
    """The context of the handler that runs this code: the kind that blocks under a plain handler, the other under an
    async one. None: no handler runs it.

    It follows into tasks and into threads that are started with the context of their starter, as ``asyncio.to_thread``
    does.
    """
    return _current.get()


def enter(context: Context | AsyncContext) -> None:
    """From here on, in this task or thread and what it starts."""
    _current.set(context)
