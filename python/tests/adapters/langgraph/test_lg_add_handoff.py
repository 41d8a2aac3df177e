"""A graph that hands off: it sleeps, and whatever becomes of the handoff is a value in its state."""

from __future__ import annotations

import asyncio
import operator
from typing import Annotated, Any, cast
from uuid import UUID

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from lg_bench import Bench, until
from lg_planner import Planned, planner
from pydantic import BaseModel
from typing_extensions import TypedDict

from handfast import Fail, UsageError
from handfast.langgraph import Outcome, add_handoff, resume_outcomes


class PlannedModel(BaseModel):
    topic: str
    report: Any = None
    text: str = ""


class Asked(TypedDict):
    topic: str


async def text_after(bench: Bench, **options: Any) -> str:
    """What the graph's text came to: one thread run to its end, with a resumer."""
    hf = await bench.agent()
    graph = planner(hf, bench.research, await bench.saver(), **options)
    bench.resume(hf, graph)
    await bench.invoke(graph, {"topic": "fsync"})

    async def text() -> Any:
        return (await bench.state(graph)).values.get("text")

    found = await until(text)
    for each in await bench.sent_by(hf):
        await bench.until_taken(hf, each["id"])
    assert isinstance(found, str)
    return found


async def test_the_graph_sleeps_until_the_outcome_is_there_and_goes_on_with_it(bench: Bench) -> None:
    hf = await bench.agent()
    await bench.worker()
    ran: list[str] = []
    graph = planner(hf, bench.research, await bench.saver(), lambda node, _: ran.append(node))

    paused = await bench.invoke(graph, {"topic": " fsync "})
    (sent,) = await bench.sent_by(hf)
    assert [each.value for each in paused["__interrupt__"]] == [{"handfast": {"handoff": sent["id"]}}]
    assert sent["labels"] == {"langgraph.graph": "graph", "langgraph.thread": "t", "langgraph.node": "research"}
    assert ran == ["plan"]

    resuming = bench.resume(hf, graph)
    bench.gates.finish("fsync")
    await resuming.woke()
    (woken,) = resuming.woken
    assert (woken.handoff, woken.key, woken.how) == (sent["id"], "langgraph/graph/t", "resumed")
    state = await bench.state(graph)
    assert state.next == ()
    assert state.values["report"] == {
        "handoff": sent["id"],
        "status": "completed",
        "code": 200,
        "name": "completed",
        "output": "about fsync",
        "retryable": False,
    }
    assert ran == ["plan", "note", "write"]
    assert await bench.is_taken(hf, sent["id"])


async def test_a_failure_is_a_value(bench: Bench) -> None:
    def research(_: Any) -> None:
        raise Fail("No such topic.", reason="no_topic")

    await bench.worker(research)
    assert await text_after(bench) == "500 no_topic"


async def test_a_deadline_that_passes_is_a_value(bench: Bench) -> None:
    await bench.worker()
    assert await text_after(bench, timeout=0.3) == "408 deadline_passed"


async def test_what_the_relay_refuses_is_a_value_and_nobody_waits_for_it(bench: Bench) -> None:
    assert await text_after(bench) == "406 nobody_offers"


async def test_what_fits_no_schema_is_a_value_too(bench: Bench) -> None:
    """The relay has looked before anybody worked on it."""
    await bench.worker(input={"type": "object", "required": ["question"]})
    assert await text_after(bench) == "422 input_unfit"


async def test_a_handoff_that_ends_while_its_graph_is_about_to_wait_does_not_pause_it(bench: Bench) -> None:
    await bench.worker(lambda _: "at once")
    assert await text_after(bench) == '"at once"'


