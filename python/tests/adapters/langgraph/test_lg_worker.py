"""A graph as a worker: the thread is the handoff, so a redelivery goes on where the attempt before it stopped."""

from __future__ import annotations

import asyncio
import operator
import threading
import time
from typing import Annotated, Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from lg_bench import Bench, until
from lg_served import crash, sender, serve
from typing_extensions import TypedDict

import handfast
from handfast import HandoffError, Reject, UsageError
from handfast.langgraph import add_handoff, handoff_of


class State(TypedDict, total=False):
    text: str
    log: Annotated[list[str], operator.add]
    answer: Any
    report: Any


def steps(saver: Any, **nodes: Any) -> Any:
    """These nodes, one after the other."""
    builder: Any = StateGraph(State)
    before = START
    for name, node in nodes.items():
        builder.add_node(name, node)
        builder.add_edge(before, name)
        before = name
    builder.add_edge(before, END)
    return builder.compile(checkpointer=saver)


def logs(name: str) -> Any:
    def node(state: State) -> State:
        return {"log": [name], "text": state["text"].upper()}

    return node


async def test_the_values_of_the_graph_are_the_output(bench: Bench) -> None:
    await serve(bench, steps(await bench.saver(), one=logs("one"), two=logs("two")))
    hf = await sender(bench)
    handle = await hf.send(bench.research, {"text": "hello"})
    assert await handle.result() == {"text": "HELLO", "log": ["one", "two"]}


async def test_one_value_or_a_function_of_them_and_an_input_made_of_the_handoffs(bench: Bench) -> None:
    graph = steps(await bench.saver(), one=logs("one"))
    await serve(
        bench,
        graph,
        graph_input=lambda text, ctx: {"text": f"{text} {ctx.attempt}"},
        graph_output="text",
        input={"type": "string"},
        output={"type": "string"},
        description="Shouts.",
    )
    hf = await sender(bench)
    assert await (await hf.send(bench.research, "hello")).result() == "HELLO 1"
    with pytest.raises(HandoffError) as refused:
        await hf.send(bench.research, {"not": "text"})
    assert refused.value.code == 422
    (agent,) = (await hf.call("agents", query={"capability": bench.research}))["agents"]
    assert agent["capabilities"][0]["description"] == "Shouts."


async def test_a_node_reaches_the_handoff_that_it_works_on(bench: Bench) -> None:
    def node(_: State, config: RunnableConfig) -> State:
        ctx = handoff_of(config)
        assert ctx is not None
        assert ctx is handfast.current()
        ctx.progress(0.5, "half")
        return {"log": [ctx.handoff["id"]]}

    await serve(bench, steps(await bench.saver(), one=node))
    handle = await (await sender(bench)).send(bench.research, {"text": "x"})
    assert (await handle.result())["log"] == [handle.id]
    assert handfast.current() is None


async def test_a_redelivery_goes_on_after_the_nodes_that_were_done(bench: Bench) -> None:
    ran: list[str] = []

    def fails_once(_: State) -> State:
        ran.append("two")
        if ran.count("two") == 1:
            raise ConnectionError("the model is away\nsecret: hunter2")
        return {"log": ["two"]}

    def first(state: State) -> State:
        ran.append("one")
        return {"log": ["one"]}

    await serve(bench, steps(await bench.saver(), one=first, two=fails_once))
    handle = await (await sender(bench)).send(bench.research, {"text": "x"}, attempts=2)
    assert (await handle.result())["log"] == ["one", "two"]
    assert ran == ["one", "two", "two"]
    events = [event async for event in handle.events()]
    assert "ConnectionError: the model is away" in str(events)
    assert "hunter2" not in str(events)


async def test_without_a_checkpointer_it_starts_over(bench: Bench) -> None:
    ran: list[str] = []

    def fails_once(_: State) -> State:
        ran.append("one")
        if len(ran) == 1:
            raise ValueError("once")
        return {"log": ["one"]}

    await serve(bench, steps(None, one=fails_once))
    handle = await (await sender(bench)).send(bench.research, {"text": "x"}, attempts=2)
    assert (await handle.result())["log"] == ["one"]


