"""How a worker ends: in order, in a hurry, by a signal, or not at all in order."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from faulty_network import FaultyNetwork, holding_back_leases
from relay_process import RelayProcess
from serve_stage import Stage, new_key, until

from handfast import AsyncContext, Client, Context, HandfastError
from handfast._serve import crash_server


async def test_running_handlers_end_within_the_grace_and_nothing_more_is_taken(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")
    go = asyncio.Event()

    async def hold() -> str:
        await go.wait()
        return "done"

    server = await worker.serve({f"hold-{worker.agent}": hold}, signals=False)
    handle = await sender.send(f"hold-{worker.agent}", None)
    await handle.acknowledged()
    stopping = asyncio.ensure_future(server.stop())
    await until(lambda: server.is_stopping)
    second = await sender.send(f"hold-{worker.agent}", None)
    go.set()
    await stopping
    assert (await handle.status())["state"] == "completed"
    view = await second.status()
    assert (view["state"], view["attempts"], view["deliveries"]) == ("queued", 0, 0)
    assert server.active == 0
    await second.cancel()


@pytest.mark.parametrize("is_async", [True, False])
async def test_after_the_grace_a_handler_keeps_a_last_checkpoint_and_no_attempt_is_counted(
    stage: Stage, is_async: bool
) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")
    reasons: list[Any] = []

    async def long(_input: Any, ctx: AsyncContext) -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            reasons.append(ctx.signal.reason)
            await ctx.checkpoint({"half": "done"})
            raise

    def long_plainly(_input: Any, ctx: Context) -> None:
        ctx.signal.wait(60)
        reasons.append(ctx.signal.reason)
        ctx.checkpoint({"half": "done"})
        ctx.check()

    name = f"long-{worker.agent}"
    server = await worker.serve({name: long if is_async else long_plainly}, signals=False)
    handle = await sender.send(name, None)
    await handle.acknowledged()
    await until(lambda: server.active == 1)
    await server.stop(grace=0)
    assert [reason.reason for reason in reasons] == ["worker_stopping"]
    view = await handle.status()
    assert (view["state"], view["attempts"], view["failures"]) == ("queued", 0, [])
    await worker.serve({name: lambda _input, ctx: ctx.previous.checkpoint}, signals=False)
    assert await handle.result() == {"half": "done"}
    assert stage.warnings("worker") == []


async def test_what_a_deaf_handler_holds_is_given_back_and_what_it_returns_is_ignored(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")
    go, ended = threading.Event(), threading.Event()

    def deaf() -> str:
        go.wait(30)
        ended.set()
        return "unheard"

    name = f"deaf-{worker.agent}"
    server = await worker.serve({name: deaf}, signals=False)
    handle = await sender.send(name, None)
    await handle.acknowledged()
    await server.stop(grace=0)
    go.set()
    await until(ended.is_set)
    view = await handle.status()
    assert (view["state"], view["attempts"], view["late"]) == ("queued", 0, [])
    await handle.cancel()


async def test_a_second_stop_may_shorten_the_grace_of_the_first(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")
    name = f"deaf-{worker.agent}"
    server = await worker.serve({name: asyncio.Event().wait}, signals=False)
    handle = await sender.send(name, None)
    await handle.acknowledged()
    slowly = asyncio.ensure_future(server.stop(grace="1h"))
    await server.stop(grace=0)
    await slowly
    assert (await handle.status())["state"] == "queued"
    await handle.cancel()


async def test_no_lease_that_was_on_its_way_is_lost(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")
    name = f"count-{worker.agent}"
    first = await worker.serve({name: lambda n: n}, concurrency=8, signals=False)
    scatter = sender.scatter([{"capability": name, "input": n} for n in range(60)])
    await (await scatter.handles())[0].result()
    await first.stop()
    await worker.serve({name: lambda n: n}, concurrency=8, signals=False)
    assert await scatter.all() == list(range(60))
    views = [await handle.status() for handle in await scatter.handles()]
    assert [view["id"] for view in views if view["attempts"] != 1 or view["deliveries"] != 0] == []


async def test_a_lease_whose_answer_is_still_on_its_way_is_given_back_at_once(stage: Stage) -> None:
    held_back = asyncio.Event()
    worker = await stage.agent("worker", surroundings=FaultyNetwork(holding_back_leases(held_back)))
    sender = await stage.agent("sender")
    name = f"late-{worker.agent}"
    server = await worker.serve({name: lambda: None}, signals=False)
    handle = await sender.send(name, None, ack="1h")
    await held_back.wait()
    await server.stop()
    view = await handle.status()
    assert (view["state"], view["fence"], view["deliveries"]) == ("queued", 1, 0)
    await handle.cancel()


async def test_closing_the_client_stops_its_servers(stage: Stage) -> None:
    worker = await stage.agent("worker")
    server = await worker.serve({"idle": lambda: None}, signals=False)
    waiting = asyncio.ensure_future(server.stopped())
    await worker.close()
    await asyncio.wait_for(waiting, 5)
    assert server.is_stopping


async def test_closing_the_client_stops_all_its_servers_at_once(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")
    go = asyncio.Event()

    async def hold() -> str:
        await go.wait()
        return "done"

    names = [f"{which}-{worker.agent}" for which in ("first", "second")]
    servers = [await worker.serve({name: hold}, grace="1h", signals=False) for name in names]
    handles = [await sender.send(name, None) for name in names]
    for handle in handles:
        await handle.acknowledged()
    closing = asyncio.ensure_future(worker.close())
    # While the handlers of both still run.
    await until(lambda: all(server.is_stopping for server in servers))
    go.set()
    await closing
    assert [await handle.result() for handle in handles] == ["done", "done"]


async def test_a_server_is_stopped_by_its_with_block(stage: Stage) -> None:
    worker = await stage.agent("worker")
    async with await worker.serve({"idle": lambda: None}, signals=False) as server:
        assert not server.is_stopping
    assert server.is_stopping


async def test_a_crash_gives_nothing_back_and_another_attempt_does_it(stage: Stage) -> None:
    worker, heir, sender = [await stage.agent(name) for name in ("worker", "heir", "sender")]
    go, ended = asyncio.Event(), asyncio.Event()

    async def work() -> str:
        try:
            await go.wait()
        except asyncio.CancelledError:
            pass
        ended.set()
        return "from the grave"

    name = f"work-{worker.agent}"
    server = await worker.serve({name: work}, signals=False)
    handle = await sender.send(name, None, lease=2)
    await handle.acknowledged()
    await until(lambda: server.active == 1)
    crash_server(server)
    await server.stopped()
    await asyncio.wait_for(ended.wait(), 5)
    assert (await handle.status())["state"] == "working"
    await heir.serve({name: lambda _input, ctx: ctx.attempt}, signals=False)
    assert await handle.result() == 2
    assert (await handle.status())["late"] == []


def test_the_synchronous_client_serves_the_same_way(relay: RelayProcess) -> None:
    with Client(url=relay.url, agent=f"sync-{os.urandom(4).hex()}", key=new_key()) as hf:

        @hf.capability(f"plain-{hf.agent}")
        def plain(words: list[str], ctx: Context) -> str:
            below = ctx.send(f"awaited-{hf.agent}", words).result()
            return f"{threading.current_thread().name.split('-')[1]} {below}"

        @hf.capability(f"awaited-{hf.agent}")
        async def awaited(words: list[str], ctx: AsyncContext) -> str:
            await ctx.checkpoint(words)
            return " ".join(words)

        with hf.serve(signals=False) as server:
            assert hf.send(f"plain-{hf.agent}", ["a", "b"]).result() == "handler a b"
            assert server.agent == hf.agent
        server.stopped()
        assert server.is_stopping


def test_signals_are_listened_to_once_and_let_go_with_the_last_server(relay: RelayProcess) -> None:
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)

    async def both() -> None:
        hf = await _connected(relay)
        first = await hf.serve({"one": lambda: 1})
        listener = signal.getsignal(signal.SIGTERM)
        second = await hf.serve({"two": lambda: 2})
        assert listener != before[0]
        assert signal.getsignal(signal.SIGTERM) == listener
        await first.stop()
        assert signal.getsignal(signal.SIGTERM) == listener
        await second.stop()
        await hf.close()

    asyncio.run(both())
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before


async def _connected(relay: RelayProcess) -> Any:
    from handfast import connect

    return await connect(url=relay.url, agent=f"signals-{os.urandom(4).hex()}", key=new_key())


class Child:
    """A worker process, and what it says."""

    def __init__(self, relay: RelayProcess, kind: str, suffix: str, grace: str, key: str) -> None:
        program = Path(__file__).with_name("worker_process.py")
        self.process = subprocess.Popen(
            [sys.executable, str(program), kind, suffix, grace],
            env={**os.environ, "HANDFAST_URL": relay.url, "HANDFAST_AGENT": f"child-{suffix}", "HANDFAST_KEY": key},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    async def said(self, line: str) -> None:
        assert self.process.stdout is not None
        heard = await asyncio.wait_for(asyncio.to_thread(self.process.stdout.readline), 30)
        assert heard.strip() == line

    def say(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    async def ended(self) -> int:
        return await asyncio.wait_for(asyncio.to_thread(self.process.wait), 30)


@pytest.fixture
def child(relay: RelayProcess) -> Iterator[Callable[..., Child]]:
    started: list[Child] = []

    def start(kind: str, suffix: str, grace: str = "1h", key: str | None = None) -> Child:
        one = Child(relay, kind, suffix, grace, key if key is not None else new_key())
        started.append(one)
        return one

    yield start
    for one in started:
        one.process.kill()
        one.process.wait()
        for pipe in (one.process.stdin, one.process.stdout):
            if pipe is not None:
                pipe.close()


@pytest.mark.parametrize("kind", ["async", "sync", "sync-waits"])
async def test_a_process_ends_with_0_after_sigterm_once_its_handlers_have_ended(
    stage: Stage, child: Callable[..., Child], kind: str
) -> None:
    sender = await stage.agent("sender")
    process = child(kind, sender.agent)
    await process.said("ready")
    handle = await sender.send(f"obliging-{sender.agent}", None)
    await process.said("working")
    process.process.send_signal(signal.SIGTERM)
    process.say("go")
    if kind == "sync-waits":
        await process.said("stopped")
    assert await process.ended() == 0
    assert await handle.result() == "done"


@pytest.mark.parametrize(("kind", "handler"), [("async", "thorough"), ("sync", "deaf")])
async def test_a_process_gives_back_what_does_not_end_in_time_and_ends_with_0(
    stage: Stage, child: Callable[..., Child], kind: str, handler: str
) -> None:
    sender = await stage.agent("sender")
    process = child(kind, sender.agent, "100ms")
    await process.said("ready")
    handle = await sender.send(f"{handler}-{sender.agent}", None)
    await process.said("working")
    process.process.send_signal(signal.SIGINT)
    assert await process.ended() == 0
    view = await handle.status()
    assert (view["state"], view["attempts"], view["failures"]) == ("queued", 0, [])
    await handle.cancel()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
async def test_a_process_that_a_handler_forks_off_ends_by_its_own_signals(
    stage: Stage, child: Callable[..., Child]
) -> None:
    sender = await stage.agent("sender")
    process = child("sync", sender.agent, "0s")
    await process.said("ready")
    assert await (await sender.send(f"forking-{sender.agent}", None)).result() == -signal.SIGTERM
    # The worker's own are still its own.
    process.process.send_signal(signal.SIGTERM)
    assert await process.ended() == 0


async def test_a_second_signal_ends_a_process_at_once(stage: Stage, child: Callable[..., Child]) -> None:
    sender = await stage.agent("sender")
    process = child("async", sender.agent)
    await process.said("ready")
    handle = await sender.send(f"deaf-{sender.agent}", None)
    await process.said("working")

    def is_over() -> bool:
        # Two that come together may count as one.
        process.process.send_signal(signal.SIGTERM)
        return process.process.poll() is not None

    await until(is_over)
    assert process.process.returncode == -signal.SIGTERM
    await handle.cancel()


async def test_a_killed_process_loses_its_lease_and_another_one_goes_on_from_its_checkpoint(
    stage: Stage, child: Callable[..., Child]
) -> None:
    sender = await stage.agent("sender")
    key = new_key()
    first = child("sync", sender.agent, key=key)
    await first.said("ready")
    handle = await sender.send(f"obliging-{sender.agent}", None, lease=2)
    await first.said("working")
    os.kill(first.process.pid, signal.SIGKILL)
    heir = await stage.agent("heir", agent=f"child-{sender.agent}", key=key)
    name = f"obliging-{sender.agent}"
    await heir.serve({name: lambda _input, ctx: [ctx.attempt, ctx.previous.checkpoint]}, signals=False)
    assert await handle.result() == [2, {"by": "the first"}]
    [failure] = (await handle.status())["failures"]
    assert failure["code"] == 521


async def test_a_stop_that_is_wrong_says_so(stage: Stage) -> None:
    worker = await stage.agent("worker")
    server = await worker.serve({"idle": lambda: None}, signals=False)
    with pytest.raises(HandfastError, match="grace"):
        await server.stop(grace="soon")
