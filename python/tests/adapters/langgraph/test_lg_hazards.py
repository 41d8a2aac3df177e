"""What was measured of LangGraph and could let a thread get the wrong outcome, or one twice, or none: first what
LangGraph does by itself, then what the adapter makes of it. The sixth, parallel tools, is in test_lg_tools.py."""

from __future__ import annotations

import asyncio
import threading
from functools import partial
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from lg_bench import Bench, until
from lg_planner import planner
from typing_extensions import TypedDict

from handfast import UsageError
from handfast.langgraph import Outcome, _step, add_handoff


class Bare(TypedDict, total=False):
    left: Any
    right: Any


def bare(*keys: str, ran: list[str] | None = None) -> Any:
    """Nodes side by side that wait by LangGraph's own means, and one that follows."""
    log = [] if ran is None else ran

    def waits(key: str) -> Any:
        def node(_: Bare) -> Any:
            log.append(f"{key} begins")
            return {key: interrupt(key)}

        return node

    def after(_: Bare) -> Bare:
        log.append("after")
        return {}

    builder: Any = StateGraph(Bare)
    builder.add_node("after", after)
    for key in keys:
        builder.add_node(f"wait_{key}", waits(key))
        builder.add_edge(START, f"wait_{key}")
    builder.add_edge([f"wait_{key}" for key in keys], "after")
    builder.add_edge("after", END)
    return builder.compile(checkpointer=InMemorySaver())


class Both(TypedDict, total=False):
    left: Outcome
    right: Outcome


def _topic(topic: str, _: Both) -> dict[str, str]:
    return {"topic": topic}


def two_at_once(bench: Bench, hf: Any, saver: BaseCheckpointSaver[Any], joined: list[str]) -> Any:
    """Two handoffs side by side, and what follows when both have ended."""

    def join(_: Both) -> Both:
        joined.append("join")
        return {}

    builder: Any = StateGraph(Both)
    for key in ("left", "right"):
        add_handoff(
            builder,
            f"go_{key}",
            hf=hf,
            capability=bench.research,
            timeout=60,
            input=partial(_topic, key),
            output=key,
        )
        builder.add_edge(START, f"go_{key}")
    builder.add_node("join", join)
    builder.add_edge(["go_left_outcome", "go_right_outcome"], "join")
    builder.add_edge("join", END)
    return builder.compile(checkpointer=saver)


async def test_1_a_resume_that_names_no_interrupt_is_not_taken_for_an_outcome(bench: Bench) -> None:
    graph = bare("left", "right")
    await bench.invoke(graph, {})
    with pytest.raises(RuntimeError, match="multiple pending interrupts"):
        await bench.invoke(graph, Command(resume="yes"))

    hf = await bench.agent()
    await bench.worker()
    one = planner(hf, bench.research, await bench.saver())
    await bench.invoke(one, {"topic": "fsync"})
    for wrong in ("yes", {"handfast": {"handoff": "another", "outcome": "wrong"}}):
        await bench.invoke(one, Command(resume=wrong))
    assert "report" not in (await bench.state(one)).values
    resuming = bench.resume(hf, one)
    bench.gates.finish("fsync")
    await resuming.woke()
    assert (await bench.state(one)).values["text"] == '"about fsync"'


async def test_2_a_resume_with_a_stale_id_is_ignored_without_a_word_and_the_thread_goes_on_waiting(
    bench: Bench,
) -> None:
    stale = {"0123456789abcdef" * 2: "stale"}
    graph = bare("left")
    await bench.invoke(graph, {})
    assert "__interrupt__" in await bench.invoke(graph, Command(resume=stale))

    hf = await bench.agent()
    await bench.worker()
    one = planner(hf, bench.research, await bench.saver())
    await bench.invoke(one, {"topic": "fsync"})
    await bench.invoke(one, Command(resume=stale))
    assert (await bench.state(one)).next == ("research_outcome",)
    resuming = bench.resume(hf, one)
    bench.gates.finish("fsync")
    await resuming.woke()
    assert (await bench.state(one)).values["text"] == '"about fsync"'


async def test_2_a_resume_that_langgraph_ignored_is_not_taken_for_one_that_was_heard(bench: Bench) -> None:
    hf = await bench.agent()
    await bench.worker()
    graph = planner(hf, bench.research, await bench.saver())
    await bench.invoke(graph, {"topic": "fsync"})
    resuming = bench.resume(hf, graph, attempts=1)

    def deaf(*_: Any, **__: Any) -> dict[str, Any]:
        return {}

    async def adeaf(*_: Any, **__: Any) -> dict[str, Any]:
        return {}

    graph.invoke, graph.ainvoke = deaf, adeaf
    bench.gates.finish("fsync")
    assert getattr(await resuming.failed(), "reason", None) == "not_heard"
    (sent,) = await bench.sent_by(hf)
    assert sent["taken_at"] is None


