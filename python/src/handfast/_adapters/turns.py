"""One thing at a time for each key: in this process, on whatever event loop, or across processes by a lock that is
given."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager
from typing import Any, Union

Lock = Callable[[str], Union[AbstractContextManager[Any], AbstractAsyncContextManager[Any]]]
"""Makes a lock for a key, to be entered by ``with`` or ``async with``: a file lock, an advisory lock of a database."""

_guard = threading.Lock()
_last: dict[str, Future[None]] = {}
"""The last in each line."""


@asynccontextmanager
async def in_turn(key: str, lock: Lock | None) -> AsyncGenerator[None, None]:
    """Entered when whoever came before with this key has left."""
    mine: Future[None] = Future()
    with _guard:
        before = _last.get(key)
        _last[key] = mine
    try:
        if before is not None:
            await asyncio.shield(asyncio.wrap_future(before))
        async with _held(key, lock):
            yield
    finally:
        if before is None or before.done():
            _leave(key, mine)
        else:
            # Given up while it waited: those behind it go on waiting for the one before.
            before.add_done_callback(lambda _: _leave(key, mine))


def _leave(key: str, mine: Future[None]) -> None:
    with _guard:
        if _last.get(key) is mine:
            del _last[key]
    mine.set_result(None)


@asynccontextmanager
async def _held(key: str, lock: Lock | None) -> AsyncGenerator[None, None]:
    if lock is None:
        yield
        return
    made = lock(key)
    if isinstance(made, AbstractAsyncContextManager):
        async with made:
            yield
        return
    entered: Future[None] = Future()
    leave = threading.Event()
    left: Future[None] = Future()
    # Many locks belong to the thread that took them: so one thread takes it and gives it back.
    threading.Thread(target=_hold, args=(made, entered, leave, left), name="handfast-lock", daemon=True).start()
    try:
        await asyncio.shield(asyncio.wrap_future(entered))
    except BaseException:
        # Given up meanwhile: should it be had after all, it is given back at once.
        leave.set()
        raise
    try:
        yield
    finally:
        leave.set()
        await asyncio.shield(asyncio.wrap_future(left))


def _hold(lock: AbstractContextManager[Any], entered: Future[None], leave: threading.Event, left: Future[None]) -> None:
    try:
        with lock:
            entered.set_result(None)
            leave.wait()
    except BaseException as error:
        (left if entered.done() else entered).set_exception(error)
    else:
        left.set_result(None)
