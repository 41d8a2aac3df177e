"""While a handler works: progress, streamed text, checkpoints, and what it sends in its own name."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from serve_stage import Stage, until

from handfast import AsyncContext, Context, Retry, current


async def test_progress_reaches_the_sender_the_last_one_always(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")
    seen = asyncio.Event()

    async def steps(_input: Any, ctx: AsyncContext) -> None:
        for step in range(51):
            ctx.progress(step / 50, f"step {step}")
        await seen.wait()

    await worker.serve({"steps": steps}, signals=False)
    handle = await sender.send("steps", None)
    notes = []
    async for event in handle.events():
        if event["type"] == "progress":
            notes.append(event["note"])
            if event["note"] == "step 50":
                seen.set()
    assert notes[-1] == "step 50"
    assert len(notes) < 10


@pytest.mark.parametrize("is_async", [True, False])
async def test_text_arrives_whole_and_in_order_also_what_is_beyond_16_bits(stage: Stage, is_async: bool) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")
    text = "".join(f"{number} 🎈 " for number in range(1_500))
    halves = text.encode("utf-16-le", "surrogatepass")
    # As tokens may come: halves of a balloon come apart.
    pieces = [halves[at : at + 14].decode("utf-16-le", "surrogatepass") for at in range(0, len(halves), 14)]

    async def talk(_input: Any, ctx: AsyncContext) -> None:
        await asyncio.gather(*(ctx.write(piece) for piece in pieces))

    def talk_plainly(_input: Any, ctx: Context) -> None:
        for piece in pieces:
            ctx.write(piece)

    await worker.serve({"talk": talk if is_async else talk_plainly}, signals=False)
    handle = await sender.send("talk", None)
    assert await handle.chunks().text() == text


async def test_a_checkpoint_reaches_the_next_attempt_and_the_key_stays(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")
    keys = []

    async def count(_input: Any, ctx: AsyncContext) -> Any:
        keys.append(ctx.idempotency_key)
        before = ctx.previous.checkpoint or {"n": 0}
        await ctx.checkpoint({"n": before["n"] + 1})
        if before["n"] < 1:
            raise Retry("not yet")
        return before

    await worker.serve({"count": count}, signals=False)
    handle = await sender.send("count", None, idempotency_key="order 7")
    assert await handle.result() == {"n": 1}
    assert keys == ["order 7", "order 7"]


async def test_what_a_handler_sends_is_a_child_and_carries_deadline_and_trace_down(stage: Stage) -> None:
    worker, middle, sender = [await stage.agent(name) for name in ("worker", "middle", "sender")]
    leases = []

    def leaf(value: Any, ctx: Context) -> Any:
        leases.append(ctx.handoff)
        return value

    async def branch(value: Any, ctx: AsyncContext) -> Any:
        await ctx.notify("leaf", "told")
        scattered = await ctx.scatter([{"capability": "leaf", "input": n} for n in range(2)]).all()
        return [await (await ctx.send("leaf", value)).result(), scattered]

    def branch_plainly(value: Any, ctx: Context) -> Any:
        ctx.notify("leaf", "told")
        scattered = ctx.scatter([{"capability": "leaf", "input": n} for n in range(2)]).all()
        return [ctx.send("leaf", value).result(), scattered]

    await worker.serve({"leaf": leaf}, signals=False)
    await middle.serve({"branch": branch, "branch-plainly": branch_plainly}, signals=False)
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    for name in ("branch", "branch-plainly"):
        leases.clear()
        handle = await sender.send(name, "down", timeout=30, traceparent=trace)
        assert await handle.result() == ["down", [0, 1]]
        await until(lambda: len(leases) == 4)
        for lease in leases:
            assert (lease["causation_id"], lease["correlation_id"]) == (handle.id, handle.id)
            assert lease["deadline_ms"] <= 30_000
            assert lease["from"] == middle.agent
            assert lease["traceparent"] == trace
            assert lease["evidence"] == "signed"


async def test_a_notice_is_over_with_its_ack_and_its_handler_still_runs(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")
    heard: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    async def news(value: Any) -> None:
        heard.set_result(value)
        raise ValueError("too late to matter")

    await worker.serve({"news": news}, signals=False)
    await sender.notify("news", {"text": "hello"})
    assert await heard == {"text": "hello"}
    assert "too late to matter" in (await stage.warned("worker", "notice_failed")).message


async def test_what_a_handler_calls_finds_the_handoff_and_nobody_elses(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")

    def found() -> str:
        context = current()
        assert context is not None
        return str(context.handoff["id"])

    async def awaited() -> list[str]:
        return [found(), await asyncio.to_thread(found)]

    def plain() -> list[str]:
        return [found(), found()]

    names = [f"awaited-{worker.agent}", f"plain-{worker.agent}"]
    await worker.serve(dict(zip(names, (awaited, plain), strict=True)), signals=False)
    scatter = sender.scatter([{"capability": name, "input": None} for name in names * 3])
    ids = [handle.id for handle in await scatter.handles()]
    assert await scatter.all() == [[id, id] for id in ids]
    assert current() is None
