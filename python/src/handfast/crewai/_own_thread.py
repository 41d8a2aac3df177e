"""A run of CrewAI on a thread of its own, which loses its slot when its handoff is over, whether it ends or not.

CrewAI's own limits do not bound how long a run takes, and Python cannot stop a thread. So the handler is a coroutine
that waits for the thread: when the handoff is canceled, has missed its deadline or lost its lease, the coroutine is
canceled and the slot is free. The run is told at its next step, model call or tool call, and comes to its end there.
One that never gets there is named in a warning; too many of those, and this worker takes nothing more on.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from typing import Any, Final, TypeVar

from crewai.hooks.dispatch import HookAborted, InterceptionPoint, scoped_hooks

from .._adapters import verdict_of
from .._serve import AsyncContext, Context
from .._serve.current import enter
from .._serve.limits import DEAF_S
from ..errors import Retry

T = TypeVar("T")

MOST_ABANDONED: Final = 50
"""Runs that were left to themselves and have not ended: with so many of them a worker does not begin another."""

_POINTS: Final = (InterceptionPoint.PRE_STEP, InterceptionPoint.PRE_MODEL_CALL, InterceptionPoint.PRE_TOOL_CALL)

_abandoned: set[threading.Thread] = set()
_watches: set[asyncio.Task[None]] = set()


async def in_own_thread(ctx: AsyncContext, what: str, work: Callable[[Context], T]) -> T:
    """What the work comes to. `what` it is, such as "crew", for the thread's name."""
    _check_room(ctx)
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()
    surroundings = ctx._workings.surroundings
    context = contextvars.copy_context()

    def settle(value: Any, error: BaseException | None) -> None:
        if not ended.done():
            ended.set_result((value, error))

    def run() -> None:
        try:
            value, error = context.run(_run, ctx, work), None
        except BaseException as raised:
            value, error = None, raised
        try:
            loop.call_soon_threadsafe(settle, value, error)
        except RuntimeError:  # The loop is closed: nobody waits for it.
            pass

    thread = surroundings.spawn(run, f"handfast-{what}-{ctx.handoff['id']}")
    try:
        value, error = await ended
    except asyncio.CancelledError:
        _abandon(ctx, what, thread)
        raise
    if error is None:
        result: T = value
        return result
    raise verdict_of(error) if isinstance(error, Exception) else error


def _run(ctx: AsyncContext, work: Callable[[Context], T]) -> T:
    own = Context(ctx._workings)
    enter(own)

    def check(_context: Any) -> None:
        if own.signal.is_set:
            raise HookAborted(str(own.signal.reason), source="handfast")

    with scoped_hooks({point: [check] for point in _POINTS}):
        return work(own)


def _check_room(ctx: AsyncContext) -> None:
    _abandoned.difference_update([thread for thread in _abandoned if not thread.is_alive()])
    if len(_abandoned) < MOST_ABANDONED:
        return
    message = f"{len(_abandoned)} runs of CrewAI hang in this worker, so it begins no other: start it anew."
    ctx._workings._base.warn("runs_hang", message, ctx.handoff["id"])
    raise Retry(message)


def _abandon(ctx: AsyncContext, what: str, thread: threading.Thread) -> None:
    """It may end in a moment; if not, somebody should know which it is."""
    _abandoned.add(thread)
    base = ctx._workings._base

    async def watch() -> None:
        await base.surroundings.sleep(DEAF_S)
        if not thread.is_alive():
            _abandoned.discard(thread)
            return
        message = (
            f"The {what} of handoff {ctx.handoff['id']}, which is over, does not end: it still runs on the thread "
            f"{thread.name}. It holds no slot. {len(_abandoned)} such threads are left in this process."
        )
        base.warn("run_hangs", message, ctx.handoff["id"])

    task = asyncio.ensure_future(watch())
    _watches.add(task)
    task.add_done_callback(_watches.discard)
