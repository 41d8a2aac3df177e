"""Streams: read from pieces as they come, and gone on with after a break without a loss or a repeat."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from relay_process import RelayProcess

from handfast import AsyncContext, HandoffError, RelayUnreachable, UsageError, connect
from handfast._persist import NotReached
from handfast._sse import Resume, SseReader, StreamEvent

Agent = Callable[..., Any]
Name = Callable[[str], str]


def test_events_are_read_from_pieces_cut_anywhere() -> None:
    text = ': hello\r\n\r\nevent: a\nid: 7\ndata: {"x":\ndata: "é"}\n\nevent: b\ndata: 1\n\nevent: no data\n\n'.encode()
    expected = [StreamEvent("a", {"x": "é"}, "7"), StreamEvent("b", 1)]
    for size in (1, 2, 3, 7, len(text)):
        reader = SseReader()
        found = [event for at in range(0, len(text), size) for event in reader.read(text[at : at + size])]
        assert found == expected


def test_what_is_no_event_is_a_break_and_not_a_crash() -> None:
    with pytest.raises(NotReached, match="not JSON"):
        SseReader().read(b"data: {\n\n")


def chunk(fence: int, offset: int, text: str) -> StreamEvent:
    return StreamEvent("chunk", {"fence": fence, "offset": offset, "text": text})


def said(event: StreamEvent | None) -> Any:
    return None if event is None else event.data["text"]


def test_chunks_are_read_again_from_the_start_and_told_once() -> None:
    resume = Resume("read_chunks")
    assert resume.query({"offset": 3}) == {"offset": 3}
    assert said(resume.take(chunk(1, 0, "ab😀"))) == "ab😀"
    assert resume.query(None) == {"offset": 0}
    assert resume.last_event_id is None
    assert resume.take(chunk(1, 0, "ab😀")) is None
    # Offsets count UTF-16 units: the emoji has two.
    assert said(resume.take(chunk(1, 2, "😀cd"))) == "cd"
    assert said(resume.take(chunk(1, 6, "e"))) == "e"
    # Another attempt's text begins anew.
    assert said(resume.take(chunk(2, 0, "xy"))) == "xy"
    assert said(resume.take(chunk(2, 1, "yz"))) == "z"


def test_events_go_on_after_the_last_id_or_jump_where_the_log_was_cut() -> None:
    resume = Resume("handoff_events")
    assert resume.take(StreamEvent("accepted", {}, "c1")) is not None
    assert resume.take(StreamEvent("progress", {})) is not None
    assert resume.last_event_id == "c1"
    assert resume.jump({"cursor": "c9", "snapshot": [1]}) == StreamEvent("snapshot", [1], "c9")
    assert resume.last_event_id == "c9"
    assert resume.jump({}) is None


@pytest.fixture
def frail() -> Iterator[RelayProcess]:
    process = RelayProcess()
    yield process
    process.stop()


async def test_events_go_on_over_a_relay_that_is_killed(frail: RelayProcess) -> None:
    async with connect(url=frail.url, agent="boss", on_connection=lambda _: None) as boss:
        handle = await boss.send("nobody", None, queue_if_absent=True, timeout="5m")
        types: list[str] = []
        first = asyncio.Event()

        async def follow() -> None:
            async for event in handle.events():
                types.append(event["type"])
                first.set()

        following = asyncio.create_task(follow())
        await asyncio.wait_for(first.wait(), 20)
        await asyncio.to_thread(frail.kill)
        await asyncio.to_thread(frail.start)
        await handle.cancel()
        await asyncio.wait_for(following, 60)
        assert types == ["accepted", "canceled"]


async def test_text_of_another_attempt_begins_anew(agent: Agent, name: Name) -> None:
    writer, boss = name("writer"), await agent("boss")
    worker = await agent("worker")
    restarts: list[str] = []

    async def write(_: None, ctx: AsyncContext) -> str:
        await ctx.write("first" if ctx.attempt == 1 else "second")
        if ctx.attempt == 1:
            raise RuntimeError("lost")
        return "done"

    await worker.serve({writer: write}, signals=False)
    handle = await boss.send(writer, None)
    assert await handle.chunks().text() == "second"
    pieces = [piece async for piece in handle.chunks(on_restart=lambda: restarts.append("again"))]
    assert pieces[-1] == "second"
    assert await handle.result(timeout=20) == "done"


async def test_a_stream_of_what_is_not_there_says_so(agent: Agent) -> None:
    boss = await agent("boss")
    with pytest.raises(HandoffError) as caught:
        async for _ in boss.handle("01932f6b-7a00-7c3a-9b1e-0123456789ab").events():
            pass
    assert caught.value.reason == "unknown_handoff"


async def test_a_thread_calls_over_a_connection_of_its_own(agent: Agent, frail: RelayProcess) -> None:
    hf = await agent("threaded")
    link = hf._base.thread_link()
    # On the loop's own thread, which is blocked meanwhile: nothing here needs the loop.
    assert link.call("agent", params={"name": hf.agent})["name"] == hf.agent
    with pytest.raises(HandoffError) as caught:
        link.call("get", params={"id": "01932f6b-7a00-7c3a-9b1e-0123456789ab"})
    assert caught.value.code == 404
    link.close()
    with pytest.raises(UsageError, match="The client is closed"):
        link.call("agents")
    async with connect(url=frail.url, agent="alone", on_connection=lambda _: None) as alone:
        link = alone._base.thread_link()
        frail.kill()
        with pytest.raises(RelayUnreachable):
            link.call("agents")
        ended: list[BaseException] = []

        def wait() -> None:
            try:
                link.call("agents", patience=60)
            except UsageError as error:
                ended.append(error)

        thread = threading.Thread(target=wait)
        thread.start()
        link.close()
        await asyncio.to_thread(thread.join, 20)
        assert [type(error) for error in ended] == [UsageError]
