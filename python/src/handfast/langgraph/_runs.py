"""The runs of this process, by thread.

Two runs of one thread at once execute what follows twice, and LangGraph lets them; so a thread is resumed only when no
run of it is under way. LangGraph does not tell of that: the compiled graph gets a class of its own that counts around
the two methods through which every way of running it goes, and that its copies (``with_config``) have too. So does
its builder, since one graph may be compiled several times, and run long before anybody resumes it.
"""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import AsyncGenerator, Generator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from ._state import AnyGraph

_guard = threading.Lock()
_counts: dict[str, int] = {}
_over: dict[str, Future[None]] = {}


def watch_compiled(builder: object) -> None:
    """What is compiled from it is watched from its first run on."""
    if not getattr(builder, "is_watched", False):
        kind: Any = type(builder)
        builder.__class__ = _watching(kind)


def watch_runs(graph: AnyGraph) -> None:
    """Once for each compiled graph."""
    if not getattr(graph, "is_watched", False):
        graph.__class__ = _watched(type(graph))


async def no_run_of(thread: str) -> None:
    """Returns when no run of the thread is under way in this process, on whatever thread or event loop."""
    while (over := _over.get(thread)) is not None:
        await asyncio.shield(asyncio.wrap_future(over))


@functools.cache
def _watching(kind: type[Any]) -> type[Any]:
    class Watching(kind):  # type: ignore[misc]
        is_watched = True

        def compile(self, *options: Any, **named: Any) -> AnyGraph:
            graph: AnyGraph = super().compile(*options, **named)
            watch_runs(graph)
            return graph

    return _as_the_original(Watching, kind)


@functools.cache
def _watched(kind: type[Any]) -> type[Any]:
    class Watched(kind):  # type: ignore[misc]
        is_watched = True

        def stream(self, input: Any, config: Any = None, **options: Any) -> Generator[Any, None, None]:
            with _underway(_thread_in(config) or _thread_in(self.config)):
                yield from super().stream(input, config, **options)

        async def astream(self, input: Any, config: Any = None, **options: Any) -> AsyncGenerator[Any, None]:
            with _underway(_thread_in(config) or _thread_in(self.config)):
                async for chunk in super().astream(input, config, **options):
                    yield chunk

    return _as_the_original(Watched, kind)


def _as_the_original(made: type[Any], kind: type[Any]) -> type[Any]:
    made.__name__, made.__qualname__, made.__module__ = kind.__name__, kind.__qualname__, kind.__module__
    return made


@contextmanager
def _underway(thread: str) -> Generator[None, None, None]:
    with _guard:
        _counts[thread] = _counts.get(thread, 0) + 1
        _over.setdefault(thread, Future())
    try:
        yield
    finally:
        with _guard:
            _counts[thread] -= 1
            over = None
            if _counts[thread] == 0:
                del _counts[thread]
                over = _over.pop(thread)
        if over is not None:
            over.set_result(None)


def _thread_in(config: Any) -> str:
    return str(((config or {}).get("configurable") or {}).get("thread_id") or "")