async def test_one_that_had_ended_and_whose_outcome_was_lost_is_not_run_again(bench: Bench) -> None:
    ran: list[str] = []

    def node(_: State) -> State:
        ran.append("one")
        return {"log": ["one"]}

    lost: list[str] = []

    def output(values: dict[str, Any]) -> Any:
        """Between the graph's end and its report."""
        if not lost:
            lost.append("the outcome")
            raise ConnectionError("cut off")
        return values["log"]

    await serve(bench, steps(await bench.saver(), one=node), graph_output=output)
    handle = await (await sender(bench)).send(bench.research, {"text": "x"}, attempts=2)
    assert await handle.result() == ["one"]
    assert ran == ["one"]
    assert lost == ["the outcome"]


@pytest.mark.parametrize("bench", ["plain"], indirect=True)
async def test_one_that_was_cut_off_between_two_steps_is_not_taken_for_one_that_had_ended(bench: Bench) -> None:
    """The first node's writes are kept, the state after it is not: LangGraph then says that nothing comes next."""

    class CutOff(InMemorySaver):
        is_cut = False

        def put(self, config: Any, checkpoint: Any, metadata: Any, versions: Any) -> Any:
            if metadata["step"] == 1 and not self.is_cut:
                self.is_cut = True
                raise ConnectionError("the store is away")
            return super().put(config, checkpoint, metadata, versions)

    saver = CutOff()
    ran: list[str] = []

    def node(name: str) -> Any:
        def run(_: State) -> State:
            ran.append(name)
            return {"log": [name]}

        return run

    graph = steps(saver, one=node("one"), two=node("two"))
    await serve(bench, graph)
    handle = await (await sender(bench)).send(bench.research, {"text": "x"}, attempts=2)
    assert (await handle.result())["log"] == ["one", "two"]
    assert saver.is_cut
    assert ran == ["one", "two"]


def with_a_breakpoint(saver: Any, ran: list[str], **breakpoints: Any) -> Any:
    def node(name: str) -> Any:
        def run(_: State) -> State:
            ran.append(name)
            return {"log": [name]}

        return run

    builder: Any = StateGraph(State)
    builder.add_node("gather", node("gather"))
    builder.add_node("write", node("write"))
    builder.add_edge(START, "gather")
    builder.add_edge("gather", "write")
    return builder.compile(checkpointer=saver, **breakpoints)


BREAKPOINTS = [{"interrupt_before": ["write"]}, {"interrupt_after": ["gather"]}, {"interrupt_after": "*"}]


@pytest.mark.parametrize("breakpoints", BREAKPOINTS)
async def test_a_graph_that_stops_at_its_own_breakpoint_has_not_completed(bench: Bench, breakpoints: Any) -> None:
    ran: list[str] = []
    await serve(bench, with_a_breakpoint(await bench.saver(), ran, **breakpoints), graph_output="log")
    handle = await (await sender(bench)).send(bench.research, {"text": "x"}, attempts=3)
    view: Any = await handle.outcome()
    assert (view["state"], view["attempts"], view["outcome"]["error"]["reason"]) == ("failed", 1, "graph_paused")
    assert "before write" in view["outcome"]["error"]["message"]
    assert ran == ["gather"]


async def test_a_breakpoint_of_a_graph_within_the_graph_counts_as_well(bench: Bench) -> None:
    ran: list[str] = []
    inner = with_a_breakpoint(None, ran, interrupt_before=["write"])
    await serve(bench, steps(await bench.saver(), inner=inner))
    handle = await (await sender(bench)).send(bench.research, {"text": "x"})
    view: Any = await handle.outcome()
    assert view["outcome"]["error"]["reason"] == "graph_paused"
    assert ran == ["gather"]


