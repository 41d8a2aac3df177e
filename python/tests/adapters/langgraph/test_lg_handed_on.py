"""Outcomes of what a served graph handed on: each is taken, and none before the graph's own state has it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from lg_bench import Bench
from lg_served import crash, sender, serve
from typing_extensions import TypedDict

from handfast import Fail
from handfast._adapters import async_client_of
from handfast.langgraph import add_handoff, handoff_of


class State(TypedDict, total=False):
    topic: str
    report: Any
    text: str


class Chain:
    """A graph that has research done elsewhere: START → research → research_outcome → write → END; and its worker."""

    def __init__(self, bench: Bench, worker: Any, researches: str) -> None:
        self.bench = bench
        self.worker = worker
        self.researches = researches

    @classmethod
    async def of(cls, bench: Bench, research: Callable[[str], Any] = lambda topic: f"about {topic}") -> Chain:
        researches = bench.name("elsewhere")
        await (await sender(bench)).serve({researches: research}, signals=False)
        return cls(bench, await bench.agent("writer"), researches)

    async def serve(self, saver: Any, write: Any = lambda _config: None, output: Any = "report") -> Any:
        def writes(state: State, config: RunnableConfig) -> State:
            write(config)
            report = state["report"]
            return {"text": report["output"] if report["status"] == "completed" else report["status"]}

        builder: Any = StateGraph(State)
        builder.add_node("write", writes)
        options: Any = {"capability": self.researches, "input": lambda state: state["topic"]}
        add_handoff(builder, "research", output=output, next="write", **options)
        builder.add_edge(START, "research")
        builder.add_edge("write", END)
        return await serve(self.bench, builder.compile(checkpointer=saver), self.worker, graph_output="text")

    async def send(self, **options: Any) -> Any:
        return await (await sender(self.bench)).send(self.bench.research, {"topic": "fsync"}, **options)

    async def children(self) -> list[tuple[str, bool]]:
        """How those that the graph's worker sent have ended, and whether they are taken; oldest first."""
        return [(each["state"], each["taken_at"] is not None) for each in await self.bench.sent_by(self.worker)]


def before_it_waits(saver: Any, then: Callable[[], Awaitable[Any]]) -> Any:
    """Lets something happen when what was sent is kept, and before the graph waits for it."""
    put, aput = saver.put, saver.aput
    loop = asyncio.get_running_loop()
    has_happened: list[bool] = []

    async def happen() -> None:
        await then()

    def is_now(checkpoint: Any) -> bool:
        if has_happened or "research_outcome" not in str(checkpoint["channel_values"].get("__pregel_tasks")):
            return False
        has_happened.append(True)
        return True

    def slow_put(config: Any, checkpoint: Any, *rest: Any) -> Any:
        kept = put(config, checkpoint, *rest)
        if is_now(checkpoint):
            asyncio.run_coroutine_threadsafe(happen(), loop).result(20)
        return kept

    async def slow_aput(config: Any, checkpoint: Any, *rest: Any) -> Any:
        kept = await aput(config, checkpoint, *rest)
        if is_now(checkpoint):
            await happen()
        return kept

    saver.put, saver.aput = slow_put, slow_aput
    return saver


async def test_an_outcome_that_is_there_before_the_graph_waits_for_it_is_taken_as_well(bench: Bench) -> None:
    chain = await Chain.of(bench)
    await chain.serve(before_it_waits(await bench.saver(), lambda: bench.ended(chain.worker)))
    handle = await chain.send()
    assert await handle.result() == "about fsync"
    assert await chain.children() == [("completed", True)]


async def test_a_graph_that_fails_while_it_uses_an_outcome_has_not_taken_it_until_another_attempt_is_through(
    bench: Bench,
) -> None:
    seen: list[Any] = []

    def output(report: Any) -> State:
        seen.append(report)
        if len(seen) == 1:
            raise ConnectionError("away")
        return {"report": report}

    chain = await Chain.of(bench)
    await chain.serve(await bench.saver(), output=output)
    handle = await chain.send()
    (failed_at,) = [event["at"] async for event in handle.events() if event["type"] == "requeued"]
    assert await handle.result() == "about fsync"
    assert len(seen) == 2
    (child,) = await bench.sent_by(chain.worker)
    assert child["taken_at"] > failed_at


async def test_what_a_worker_used_and_did_not_come_to_take_is_taken_by_the_next_and_what_its_nodes_sent_is_not(
    bench: Bench,
) -> None:
    chain = await Chain.of(bench)
    saver = await bench.saver()
    reached, gate = threading.Event(), threading.Event()

    def hangs(config: RunnableConfig) -> None:
        context: Any = handoff_of(config)
        own = context.send(chain.researches, "its own", detached=True)
        if bench.kind == "async":
            asyncio.run_coroutine_threadsafe(own, loop).result(20)
        reached.set()
        assert gate.wait(20)

    loop = asyncio.get_running_loop()
    try:
        first = await chain.serve(saver, hangs)
        handle = await chain.send(lease=2)
        assert await asyncio.to_thread(reached.wait, 20)
        await bench.ended(chain.worker, 2)
        assert await chain.children() == [("completed", False)] * 2
        crash(first)
        await chain.serve(saver)
        assert await handle.result(timeout=20) == "about fsync"
        assert await chain.children() == [("completed", True), ("completed", False)]
    finally:
        gate.set()


async def test_so_is_that_of_a_graph_that_had_ended_and_was_cut_off_before_it_could_say_so(bench: Bench) -> None:
    chain = await Chain.of(bench)
    link = async_client_of(chain.worker)._base.link
    call = link.call
    refused: list[str] = []

    async def cut_off(name: str, **options: Any) -> Any:
        if name == "take" and len(refused) < 2:
            refused.append(name)
            raise ConnectionError("cut off")
        return await call(name, **options)

    link.call = cut_off  # type: ignore[method-assign]
    ran: list[str] = []
    await chain.serve(await bench.saver(), lambda _: ran.append("write"))
    handle = await chain.send()
    view = await handle.outcome()
    assert (view["state"], view["attempts"], ran) == ("completed", 2, ["write"])
    # Once when the run came back, and once more because that failed.
    assert refused == ["take", "take"]
    assert await chain.children() == [("completed", True)]


async def test_a_graph_that_fails_after_it_used_an_outcome_has_taken_it(bench: Bench) -> None:
    def fails(_: RunnableConfig) -> None:
        raise Fail("Too long.")

    chain = await Chain.of(bench)
    await chain.serve(await bench.saver(), fails)
    handle = await chain.send()
    assert (await handle.outcome())["state"] == "failed"
    assert await chain.children() == [("completed", True)]


async def test_the_outcome_of_a_redrive_counts_and_both_are_taken(bench: Bench) -> None:
    """A dead letter that was redriven before the graph waited for it."""
    runs: list[str] = []

    def research(topic: str) -> str:
        runs.append(topic)
        if len(runs) > 1:
            return "found at last"
        raise Fail("Not today.")

    async def redrive() -> None:
        (child,) = await bench.ended(chain.worker)
        await bench._call(chain.worker, "redrive", params={"id": child["id"]}, body={})

    chain = await Chain.of(bench, research)
    await chain.serve(before_it_waits(await bench.saver(), redrive))
    handle = await chain.send()
    assert await handle.result() == "found at last"
    assert await chain.children() == [("failed", True), ("completed", True)]
