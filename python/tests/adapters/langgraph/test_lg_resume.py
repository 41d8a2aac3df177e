"""Waking threads when something goes wrong on the way: nodes that raise or hang, redrives, several processes."""

from __future__ import annotations

import asyncio
import threading
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest
from lg_bench import Bench, until
from lg_planner import planner

from handfast import Fail
from handfast.langgraph._runs import no_run_of


async def asleep(bench: Bench, hf: Any, graph: Any) -> str:
    """The handoff of a thread that sleeps, whose outcome is at the relay."""
    await bench.invoke(graph, {"topic": "fsync"})
    bench.gates.finish("fsync")
    (sent,) = await bench.ended(hf)
    id = sent["id"]
    assert isinstance(id, str)
    return id


async def test_a_node_that_raises_is_tried_again_where_it_stands(bench: Bench) -> None:
    """What came before it is not run again."""
    hf = await bench.agent()
    await bench.worker()
    ran: list[str] = []

    def in_node(node: str, _: Any) -> None:
        ran.append(node)
        if node == "write" and ran.count("write") < 3:
            raise ValueError("no ink")

    graph = planner(hf, bench.research, await bench.saver(), in_node)
    id = await asleep(bench, hf, graph)
    resuming = bench.resume(hf, graph, pause="1ms")
    await resuming.woke()
    assert ran == ["plan", "note", "write", "write", "write"]
    assert resuming.how == ["continued"]
    assert await bench.is_taken(hf, id)


async def test_one_that_raises_every_time_keeps_its_outcome_at_the_relay_and_the_next_start_goes_on(
    bench: Bench,
) -> None:
    hf = await bench.agent()
    await bench.worker()
    broken = [True]

    def in_node(node: str, _: Any) -> None:
        if broken[0] and node == "note":
            raise ValueError("no paper")

    graph = planner(hf, bench.research, await bench.saver(), in_node)
    id = await asleep(bench, hf, graph)
    first = bench.resume(hf, graph, attempts=2, pause="1ms")
    assert str(await first.failed()) == "no paper"
    await first.stop()
    assert not await bench.is_taken(hf, id)

    broken[0] = False
    await bench.resume(hf, graph, follow=False).stopped()
    assert await bench.is_taken(hf, id)
    assert (await bench.state(graph)).values["text"] == '"about fsync"'


async def test_a_node_that_hangs_holds_up_its_own_thread_only_and_is_let_go_when_the_resumer_stops(
    bench: Bench,
) -> None:
    hf = await bench.agent()
    await bench.worker()
    gate = threading.Event()
    ran: list[str] = []

    def in_node(node: str, state: Any) -> None:
        ran.append(f"{node} {state['topic']}")
        if node == "note" and state["topic"] == "slow":
            assert gate.wait(30)

    graph = planner(hf, bench.research, await bench.saver(), in_node)
    try:
        for thread in ("slow", "quick"):
            await bench.invoke(graph, {"topic": thread}, thread)
            bench.gates.finish(thread)
        resuming = bench.resume(hf, graph)
        await resuming.woke()
        assert [each.key for each in resuming.woken] == ["langgraph/graph/quick"]
        await until(lambda: "note slow" in ran)
        await resuming.stop(0.05)
        slow = next(each for each in await bench.sent_by(hf) if each["labels"]["langgraph.thread"] == "slow")
        assert slow["taken_at"] is None
    finally:
        gate.set()
    # It ends after that node, and the next start goes on behind it.
    await no_run_of("slow")
    assert "write slow" not in ran
    again = bench.resume(hf, graph, follow=False)
    await again.stopped()
    assert again.how == ["continued"]
    assert ran.count("write slow") == 1


async def test_a_graph_that_stops_by_its_own_plan_is_not_led_past_that(bench: Bench) -> None:
    """A person is to look at it."""
    hf = await bench.agent()
    await bench.worker()
    graph = planner(hf, bench.research, await bench.saver())
    graph.interrupt_before_nodes = ["write"]
    id = await asleep(bench, hf, graph)
    for _ in range(2):
        await bench.resume(hf, graph, follow=False).stopped()
        assert (await bench.state(graph)).next == ("write",)
    assert await bench.is_taken(hf, id)


async def test_a_dead_letter_that_is_redriven_before_its_thread_was_woken_wakes_it_with_the_redrives_outcome(
    bench: Bench,
) -> None:
    runs: list[Any] = []

    async def research(input: Any) -> str:
        runs.append(input)
        if len(runs) > 1:
            return "found at last"
        await bench.gates.work(input)
        raise Fail("Not today.")

    hf = await bench.agent()
    await bench.worker(research)
    graph = planner(hf, bench.research, await bench.saver())
    id = await asleep(bench, hf, graph)
    await bench._call(hf, "redrive", params={"id": id}, body={})
    await bench.ended(hf, 2)
    resuming = bench.resume(hf, graph, follow=False)
    await resuming.stopped()
    assert resuming.how == ["redriven", "resumed"]
    assert (await bench.state(graph)).values["text"] == '"found at last"'


async def test_a_thread_that_was_cut_off_before_it_waited_has_the_outcome_of_the_redrive(bench: Bench) -> None:
    runs: list[Any] = []

    def research(input: Any) -> str:
        runs.append(input)
        if len(runs) > 1:
            return "found at last"
        raise Fail("Not today.")

    hf = await bench.agent()
    await bench.worker(research)
    graph = planner(hf, bench.research, dies_once_sent(await bench.saver()))
    with pytest.raises(RuntimeError, match="killed here"):
        await bench.invoke(graph, {"topic": "fsync"})
    (sent,) = await bench.ended(hf)
    await bench._call(hf, "redrive", params={"id": sent["id"]}, body={})
    await bench.ended(hf, 2)
    resuming = bench.resume(hf, graph, follow=False)
    await resuming.stopped()
    assert resuming.how == ["continued", "redriven"]
    assert (await bench.state(graph)).values["text"] == '"found at last"'


