"""Runs one handler to its end: an async one as a task of the event loop, a plain one on a thread.

An async handler that is to stop is canceled, as asyncio cancels; a plain one is told by its signal. Whatever a
handler raises is caught here and handed on as a value: some exceptions would tear the event loop down, and others
cannot cross it.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from .capabilities import Offered
from .context import AsyncContext, Context
from .current import enter
from .held import Held
from .limits import DEAF_S
from .serving import Serving
from .signals import is_of_process
from .workings import Workings


@dataclass(frozen=True)
class Returned:
    value: Any


@dataclass(frozen=True)
class Raised:
    error: BaseException


async def run_handler(
    serving: Serving, held: Held, offered: Offered, input: Any, workings: Workings
) -> Returned | Raised:
    """What it came to. Canceled itself, it leaves the handler to itself."""
    stop_listening = _listen_for_deaf(serving, held, offered)
    try:
        context = AsyncContext(workings) if offered.shape.is_async else Context(workings)
        call = _call_of(offered, input, context)
        if offered.shape.is_async:
            return await _on_loop(held, call)
        ended = await serving.base.surroundings.in_thread(_caught(call), serving.threads)
        # A plain function may hand out something to be waited for.
        if isinstance(ended, Returned) and inspect.isawaitable(ended.value):
            value = ended.value
            return await _on_loop(held, lambda: value)
        return ended
    finally:
        stop_listening()


def _call_of(offered: Offered, input: Any, context: Context | AsyncContext) -> Callable[[], Any]:
    shape = offered.shape
    args = [input] if shape.takes_input else []
    named = {}
    if shape.takes_context and shape.context_name is not None:
        named[shape.context_name] = context
    elif shape.takes_context:
        args.append(context)

    def call() -> Any:
        enter(context)
        return offered.handler(*args, **named)

    return call


def _caught(call: Callable[[], Any]) -> Callable[[], Returned | Raised]:
    def run() -> Returned | Raised:
        try:
            return Returned(call())
        except BaseException as error:
            return Raised(error)

    return run


async def _on_loop(held: Held, call: Callable[[], Awaitable[Any]]) -> Returned | Raised:
    async def run() -> Returned | Raised:
        try:
            return Returned(await call())
        except BaseException as error:
            if is_of_process(error):
                raise
            return Raised(error)

    task = asyncio.ensure_future(run())

    def cancel() -> None:
        task.cancel(str(held.told.error))

    hang_up = held.told.listen(cancel)
    try:
        await asyncio.wait((task,))
    finally:
        hang_up()
    if task.cancelled():
        # Told to stop before it had begun.
        return Raised(asyncio.CancelledError())
    return task.result()


def _listen_for_deaf(serving: Serving, held: Held, offered: Offered) -> Callable[[], None]:
    """A handler that goes on though its lease is over holds a slot: somebody should know."""
    base = serving.base
    watch: asyncio.Task[None] | None = None

    async def warn() -> None:
        await base.surroundings.sleep(DEAF_S)
        if serving.gone.is_set:
            return
        how = "let asyncio.CancelledError pass" if offered.shape.is_async else "call ctx.check() now and then"
        message = (
            f"The handler of {offered.name} still runs on handoff {held.id}, which is over, and holds a slot: {how}."
        )
        base.warn("handler_ignores_signal", message, held.id)

    def listen() -> None:
        nonlocal watch
        watch = asyncio.ensure_future(warn())

    hang_up = held.told.listen(listen)

    def stop() -> None:
        hang_up()
        if watch is not None:
            watch.cancel()

    return stop