async def test_3_two_resumers_at_once_run_what_follows_once(bench: Bench) -> None:
    after: list[str] = []
    both = threading.Barrier(2)

    def node(_: Bare) -> Any:
        got = interrupt("left")
        both.wait(10)
        return {"left": got}

    # By itself: both are inside at once, and both go on.
    builder: Any = StateGraph(Bare)
    builder.add_node("wait_left", node)
    builder.add_node("after", lambda _: {"right": after.append("ran")})  # type: ignore[func-returns-value]
    builder.add_edge(START, "wait_left")
    builder.add_edge("wait_left", "after")
    graph: Any = builder.compile(checkpointer=InMemorySaver())
    paused = await bench.invoke(graph, {})
    answer: Command[Any] = Command(resume={paused["__interrupt__"][0].id: "yes"})
    await asyncio.gather(bench.invoke(graph, answer), bench.invoke(graph, answer))
    assert after == ["ran", "ran"]

    hf = await bench.agent()
    await bench.worker()
    saver = await bench.saver()
    did: list[str] = []
    graphs = [planner(hf, bench.research, saver, lambda node, _: did.append(node)) for _ in range(2)]
    await bench.invoke(graphs[0], {"topic": "fsync"})
    resumers = [bench.resume(hf, each) for each in graphs]
    bench.gates.finish("fsync")
    for each in resumers:
        await each.woke()
    assert did == ["plan", "note", "write"]
    assert sorted(how for each in resumers for how in each.how) == ["not_waiting", "resumed"]


async def test_3_what_a_user_runs_on_the_thread_meanwhile_is_waited_for(bench: Bench) -> None:
    """Its handoff ends while it is still about to wait, so it goes on at once, and the resumer has the outcome too."""
    hf = await bench.agent()
    await bench.worker(lambda _: "at once")
    ran: list[str] = []
    may_wait, may_note = threading.Event(), threading.Event()

    def in_node(node: str, _: Any) -> None:
        ran.append(node)
        if node == "note":
            assert may_note.wait(20)

    saver = hold_back(await bench.saver(), may_wait, after="research")
    compiled = planner(hf, bench.research, saver, in_node)
    resuming = bench.resume(hf, compiled)
    # Copies of the graph are watched as well.
    running = asyncio.ensure_future(bench.invoke(compiled.with_config({"tags": ["copy"]}), {"topic": "fsync"}))
    try:
        await bench.ended(hf)
        may_wait.set()
        await until(lambda: "note" in ran)
        await asyncio.sleep(0.3)
        assert resuming.woken == []
    finally:
        may_wait.set()
        may_note.set()
    await running
    await resuming.woke()
    assert ran == ["plan", "note", "write"]
    assert resuming.how == ["not_waiting"]


@pytest.mark.parametrize("resumed", ["the same graph", "another one of the same nodes"])
async def test_3_a_run_that_began_before_anybody_resumed_is_waited_for(bench: Bench, resumed: str) -> None:
    hf = await bench.agent()
    await bench.worker(lambda _: "at once")
    ran: list[str] = []
    may_wait, may_note = threading.Event(), threading.Event()

    def in_node(node: str, _: Any) -> None:
        ran.append(node)
        if node == "note":
            assert may_note.wait(20)

    saver = hold_back(await bench.saver(), may_wait, after="research")
    users, another = (planner(hf, bench.research, saver, in_node) for _ in range(2))
    running = asyncio.ensure_future(bench.invoke(users, {"topic": "fsync"}))
    try:
        await bench.ended(hf)
        may_wait.set()
        await until(lambda: "note" in ran)
        resuming = bench.resume(hf, users if resumed == "the same graph" else another)
        await asyncio.sleep(0.3)
        assert ran == ["plan", "note"]
        assert resuming.woken == []
    finally:
        may_wait.set()
        may_note.set()
    await running
    await resuming.woke()
    assert ran == ["plan", "note", "write"]
    assert resuming.how == ["not_waiting"]


def hold_back(saver: Any, gate: threading.Event, after: str = "") -> Any:
    """States are kept only when the gate is open; or only that after a certain node."""
    put, aput = saver.put, saver.aput

    def is_held(checkpoint: Any) -> bool:
        return not after or f"{after}_outcome" in str(checkpoint["channel_values"].get("__pregel_tasks"))

    def slow_put(config: Any, checkpoint: Any, *rest: Any) -> Any:
        assert not is_held(checkpoint) or gate.wait(20)
        return put(config, checkpoint, *rest)

    async def slow_aput(config: Any, checkpoint: Any, *rest: Any) -> Any:
        assert not is_held(checkpoint) or await asyncio.to_thread(gate.wait, 20)
        return await aput(config, checkpoint, *rest)

    saver.put, saver.aput = slow_put, slow_aput
    return saver