@pytest.mark.parametrize("breakpoints", BREAKPOINTS)
async def test_a_redelivery_does_not_lead_a_graph_past_its_breakpoint(bench: Bench, breakpoints: Any) -> None:
    ran: list[str] = []
    graph = with_a_breakpoint(InMemorySaver(), ran, **breakpoints)

    def dies_at_the_breakpoint(input: Any, ctx: Any) -> Any:
        """The first attempt: the graph has stopped, and nobody heard of it."""
        graph.invoke(input, {"configurable": {"thread_id": ctx.handoff["id"]}}, durability="sync")
        raise ConnectionError("cut off")

    await serve(bench, graph, graph_input=dies_at_the_breakpoint)
    handle = await (await sender(bench)).send(bench.research, {"text": "x"}, attempts=3)
    view: Any = await handle.outcome()
    assert (view["attempts"], view["outcome"]["error"]["reason"]) == (2, "graph_paused")
    assert ran == ["gather"]


async def test_a_graph_with_breakpoints_that_are_not_reached_completes_also_after_a_redelivery(bench: Bench) -> None:
    ran: list[str] = []

    def fails_once(_: State) -> State:
        ran.append("one")
        if len(ran) == 1:
            raise ConnectionError("away")
        return {"log": ["one"]}

    graph = steps(await bench.saver(), one=fails_once, two=logs("two"))
    graph.interrupt_after_nodes = ["never"]
    await serve(bench, graph)
    handle = await (await sender(bench)).send(bench.research, {"text": "x"}, attempts=2)
    assert (await handle.result())["log"] == ["one", "two"]


async def test_breakpoints_without_a_checkpointer_are_refused_at_once(bench: Bench) -> None:
    with pytest.raises(UsageError, match="has breakpoints and no checkpointer"):
        await serve(bench, with_a_breakpoint(None, [], interrupt_before=["write"]))


async def test_a_worker_that_dies_leaves_the_rest_to_another(bench: Bench) -> None:
    """The second has the same store, as another machine would."""
    saver = await bench.saver()
    ran: list[str] = []
    gate = threading.Event()

    def one(_: State) -> State:
        ran.append("one")
        return {"log": ["one"]}

    def two(_: State) -> State:
        ran.append("two")
        if ran.count("two") == 1:
            assert gate.wait(20)
        return {"log": ["two"]}

    graph = steps(saver, one=one, two=two)
    try:
        hf = await bench.agent("worker")
        server = await serve(bench, graph, hf)
        handle = await (await sender(bench)).send(bench.research, {"text": "x"}, lease=2)
        await until(lambda: "two" in ran)
        crash(server)
        await serve(bench, graph)
        assert (await handle.result(timeout=15))["log"] == ["one", "two"]
        assert ran == ["one", "two", "two"]
    finally:
        gate.set()


async def test_what_the_graph_asks_by_an_interrupt_is_asked_to_the_sender(bench: Bench) -> None:
    def asks(_: State) -> State:
        return {"answer": [interrupt({"word": "which?"}), interrupt("and?")]}

    await serve(bench, steps(await bench.saver(), one=asks))
    hf = await sender(bench)
    handle = await hf.send(bench.research, {"text": "x"})
    asked: list[Any] = []
    async for question in hf.questions():
        if question["handoff"] != handle.id:
            continue
        asked.append(question["question"])
        await hf.answer(question, f"answer {len(asked)}")
        if len(asked) == 2:
            break
    assert (await handle.result())["answer"] == ["answer 1", "answer 2"]
    assert asked == [{"word": "which?"}, "and?"]


async def test_what_a_served_graph_hands_off_is_below_its_own_handoff(bench: Bench) -> None:
    other = bench.name("shout")
    shouter = await sender(bench)
    await shouter.serve({other: lambda text: text.upper()}, signals=False)
    worker = await bench.agent("worker")
    builder: Any = StateGraph(State)
    add_handoff(builder, "hand_on", capability=other, input=lambda s: s["text"], output="report", next=END)
    builder.add_edge(START, "hand_on")
    graph = builder.compile(checkpointer=await bench.saver())
    await serve(bench, graph, worker, graph_output=lambda values: values["report"]["output"])
    handle = await (await sender(bench)).send(bench.research, {"text": "hello"})
    assert await handle.result() == "HELLO"
    (child,) = await bench.sent_by(worker)
    assert child["causation"]["id"] == handle.id
    assert child["labels"] == {}
    await until(lambda: bench.is_taken(worker, child["id"]))