async def test_a_run_from_an_earlier_state_whose_outcome_was_taken_long_ago_has_that_outcome_again(
    bench: Bench,
) -> None:
    hf = await bench.agent()
    await bench.worker(lambda _: "found")
    graph = planner(hf, bench.research, await bench.saver())
    resuming = bench.resume(hf, graph)
    await bench.invoke(graph, {"topic": "fsync"})
    await resuming.woke()
    await resuming.stop()

    place = {"configurable": {"thread_id": "t"}}
    if bench.kind == "async":
        history = [state async for state in graph.aget_state_history(place)]
    else:
        history = await asyncio.to_thread(lambda: list(graph.get_state_history(place)))
    before = next(state for state in history if state.next == ("research_outcome",))
    if bench.kind == "async":
        again = await graph.ainvoke(None, before.config, durability="sync")
    else:
        again = await asyncio.to_thread(lambda: graph.invoke(None, before.config, durability="sync"))
    assert again["text"] == '"found"'
    assert len(await bench.sent_by(hf)) == 1


async def test_many_branches_of_one_node_each_hand_off_and_each_gets_its_own_outcome(bench: Bench) -> None:
    class State(TypedDict, total=False):
        topics: list[str]
        topic: str
        reports: Annotated[list[Any], operator.add]
        joined: int

    hf = await bench.agent()
    await bench.worker()
    joins: list[int] = []

    def join(state: State) -> State:
        joins.append(len(state["reports"]))
        return {"joined": len(state["reports"])}

    builder: Any = StateGraph(State)
    add_handoff(
        builder,
        "research",
        hf=hf,
        capability=bench.research,
        input=lambda state: state["topic"],
        output=lambda outcome: {"reports": [outcome]},
        next="join",
    )
    builder.add_node("join", join)
    builder.add_conditional_edges(
        START, lambda state: [Send("research", {"topic": topic}) for topic in state["topics"]], ["research"]
    )
    builder.add_edge("join", END)
    graph = builder.compile(checkpointer=await bench.saver())
    topics = list("abcdefghij")
    await bench.invoke(graph, {"topics": topics})
    resuming = bench.resume(hf, graph)
    for topic in topics:
        bench.gates.finish(topic)
    await resuming.woke(10)
    values = (await bench.state(graph)).values
    assert sorted(each["output"] for each in values["reports"]) == [f"about {topic}" for topic in topics]
    assert joins == [10]
    assert len(await bench.sent_by(hf)) == 10


async def test_a_handoff_within_a_graph_within_the_graph_is_resumed_as_well(bench: Bench) -> None:
    class State(TypedDict, total=False):
        topic: str
        report: Outcome
        other: Outcome

    hf = await bench.agent()
    await bench.worker()
    inner: Any = StateGraph(State)
    for name, output in (("one", "report"), ("two", "other")):
        add_handoff(inner, name, hf=hf, capability=bench.research, input=lambda s: s["topic"], output=output, next=END)
        inner.add_edge(START, name)
    ended: list[str] = []

    def end(_: State) -> State:
        ended.append("end")
        return {}

    outer: Any = StateGraph(State)
    outer.add_node("inner", inner.compile())
    outer.add_node("end", end)
    outer.add_edge(START, "inner")
    outer.add_edge("inner", "end")
    outer.add_edge("end", END)
    graph = outer.compile(checkpointer=await bench.saver())
    await bench.invoke(graph, {"topic": "fsync"})
    resuming = bench.resume(hf, graph)
    bench.gates.finish("fsync")
    await resuming.woke(2)
    state = await bench.state(graph)
    assert state.next == ()
    assert [state.values[key]["output"] for key in ("report", "other")] == ["about fsync"] * 2
    assert ended == ["end"]


async def test_a_state_of_pydantic_is_as_good(bench: Bench) -> None:
    class State(BaseModel):
        topic: str
        report: Any = None

    hf = await bench.agent()
    await bench.worker()
    builder: Any = StateGraph(State)
    add_handoff(
        builder,
        "research",
        hf=lambda: hf,
        capability=bench.research,
        input=lambda s: s.topic,
        output="report",
        next=END,
    )
    builder.add_edge(START, "research")
    graph = builder.compile(checkpointer=await bench.saver())
    await bench.invoke(graph, {"topic": "fsync"})
    resuming = bench.resume(hf, graph)
    bench.gates.finish("fsync")
    await resuming.woke()
    assert (await bench.state(graph)).values["report"]["output"] == "about fsync"


