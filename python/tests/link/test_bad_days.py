"""A relay that goes away, comes back, forgets, is slow; a client that is closed while somebody waits."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from relay_process import RelayProcess

from handfast import AsyncClient, Client, RelayUnreachable, UsageError, connect

Agent = Callable[..., Any]


@pytest.fixture(scope="module")
def own_relay() -> Iterator[RelayProcess]:
    process = RelayProcess()
    yield process
    process.stop()


@pytest.fixture
def frail(own_relay: RelayProcess) -> RelayProcess:
    """A relay that tests may kill; it runs when they begin."""
    if not own_relay.is_alive:
        own_relay.start()
    return own_relay


async def test_a_call_outlasts_a_relay_that_is_killed_and_started_again(frail: RelayProcess) -> None:
    states: list[str] = []
    away = asyncio.Event()

    def told(state: str) -> None:
        states.append(state)
        away.set()

    async with connect(url=frail.url, agent="patient", on_connection=told) as hf:
        frail.kill()
        call = asyncio.create_task(hf.call("agent", params={"name": "patient"}))
        await asyncio.wait_for(away.wait(), 20)
        await asyncio.to_thread(frail.start)
        assert (await call)["name"] == "patient"
        assert states == ["away", "back"]


async def test_killed_between_submit_and_answer_it_is_one_handoff() -> None:
    """The answer is lost on the way: the same id is sent again, and the relay knows it."""
    async with Break() as between:
        frail = await asyncio.to_thread(RelayProcess, "--dev", "--public-url", between.url)
        try:
            between.lead_to(frail.url)
            async with connect(url=between.url, agent="sender", on_connection=lambda _: None) as hf:
                between.lose_next_answer_to(b"POST /v1/handoffs ", frail.kill)
                sending = asyncio.create_task(hf.send("nobody", {"n": 1}, queue_if_absent=True, timeout="5m"))
                await asyncio.to_thread(between.lost.wait, 30)
                await asyncio.to_thread(frail.start)
                handle = await sending
                assert handle.receipt is not None
                assert handle.receipt["repeated"]
                listed = (await hf.call("list", query={"from": "sender"}))["handoffs"]
                assert [each["id"] for each in listed] == [handle.id]
        finally:
            frail.stop()


async def test_a_wait_for_the_outcome_outlasts_a_restart_and_the_patience(frail: RelayProcess) -> None:
    async with (
        connect(url=frail.url, agent="boss", patience=0.1, on_connection=lambda _: None) as boss,
        connect(url=frail.url, agent="worker") as worker,
    ):
        handle = await boss.send("late", None, queue_if_absent=True, timeout="5m")
        waiting = asyncio.create_task(handle.result())
        await asyncio.to_thread(frail.kill)
        await asyncio.sleep(0.5)
        assert not waiting.done()
        await asyncio.to_thread(frail.start)

        async def late(_: None) -> str:
            return "there"

        await worker.serve({"late": late}, signals=False)
        assert await waiting == "there"


async def test_with_the_patience_over_a_call_says_so(frail: RelayProcess) -> None:
    async with connect(url=frail.url, agent="hasty", patience="300ms", on_connection=lambda _: None) as hf:
        frail.kill()
        with pytest.raises(RelayUnreachable, match=r"for 0\.3 s"):
            await hf.send("upper", "x")
        with pytest.raises(RelayUnreachable):
            await hf.call("agents", patience=0)


async def test_a_relay_that_came_back_empty_knows_the_agent_again(frail: RelayProcess) -> None:
    import shutil

    async with connect(url=frail.url, agent="known", on_connection=lambda _: None) as hf:
        before = hf.key
        frail.kill()
        shutil.rmtree(frail.data)
        await asyncio.to_thread(frail.start)
        view = await hf.call("agent", params={"name": "known"})
        assert view["identity"] == before


async def test_closing_tells_whoever_waits(agent: Agent, name: Callable[[str], str]) -> None:
    hf: AsyncClient = await agent()
    handle = await hf.send(name("nobody"), None, queue_if_absent=True)
    waits = [
        asyncio.create_task(handle.result()),
        asyncio.create_task(handle.acknowledged()),
        asyncio.create_task(_first(handle.events(), skip=1)),
        asyncio.create_task(_first(hf.outcomes())),
        asyncio.create_task(_first(hf.questions())),
    ]
    await asyncio.sleep(0.1)
    await hf.close()
    for error in await asyncio.gather(*waits, return_exceptions=True):
        assert isinstance(error, UsageError)
        assert error.reason == "closed"
    with pytest.raises(UsageError, match="The client is closed"):
        await hf.send("upper", "x")
    await hf.close()


async def _first(stream: Any, skip: int = 0) -> Any:
    async for item in stream:
        if skip == 0:
            return item
        skip -= 1
    return None


def test_closing_a_client_that_blocks_tells_the_threads_that_wait(
    sync_agent: Callable[..., Client], name: Callable[[str], str]
) -> None:
    hf = sync_agent()
    handle = hf.send(name("nobody"), None, queue_if_absent=True)
    errors: list[UsageError] = []

    def wait() -> None:
        with pytest.raises(UsageError) as caught:
            handle.result()
        errors.append(caught.value)

    threads = [threading.Thread(target=wait) for _ in range(3)]
    for thread in threads:
        thread.start()
    hf.close()
    for thread in threads:
        thread.join(10)
    assert [error.reason for error in errors] == ["closed"] * 3
    hf.close()
    with pytest.raises(UsageError, match="The client is closed"):
        hf.send("upper", "x")


async def test_a_client_that_blocks_works_inside_a_running_loop(sync_agent: Callable[..., Client]) -> None:
    hf = sync_agent()
    assert hf.call("agent", params={"name": hf.agent})["name"] == hf.agent


def test_used_on_its_own_loop_it_says_so_and_does_not_hang(sync_agent: Callable[..., Client]) -> None:
    hf = sync_agent()
    said: list[BaseException] = []

    async def handler(_: Any) -> None:
        try:
            hf.call("agents")
        except UsageError as error:
            said.append(error)

    capability = f"loop-{os.urandom(4).hex()}"
    server = hf.serve({capability: handler}, signals=False)
    hf.send(capability, None).result(timeout=20)
    server.stop()
    assert "its own event loop" in str(said[0])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_after_a_fork_it_says_so_and_does_not_hang(sync_agent: Callable[..., Client]) -> None:
    hf = sync_agent()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            hf.send("upper", "x")
        except BaseException as error:
            os.write(writing, str(error).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as heard:
        assert "before this process was forked" in heard.read()
    os.waitpid(child, 0)


class Break:
    """A piece of wire between a client and a relay, on which one answer can be lost."""

    def __init__(self) -> None:
        self._target = 0
        self._begins: bytes | None = None
        self._when_lost: Callable[[], None] = lambda: None
        self._carrying: set[asyncio.Task[None]] = set()
        self.lost = threading.Event()
        self.url = ""

    def lead_to(self, url: str) -> None:
        self._target = int(url.rsplit(":", 1)[1])

    def lose_next_answer_to(self, begins: bytes, when_lost: Callable[[], None]) -> None:
        self._begins = begins
        self._when_lost = when_lost

    async def __aenter__(self) -> Break:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._carrying:
            task.cancel()
        await asyncio.gather(*self._carrying, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._carry(reader, writer))
        self._carrying.add(task)
        task.add_done_callback(self._carrying.discard)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            from_relay, to_relay = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            writer.close()
            return
        loses = False

        async def forth() -> None:
            nonlocal loses
            while data := await reader.read(65_536):
                if self._begins is not None and data.startswith(self._begins):
                    self._begins = None
                    loses = True
                to_relay.write(data)
                await to_relay.drain()

        async def back() -> None:
            while data := await from_relay.read(65_536):
                if loses:
                    self._when_lost()
                    self.lost.set()
                    return
                writer.write(data)
                await writer.drain()

        tasks = [asyncio.create_task(forth()), asyncio.create_task(back())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            writer.close()
            to_relay.close()