async def test_4_a_node_runs_again_from_its_top_when_it_is_resumed_and_nothing_is_sent_again(bench: Bench) -> None:
    log: list[str] = []
    graph = bare("left", ran=log)
    await bench.invoke(graph, {})
    await bench.invoke(graph, Command(resume="yes"))
    assert log == ["left begins", "left begins", "after"]

    hf = await bench.agent()
    await bench.worker()
    inputs: list[str] = []

    def input(state: Any) -> Any:
        inputs.append(state["topic"])
        return {"topic": state["topic"]}

    one = planner(hf, bench.research, await bench.saver(), input=input)
    await bench.invoke(one, {"topic": "fsync"})
    await bench.invoke(one, None)
    resuming = bench.resume(hf, one)
    bench.gates.finish("fsync")
    await resuming.woke()
    assert inputs == ["fsync"]
    assert len(await bench.sent_by(hf)) == 1


async def test_5_one_of_two_that_was_answered_is_not_answered_again(bench: Bench) -> None:
    """Older versions go on listing it in ``tasks``; those of now in a state that is read by its checkpoint's id."""
    graph = bare("left", "right")
    paused = await bench.invoke(graph, {})
    first = next(each for each in paused["__interrupt__"] if each.value == "left")
    await bench.invoke(graph, Command(resume={first.id: "yes"}))
    newest = await bench.state(graph)
    addressed = await asyncio.to_thread(lambda: graph.get_state(newest.config))
    assert len(addressed.interrupts) == 2

    hf = await bench.agent()
    await bench.worker()
    joined: list[str] = []
    both = two_at_once(bench, hf, await bench.saver(), joined)
    await bench.invoke(both, {})
    resuming = bench.resume(hf, both)
    bench.gates.finish("left")
    await resuming.woke()
    assert joined == []
    bench.gates.finish("right")
    await resuming.woke(2)
    values = (await bench.state(both)).values
    assert [values[key]["output"] for key in ("left", "right")] == ["about left", "about right"]
    assert joined == ["join"]


@pytest.mark.parametrize("output", [{}, {"0123456789abcdef0123456789abcdef": "kept"}])
async def test_7_an_output_that_looks_like_a_map_of_interrupts_arrives_as_it_is(
    bench: Bench, output: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = bare("left")
    await bench.invoke(graph, {})
    # Taken for a map that names nobody, and dropped.
    assert "__interrupt__" in await bench.invoke(graph, Command(resume=output))

    async def is_away(*_: Any) -> None:
        return None

    # Only what the thread is resumed with counts: the node's own look at the relay would make up for it.
    monkeypatch.setattr(_step, "_ended_already", is_away)
    hf = await bench.agent()
    await bench.worker(lambda _: output)
    one = planner(hf, bench.research, await bench.saver())
    resuming = bench.resume(hf, one)
    await bench.invoke(one, {"topic": "fsync"})
    await resuming.woke()
    assert (await bench.state(one)).values["report"]["output"] == output


async def test_8_where_nothing_is_kept_until_the_end_a_handoff_is_refused_before_it_is_sent(bench: Bench) -> None:
    began: list[str] = []
    is_broken = [True]

    def first(_: Bare) -> Bare:
        began.append("first")
        return {}

    def second(_: Bare) -> Bare:
        if is_broken[0]:
            raise ValueError("cut off")
        return {}

    # By itself: after an end that was none, what had been done is done again.
    builder: Any = StateGraph(Bare)
    builder.add_node("first", first)
    builder.add_node("second", second)
    builder.add_edge(START, "first")
    builder.add_edge("first", "second")
    saver = _Forgetful()
    graph: Any = builder.compile(checkpointer=saver)
    with pytest.raises(ValueError, match="cut off"):
        await bench.invoke(graph, {}, durability="exit")
    saver.remembers = True
    is_broken[0] = False
    await bench.invoke(graph, {}, durability="exit")
    assert began == ["first", "first"]

    hf = await bench.agent()
    await bench.worker()
    one = planner(hf, bench.research, await bench.saver())
    with pytest.raises(UsageError, match="could be sent twice") as caught:
        await bench.invoke(one, {"topic": "fsync"}, durability="exit")
    assert caught.value.reason == "not_kept"
    assert await bench.sent_by(hf) == []


class _Forgetful(InMemorySaver):
    """Keeps nothing, as a process that is killed before its end."""

    remembers = False

    def put(self, config: Any, *rest: Any) -> Any:
        return super().put(config, *rest) if self.remembers else config

    async def aput(self, config: Any, *rest: Any) -> Any:
        return self.put(config, *rest)


async def test_8_where_the_state_is_kept_in_the_background_a_handoff_is_sent_when_it_is_kept(bench: Bench) -> None:
    hf = await bench.agent()
    await bench.worker()
    gate = threading.Event()
    saver = hold_back(await bench.saver(), gate)
    graph = planner(hf, bench.research, saver)
    running = asyncio.ensure_future(bench.invoke(graph, {"topic": "fsync"}, durability="async"))
    try:
        await asyncio.sleep(0.2)
        assert await bench.sent_by(hf) == []
    finally:
        gate.set()
    await running
    assert len(await bench.sent_by(hf)) == 1