async def test_a_graph_without_a_checkpointer_is_told_so_not_left_asleep(bench: Bench) -> None:
    hf = await bench.agent()
    graph = planner(hf, bench.research, None)
    with pytest.raises(UsageError, match="The graph has no checkpointer"):
        await bench.invoke(graph, {"topic": "fsync"}, durability=None)
    with pytest.raises(UsageError, match="The graph has no checkpointer"):
        resume_outcomes(hf, graph)
    assert await bench.sent_by(hf) == []


async def test_a_thread_that_this_checkpointer_does_not_have_keeps_its_outcome_at_the_relay(bench: Bench) -> None:
    hf = await bench.agent()
    await bench.worker()
    await bench.invoke(planner(hf, bench.research, await bench.saver()), {"topic": "fsync"})
    resuming = bench.resume(hf, planner(hf, bench.research, await bench.saver()), attempts=1)
    bench.gates.finish("fsync")
    assert getattr(await resuming.failed(), "reason", None) == "unknown_thread"
    (sent,) = await bench.sent_by(hf)
    assert sent["taken_at"] is None


async def test_outcomes_of_other_graphs_and_of_handoffs_of_no_graph_are_left_alone(bench: Bench) -> None:
    hf = await bench.agent()
    await bench.worker(lambda _: "found")
    await bench.done(hf.send(bench.research, "by hand"))
    other = planner(hf, bench.research, await bench.saver(), graph="other")
    await bench.invoke(other, {"topic": "fsync"})
    await bench.ended(hf, 2)
    await bench.resume(hf, planner(hf, bench.research, await bench.saver()), follow=False).stopped()
    assert [each["taken_at"] for each in await bench.sent_by(hf)] == [None, None]


@pytest.mark.parametrize("thread", [5, UUID(int=7), "a b/ü:c", "t" * 200])
async def test_a_thread_id_of_any_kind_is_found_again(bench: Bench, thread: Any) -> None:
    """LangGraph keeps all of them as text, and one saver compares them as they come."""
    hf = await bench.agent()
    await bench.worker()
    graph = planner(hf, bench.research, InMemorySaver())
    await bench.invoke(graph, {"topic": "fsync"}, thread)
    resuming = bench.resume(hf, graph)
    bench.gates.finish("fsync")
    await resuming.woke()
    assert [each.key for each in resuming.woken] == [f"langgraph/graph/{thread}"]
    assert (await bench.state(graph, str(thread))).values["text"] == '"about fsync"'


@pytest.mark.parametrize(
    ("thread", "said"), [("a\nb", r"The thread id is 'a\\nb'"), ("t" * 201, "The thread id has 201 characters")]
)
async def test_a_thread_id_that_no_label_can_carry_is_refused_by_its_name(bench: Bench, thread: str, said: str) -> None:
    hf = await bench.agent()
    graph = planner(hf, bench.research, InMemorySaver())
    with pytest.raises(UsageError, match=said):
        await bench.invoke(graph, {"topic": "fsync"}, thread)


async def test_wrong_options_are_told_when_the_graph_is_made() -> None:
    wanted: Any = {"input": lambda state: state, "output": "report"}
    for options, said in (
        ({}, "no target"),
        ({"capability": "x", "timeuot": 3}, "timeuot"),
        ({"capability": "x", "idempotency_key": "k"}, "idempotency key"),
    ):
        with pytest.raises(UsageError, match=said):
            add_handoff(cast(Any, StateGraph(cast(Any, dict))), "research", **{**wanted, **cast(Any, options)})


async def test_an_outcome_for_a_key_that_no_state_has_is_told_when_the_graph_is_made() -> None:
    for state in (Planned, PlannedModel):
        builder: Any = StateGraph(cast(Any, state))
        with pytest.raises(
            UsageError, match=r"'zzz', and the graph's state has no such key.* It has report, text, topic:"
        ):
            add_handoff(builder, "research", capability="x", input=lambda state: state, output="zzz")
        add_handoff(builder, "research", capability="x", input=lambda state: state, output="report")


async def test_a_key_of_a_later_node_alone_is_known_once_that_node_was_added() -> None:
    builder: Any = StateGraph(Asked)
    builder.add_node("write", lambda state: {}, input_schema=Planned)
    add_handoff(builder, "research", capability="x", input=lambda state: state, output="report", next="write")
