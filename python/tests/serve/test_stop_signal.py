"""What a handler puts on its signal, and what happens when that misbehaves."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest
from serve_stage import Stage

from handfast import AsyncContext, Context
from handfast._serve.stop_signal import StopSignal
from handfast._surroundings import real_surroundings


def test_listeners_are_called_in_the_order_in_which_they_came() -> None:
    signal = StopSignal(real_surroundings, lambda _error: None)
    called: list[int] = []
    # Enough of them that no other order comes about by chance.
    for number in range(20):
        signal.listen(lambda number=number: called.append(number))  # type: ignore[misc]
    signal.listen(lambda: called.append(99))()
    signal.set(ValueError("over"))
    signal.listen(lambda: called.append(20))
    assert called == list(range(21))


@pytest.mark.parametrize("error", [ValueError("broken"), SystemExit(1), KeyboardInterrupt(), asyncio.CancelledError()])
def test_a_listener_that_raises_is_told_and_the_others_are_called(error: BaseException) -> None:
    faults: list[BaseException] = []
    signal = StopSignal(real_surroundings, faults.append)
    called: list[str] = []

    def broken() -> None:
        raise error

    signal.listen(lambda: called.append("before"))
    signal.listen(broken)
    signal.listen(lambda: called.append("after"))
    reason = ValueError("over")
    # As the heartbeats do: on the main thread an interrupt would be the process's own.
    for act in (lambda: signal.set(reason), lambda: signal.listen(broken)):
        thread = threading.Thread(target=act)
        thread.start()
        thread.join()
    assert called == ["before", "after"]
    assert faults == [error, error]
    assert signal.reason is reason


def test_an_interrupt_on_the_main_thread_is_the_processs_own() -> None:
    signal = StopSignal(real_surroundings, lambda _error: None)

    def interrupt() -> None:
        raise KeyboardInterrupt

    signal.listen(interrupt)
    with pytest.raises(KeyboardInterrupt):
        signal.set(ValueError("over"))


async def test_a_listener_that_raises_costs_no_other_handoff_its_lease(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")
    name = f"listen-{worker.agent}"

    def broken() -> None:
        raise ValueError("a listener's own fault")

    def listen(what: str, ctx: Context) -> int:
        if what == "break":
            ctx.signal.listen(broken)
            ctx.signal.wait(30)
        else:
            time.sleep(3)
        return ctx.attempt

    await worker.serve({name: listen}, signals=False)
    first = await sender.send(name, "break", lease=2)
    await first.acknowledged()
    await first.cancel()
    warning = await stage.warned("worker", "listener_failed")
    assert "a listener's own fault" in warning.message
    assert warning.handoff == first.id
    second = await sender.send(name, "block", lease=2, attempts=1)
    assert await second.result() == 1


async def test_a_listener_that_raises_keeps_no_handler_from_being_canceled(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")
    name, canceled = f"listen-{worker.agent}", list[bool]()

    def broken() -> None:
        raise ValueError("a listener's own fault")

    async def listen(_input: Any, ctx: AsyncContext) -> None:
        ctx.signal.listen(broken)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            canceled.append(ctx.canceled.is_set())
            raise

    server = await worker.serve({name: listen}, signals=False)
    handle = await sender.send(name, None)
    await handle.acknowledged()
    await server.stop(grace=0)
    assert canceled == [True]
    view = await handle.status()
    assert (view["state"], view["attempts"]) == ("queued", 0)
    await handle.cancel()