async def test_a_graph_that_hangs_is_let_go_when_its_handoff_is_over(bench: Bench) -> None:
    """The relay owns the deadline. A plain graph goes on to the end of its node, and no further."""
    ran: list[str] = []

    async def ahangs(_: State) -> State:
        ran.append("hangs")
        await asyncio.sleep(60)
        return {}

    def hangs(_: State) -> State:
        ran.append("hangs")
        ctx = handfast.current()
        assert ctx is not None
        assert ctx.signal.wait(20)
        return {}

    def after(_: State) -> State:
        ran.append("after")
        return {}

    graph = steps(await bench.saver(), one=ahangs if bench.kind == "async" else hangs, two=after)
    server = await serve(bench, graph)
    handle = await (await sender(bench)).send(bench.research, {"text": "x"}, timeout=0.5, lease=2)
    assert (await handle.outcome())["code"] == 408
    await until(lambda: server.active == 0)
    assert ran == ["hangs"]


async def test_a_canceled_handoff_reaches_the_graph(bench: Bench) -> None:
    seen: list[Any] = []

    async def awaits(_: State) -> State:
        seen.append("begun")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            seen.append("canceled")
            raise
        return {}

    def loops(_: State) -> State:
        ctx = handfast.current()
        assert ctx is not None
        seen.append("begun")
        ends_at = time.monotonic() + 20
        while not ctx.signal.is_set and time.monotonic() < ends_at:
            time.sleep(0.01)
        seen.append("canceled")
        ctx.check()
        return {}

    await serve(bench, steps(await bench.saver(), one=awaits if bench.kind == "async" else loops))
    handle = await (await sender(bench)).send(bench.research, {"text": "x"}, lease=2)
    await until(lambda: seen)
    await handle.cancel("Never mind.")
    await until(lambda: seen == ["begun", "canceled"])
    assert (await handle.outcome())["state"] == "canceled"


async def test_what_does_not_fit_the_schema_is_told_and_not_passed_on(bench: Bench) -> None:
    graph = steps(await bench.saver(), one=logs("one"))
    await serve(bench, graph, output={"type": "object", "required": ["report"]})
    handle = await (await sender(bench)).send(bench.research, {"text": "x"}, attempts=1)
    view = await handle.outcome()
    assert view["outcome"] is not None
    assert view["outcome"]["error"] is not None
    assert (view["state"], view["outcome"]["error"]["reason"]) == ("failed", "output_unfit")


async def test_errors_of_a_graph_that_is_wrong_in_itself_are_for_good_and_verdicts_go_as_they_are(
    bench: Bench,
) -> None:
    def wrong(state: State) -> Any:
        if state["text"] == "reject":
            raise Reject("Not for me.", reason="not_mine")
        if state["text"] == "memory":
            raise MemoryError
        return "no update"

    await serve(bench, steps(await bench.saver(), one=wrong))
    hf = await sender(bench)
    told: dict[str, Any] = {}
    for text in ("update", "reject", "memory"):
        view = await (await hf.send(bench.research, {"text": text}, attempts=1)).outcome()
        error = view["outcome"]["error"] if view["outcome"] is not None else None
        told[text] = (view["code"], view["retryable"], error)
    assert told["update"][0] == 500
    assert told["update"][2]["reason"] == "graph_error"
    assert told["update"][2]["message"].startswith("InvalidUpdateError: Expected dict")
    assert told["reject"][0] == 501
    assert told["memory"][0] == 500
    assert told["memory"][2]["message"] == "MemoryError"