def dies_once_sent(saver: Any) -> Any:
    """As a process that is killed when what it sent is kept, and before it waits."""
    put, aput = saver.put, saver.aput
    is_dead: list[bool] = []

    def die(checkpoint: Any) -> None:
        if not is_dead and "research_outcome" in str(checkpoint["channel_values"].get("__pregel_tasks")):
            is_dead.append(True)
            raise RuntimeError("killed here")

    def mortal_put(config: Any, checkpoint: Any, *rest: Any) -> Any:
        kept = put(config, checkpoint, *rest)
        die(checkpoint)
        return kept

    async def mortal_aput(config: Any, checkpoint: Any, *rest: Any) -> Any:
        kept = await aput(config, checkpoint, *rest)
        die(checkpoint)
        return kept

    saver.put, saver.aput = mortal_put, mortal_aput
    return saver


@pytest.mark.parametrize("flavour", ["with", "async with"])
async def test_several_processes_wake_each_thread_once_by_a_lock_that_holds_across_them(
    bench: Bench, flavour: str
) -> None:
    hf = await bench.agent()
    await bench.worker()
    ran: list[str] = []
    held = threading.Lock()
    most = [0, 0]

    @contextmanager
    def plain_lock(key: str) -> Any:
        assert key == "langgraph/graph/t"
        with held:
            most[0] += 1
            most[1] = max(most)
            yield
            most[0] -= 1

    @asynccontextmanager
    async def async_lock(key: str) -> Any:
        await asyncio.to_thread(held.acquire)
        try:
            yield key
        finally:
            held.release()

    saver = await bench.saver()
    graphs = [planner(hf, bench.research, saver, lambda node, _: ran.append(node)) for _ in range(2)]
    id = await asleep(bench, hf, graphs[0])
    lock = plain_lock if flavour == "with" else async_lock
    resumers = [bench.resume(hf, graph, lock=lock, follow=False) for graph in graphs]
    for each in resumers:
        await each.stopped()
    assert ran == ["plan", "note", "write"]
    assert await bench.is_taken(hf, id)
    assert most[1] <= 1


async def test_a_thread_that_another_process_may_still_run_is_waited_for(bench: Bench) -> None:
    """With a lock: it neither waits nor has ended, and its newest state is young."""
    hf = await bench.agent()
    await bench.worker()
    stop = [True]

    def in_node(node: str, _: Any) -> None:
        if stop[0] and node == "write":
            raise ValueError("cut off")

    saver = await bench.saver()
    graph = planner(hf, bench.research, saver, in_node)
    await asleep(bench, hf, graph)
    await bench.resume(hf, graph, attempts=1, follow=False).stopped()
    assert (await bench.state(graph)).next == ("write",)
    stop[0] = False

    @asynccontextmanager
    async def lock(_: str) -> Any:
        yield

    patient = bench.resume(hf, planner(hf, bench.research, saver), lock=lock, patience=300)
    await asyncio.sleep(0.3)
    assert patient.woken == []
    # The other process ends it, and nothing is left to do.
    await bench.invoke(graph, None)
    await patient.woke()
    assert patient.how == ["not_waiting"]


async def test_a_resumer_of_a_client_that_is_closed_ends(bench: Bench) -> None:
    hf = await bench.agent()
    await bench.worker()
    graph = planner(hf, bench.research, await bench.saver())
    resuming = bench.resume(hf, graph)
    if bench.kind == "async":
        await hf.close()
        await asyncio.wait_for(resuming.stopped(), 10)
        assert resuming.errors == []
    else:
        await asyncio.wait_for(asyncio.to_thread(hf.close), 10)
        await asyncio.wait_for(resuming.stop(0), 10)


@pytest.mark.parametrize("bench", ["plain"], indirect=True)
async def test_a_resumer_that_stopped_leaves_no_threads(bench: Bench) -> None:
    hf = await bench.agent()
    await bench.worker()
    graph = planner(hf, bench.research, await bench.saver())
    await asleep(bench, hf, graph)
    before = {thread.ident for thread in threading.enumerate()}
    resuming = bench.resume(hf, graph)
    await resuming.woke()
    await resuming.stop()

    def left() -> list[str]:
        return [
            thread.name
            for thread in threading.enumerate()
            if thread.ident not in before and thread.name.startswith("handfast-handler")
        ]

    await until(lambda: not left())


async def test_what_the_users_own_function_raises_wakes_nobody_again(bench: Bench) -> None:
    hf = await bench.agent()
    await bench.worker()
    ran: list[str] = []
    graph = planner(hf, bench.research, await bench.saver(), lambda node, _: ran.append(node))
    id = await asleep(bench, hf, graph)
    told: list[str] = []

    def on_woken(woken: Any) -> None:
        told.append(woken.how)
        raise ValueError("of the user")

    resuming = bench.resume(hf, graph, on_woken=on_woken, pause="1ms", follow=False)
    await resuming.stopped()
    assert told == ["resumed"]
    assert resuming.errors == []
    assert ran == ["plan", "note", "write"]
    assert await bench.is_taken(hf, id)
