"""The threads of plain handlers, on a system that has none left for a moment."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from serve_stage import Stage, until

from handfast import Context
from handfast._serve.threads import HandlerThreads, NoThread


@contextmanager
def no_threads_left(error: type[Exception] = RuntimeError) -> Iterator[None]:
    """For handlers: what else runs in this process still gets its own."""
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if thread.name.startswith("handfast-handler"):
            raise error("can't start new thread")
        start(thread)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        yield


async def test_what_found_no_thread_is_given_back_and_done_when_there_are_some_again(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")
    name = f"meet-{worker.agent}"
    both = threading.Barrier(2)

    def meet(_input: Any, ctx: Context) -> int:
        # Only on as many threads as there are slots.
        both.wait(30)
        return ctx.attempt

    await worker.serve({name: meet}, concurrency=2, signals=False)
    with no_threads_left():
        handles = [await sender.send(name, None) for _ in range(2)]
        warning = await stage.warned("worker", "no_thread")
        assert warning.handoff in [handle.id for handle in handles]
        assert "can't start new thread" in warning.message
    assert [await handle.result() for handle in handles] == [1, 1]
    views = [await handle.status() for handle in handles]
    assert [(view["attempts"], view["failures"]) for view in views] == [(1, [])] * 2


async def test_a_worker_without_threads_stops_as_quickly_as_any_other(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")
    name = f"plain-{worker.agent}"
    server = await worker.serve({name: lambda: None}, concurrency=1, signals=False)
    with no_threads_left():
        handle = await sender.send(name, None)
        await stage.warned("worker", "no_thread")
        await server.stop(grace=0)
    view = await handle.status()
    assert (view["state"], view["attempts"], view["failures"]) == ("queued", 0, [])
    await handle.cancel()


async def test_a_notice_that_found_no_thread_is_tried_again_here(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")
    name, heard = f"hear-{worker.agent}", list[Any]()
    await worker.serve({name: heard.append}, signals=False)
    with no_threads_left():
        await sender.notify(name, "news")
        await stage.warned("worker", "no_thread")
        assert heard == []
    await until(lambda: heard == ["news"])


@pytest.mark.parametrize("error", [RuntimeError, MemoryError])
def test_a_thread_that_did_not_start_is_not_counted(error: type[Exception]) -> None:
    threads = HandlerThreads(1)
    with no_threads_left(error), pytest.raises(NoThread, match="can't start new thread"):
        threads.submit(print)
    assert threads.submit(lambda: "done").result(10) == "done"
    threads.shutdown()
