"""Heartbeats from threads of their own. The relay is another process: a blocked event loop blocks only the worker."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from faulty_network import FaultyNetwork
from serve_stage import Stage, until

from handfast import AsyncContext, Context, HandoffError, RelayUnreachable
from handfast._serve.beats import Beats
from handfast._serve.limits import BEAT_THREADS


async def test_a_plain_handler_that_blocks_for_longer_than_its_lease_keeps_it(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")
    name = f"block-{worker.agent}"

    def block(_input: Any, ctx: Context) -> int:
        time.sleep(3)
        return ctx.attempt

    await worker.serve({name: block}, signals=False)
    handle = await sender.send(name, None, lease=2, attempts=1)
    assert await handle.result() == 1
    view = await handle.status()
    assert (view["attempts"], view["fence"], view["failures"]) == (1, 1, [])


async def test_a_handler_that_blocks_the_event_loop_itself_keeps_all_leases(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")
    name = f"spin-{worker.agent}"

    async def spin(_input: Any, ctx: AsyncContext) -> int:
        until_at = time.monotonic() + 1.5
        while time.monotonic() < until_at:
            pass
        return ctx.attempt

    await worker.serve({name: spin}, concurrency=2, signals=False)
    # One after the other, both under their lease from the beginning.
    assert await sender.scatter([{"capability": name, "input": None, "lease": 2, "attempts": 1}] * 2).all() == [1, 1]


async def test_a_plain_handler_hears_of_a_cancel_while_the_event_loop_is_blocked(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")
    heard: list[float] = []
    name = f"hear-{worker.agent}"

    def hear(_input: Any, ctx: Context) -> None:
        if ctx.signal.wait(20):
            heard.append(time.monotonic())

    await worker.serve({name: hear}, signals=False)
    handle = await sender.send(name, None, lease=2)
    await handle.acknowledged()
    await handle.cancel()
    # Whether or not it has heard by now: what it hears during the next seconds does not come by this loop.
    block_until(lambda: bool(heard), 10)
    assert heard


def block_until(is_so: Callable[[], bool], seconds: float) -> None:
    """Nothing else runs on this thread meanwhile."""
    until_at = time.monotonic() + seconds
    while not is_so() and time.monotonic() < until_at:
        time.sleep(0.01)


async def test_beats_that_hang_do_not_hold_up_those_of_other_leases(stage: Stage) -> None:
    worker = await stage.agent("worker")
    beats = Beats(worker._base)
    beaten: dict[str, int] = {}
    hanging = threading.Event()

    class Link:
        """Of the heartbeats alone: for one handoff it hangs."""

        def call(self, _name: str, *, params: dict[str, str], **_how: Any) -> dict[str, int]:
            if params["id"] == "stuck":
                hanging.wait(30)
                raise RelayUnreachable("here", 1.0)
            beaten[params["id"]] = beaten.get(params["id"], 0) + 1
            return {"deadline_ms": 1_000}

        def close(self) -> None: ...

    beats._link.close()
    beats._link = Link()  # type: ignore[assignment]
    beats.start()
    try:
        for id in ["stuck", "a", "b"]:
            beats.hold(_held(worker, id))
        await until(lambda: min(beaten.get("a", 0), beaten.get("b", 0)) >= 5)
        assert beats._threads <= BEAT_THREADS
    finally:
        hanging.set()
        beats.close()
    await until(lambda: beats._threads == 0)


def _held(worker: Any, id: str) -> Any:
    from handfast._serve.held import Held

    return Held(worker._base, {"id": id, "fence": 1, "lease_ms": 150, "deadline_ms": 60_000}, "w")


async def test_no_fault_in_ending_a_lease_ends_the_beats_of_the_others(stage: Stage) -> None:
    worker = await stage.agent("worker")
    beats = Beats(worker._base)
    beaten: list[str] = []

    class Link:
        """One of the two is canceled."""

        def call(self, _name: str, *, params: dict[str, str], **_how: Any) -> dict[str, int]:
            if params["id"] == "canceled":
                raise HandoffError("It is over.", code=410, reason="canceled")
            beaten.append(params["id"])
            return {"deadline_ms": 1_000}

        def close(self) -> None: ...

    def broken(_reason: Exception) -> None:
        raise ValueError("a fault nobody thought of")

    beats._link.close()
    beats._link = Link()  # type: ignore[assignment]
    beats.start()
    try:
        canceled = _held(worker, "canceled")
        canceled.end_from_thread = broken
        beats.hold(canceled)
        # On the one thread there is for one lease.
        assert "a fault nobody thought of" in (await stage.warned("worker", "heartbeat_failed")).message
        beats.hold(_held(worker, "lives"))
        await until(lambda: beaten.count("lives") >= 3)
    finally:
        beats.close()
    await until(lambda: beats._threads == 0)


async def test_a_beat_that_breaks_in_an_unexpected_way_is_told_once_and_the_next_one_follows(stage: Stage) -> None:
    sender = await stage.agent("sender")
    broken = 0

    class Breaking(FaultyNetwork):
        def thread_transport(self) -> Any:
            import httpx

            class Thread(httpx.HTTPTransport):
                def handle_request(self, request: httpx.Request) -> httpx.Response:
                    nonlocal broken
                    broken += 1
                    if broken <= 2:
                        raise ValueError("a fault of the library")
                    return super().handle_request(request)

            return Thread()

    worker = await stage.agent("breaking", surroundings=Breaking(lambda _request, send: send()))
    name = f"block-{worker.agent}"
    await worker.serve({name: lambda _input: time.sleep(3)}, signals=False)
    handle = await sender.send(name, None, lease=3, attempts=1)
    await handle.result()
    assert broken > 2
    assert "a fault of the library" in (await stage.warned("breaking", "heartbeat_failed")).message
    assert stage.warnings("breaking").count("heartbeat_failed") == 1
