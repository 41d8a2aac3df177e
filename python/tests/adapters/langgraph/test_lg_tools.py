"""A capability as a tool: in a ToolNode and a prebuilt agent it waits in place, with add_handoff_tools the thread
sleeps."""

from __future__ import annotations

import asyncio
import threading
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, interrupt
from lg_bench import Bench, until

import handfast
from handfast import Client, Fail, UsageError
from handfast.langgraph import HandoffTool, add_handoff_tools, ahandoff_tool, handoff_tool
from handfast.langgraph._runs import no_run_of


def calling(*calls: tuple[str, dict[str, Any]]) -> AIMessage:
    """A model's wish to call tools."""
    wishes = [{"name": name, "args": args, "id": f"call-{at}"} for at, (name, args) in enumerate(calls)]
    return AIMessage("", tool_calls=wishes)


class Scripted(BaseChatModel):
    """Says what it was told to."""

    script: list[AIMessage]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Runnable[Any, AIMessage]:
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        told = sum(isinstance(message, AIMessage) for message in messages)
        return ChatResult(generations=[ChatGeneration(message=self.script[told])])


async def a_tool(bench: Bench, hf: Any, **options: Any) -> HandoffTool:
    wanted: dict[str, Any] = {"name": "research", **options}
    return (
        await asyncio.to_thread(lambda: handoff_tool(hf, bench.research, **wanted))
        if isinstance(hf, Client)
        else await ahandoff_tool(hf, bench.research, **wanted)
    )


async def called(bench: Bench, made: BaseTool, what: Any) -> Any:
    return await made.ainvoke(what) if bench.kind == "async" else await asyncio.to_thread(made.invoke, what)


def tool_messages(state: Any) -> dict[str, ToolMessage]:
    return {each.tool_call_id: each for each in state["messages"] if isinstance(each, ToolMessage)}


TOPIC = {"type": "object", "properties": {"topic": {"type": "string"}}, "required": ["topic"]}


async def test_its_name_description_and_arguments_are_those_of_the_manifest(bench: Bench) -> None:
    await bench.worker(lambda input: f"about {input['topic']}", input=TOPIC, description="Looks things up.")
    hf = await bench.agent()
    made = await a_tool(bench, hf, name=None)
    assert (made.name, made.description) == (bench.research, "Looks things up.")
    assert made.args == TOPIC["properties"]
    assert await called(bench, made, {"topic": "fsync"}) == "about fsync"


async def test_an_input_that_is_no_object_is_an_argument_of_its_own(bench: Bench) -> None:
    await bench.worker(lambda text: text.upper(), input={"type": "string"})
    made = await a_tool(bench, await bench.agent())
    assert made.args == {"input": {"type": "string"}}
    assert await called(bench, made, {"input": "hello"}) == "HELLO"


async def test_without_an_offer_the_schema_is_given_and_a_refusal_is_a_text(bench: Bench) -> None:
    hf = await bench.agent()
    with pytest.raises(UsageError, match="No agent offers"):
        await a_tool(bench, hf)
    made = await a_tool(bench, hf, description="Looks things up.", input=TOPIC)
    text = await called(bench, made, {"topic": "fsync"})
    assert text.startswith("The handoff ended as refused: 406")


async def test_a_failure_is_a_message_with_its_code_and_whether_another_try_may_help(bench: Bench) -> None:
    def fails(_: Any) -> None:
        raise Fail("No such topic.", reason="no_topic")

    await bench.worker(fails, input=TOPIC)
    made = await a_tool(bench, await bench.agent())
    message = await called(bench, made, {"type": "tool_call", "name": "research", "args": {"topic": "x"}, "id": "c"})
    assert isinstance(message, ToolMessage)
    assert message.status == "error"
    assert message.text == (
        "The handoff ended as failed: 500 agent_failed (no_topic): No such topic. Trying the same again does not help."
    )
    assert message.artifact["error"] == {"reason": "no_topic", "message": "No such topic."}


async def test_6_parallel_tools_of_one_node_each_get_their_own_outcome(bench: Bench) -> None:
    @tool
    def waits(topic: str) -> str:
        """Waits by LangGraph's own means."""
        return f"{topic}: {interrupt(topic)}"

    # By itself: both interrupts of the one node have one id, and what is meant for the one reaches the other.
    builder: Any = StateGraph(MessagesState)
    builder.add_node("tools", ToolNode([waits]))
    builder.add_edge(START, "tools")
    bare = builder.compile(checkpointer=InMemorySaver())
    paused = await bench.invoke(bare, {"messages": [calling(("waits", {"topic": "a"}), ("waits", {"topic": "b"}))]})
    asked = {each.id: each.value for each in paused["__interrupt__"]}
    assert len(asked) == 1
    (meant,) = asked.values()
    other = {"a": "b", "b": "a"}[meant]
    seen: Any = paused
    for _ in range(3):
        if "__interrupt__" not in seen:
            break
        seen = await bench.invoke(bare, Command(resume={seen["__interrupt__"][0].id: f"for {meant}"}))
    assert f"{other}: for {meant}" in [message.text for message in tool_messages(seen).values()]

    await bench.worker(input=TOPIC)
    hf = await bench.agent()
    made = await a_tool(bench, hf)
    builder = StateGraph(MessagesState)
    builder.add_node("tools", ToolNode([made]))
    builder.add_edge(START, "tools")
    graph = builder.compile(checkpointer=await bench.saver())
    wish = calling(("research", {"topic": "a"}), ("research", {"topic": "b"}))
    running = asyncio.ensure_future(bench.invoke(graph, {"messages": [wish]}))
    for topic in ("b", "a"):
        bench.gates.finish(topic)
    told = tool_messages(await running)
    assert {id: message.text for id, message in told.items()} == {"call-0": "about a", "call-1": "about b"}
    assert all(each["taken_at"] is not None for each in await bench.ended(hf, 2))


async def test_a_tool_node_that_is_run_again_after_a_crash_finds_the_handoff_that_it_sent(bench: Bench) -> None:
    await bench.worker(input=TOPIC)
    hf = await bench.agent()
    made = await a_tool(bench, hf)
    broken = [True]

    @tool
    def breaks() -> str:
        """Breaks its whole node, once."""
        if broken.pop() if broken else False:
            raise handfast.RelayUnreachable("nowhere", 1)
        return "fine"

    def node() -> Any:
        return ToolNode([made, breaks], handle_tool_errors=False)

    builder: Any = StateGraph(MessagesState)
    builder.add_node("tools", node())
    builder.add_edge(START, "tools")
    graph = builder.compile(checkpointer=await bench.saver())
    bench.gates.finish("fsync")
    wish = calling(("research", {"topic": "fsync"}), ("breaks", {}))
    with pytest.raises(handfast.RelayUnreachable):
        await bench.invoke(graph, {"messages": [wish]})
    told = tool_messages(await bench.invoke(graph, None))
    assert [told[id].text for id in ("call-0", "call-1")] == ["about fsync", "fine"]
    assert len(await bench.sent_by(hf)) == 1


@pytest.mark.parametrize("thread", ["t" * 1000, "a\nb", 5])
async def test_in_a_tool_node_the_thread_may_have_any_id(bench: Bench, thread: Any) -> None:
    """Nobody has to find it by an outcome: it is a part of the key only, and so is what a provider calls the call."""
    await bench.worker(lambda input: f"about {input['topic']}", input=TOPIC)
    hf = await bench.agent()
    builder: Any = StateGraph(MessagesState)
    builder.add_node("tools", ToolNode([await a_tool(bench, hf)]))
    builder.add_edge(START, "tools")
    graph = builder.compile(checkpointer=InMemorySaver())
    wish = AIMessage("", tool_calls=[{"name": "research", "args": {"topic": "a"}, "id": f"call-{'x' * 300}"}])
    (told,) = tool_messages(await bench.invoke(graph, {"messages": [wish]}, thread)).values()
    assert told.text == "about a"


async def test_what_is_compiled_with_add_handoff_tools_is_watched_from_its_first_run_on(bench: Bench) -> None:
    await bench.worker(input=TOPIC)
    made = await a_tool(bench, await bench.agent())
    begun, may_end = threading.Event(), threading.Event()

    def think(_: MessagesState) -> Any:
        begun.set()
        assert may_end.wait(20)
        return {"messages": [AIMessage("done")]}

    builder: Any = StateGraph(MessagesState)
    builder.add_node("think", think)
    add_handoff_tools(builder, "tools", tools=[made], next="think")
    builder.add_edge(START, "think")
    graph = builder.compile(checkpointer=await bench.saver())
    thread = bench.name("thread")
    running = asyncio.ensure_future(bench.invoke(graph, {"messages": [("user", "go")]}, thread))
    try:
        await asyncio.to_thread(begun.wait, 20)
        over = asyncio.ensure_future(no_run_of(thread))
        await asyncio.sleep(0.05)
        assert not over.done()
    finally:
        may_end.set()
    await asyncio.gather(running, over)


async def test_a_prebuilt_agent_calls_it(bench: Bench) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from langgraph.prebuilt import create_react_agent

        await bench.worker(input=TOPIC)
        made = await a_tool(bench, await bench.agent())
        wish = calling(("research", {"topic": "a"}), ("research", {"topic": "b"}))
        model = Scripted(script=[wish, AIMessage("done")])
        agent = create_react_agent(model, [made], checkpointer=await bench.saver())
    for topic in "ab":
        bench.gates.finish(topic)
    state = await bench.invoke(agent, {"messages": [("user", "go")]})
    assert state["messages"][-1].text == "done"
    assert {id: each.text for id, each in tool_messages(state).items()} == {"call-0": "about a", "call-1": "about b"}


def agent_that_sleeps(tools: Sequence[BaseTool], saver: Any, script: list[AIMessage]) -> Any:
    model = Scripted(script=script)

    def think(state: MessagesState) -> Any:
        return {"messages": [model.invoke(state["messages"])]}

    route: Callable[[Any], str] = lambda state: "tools" if state["messages"][-1].tool_calls else "__end__"  # noqa: E731
    builder: Any = StateGraph(MessagesState)
    builder.add_node("think", think)
    add_handoff_tools(builder, "tools", tools=tools, next="think")
    builder.add_edge(START, "think")
    builder.add_conditional_edges("think", route, ["tools", "__end__"])
    return builder.compile(checkpointer=saver)


async def test_with_add_handoff_tools_the_thread_sleeps_and_each_call_gets_its_own_outcome(bench: Bench) -> None:
    @tool
    def add(a: int, b: int) -> int:
        """Adds."""
        return a + b

    await bench.worker(input=TOPIC)
    hf = await bench.agent()
    made = await a_tool(bench, hf)
    wish = calling(("research", {"topic": "a"}), ("add", {"a": 1, "b": 2}), ("research", {"topic": "b"}))
    graph = agent_that_sleeps([made, add], await bench.saver(), [wish, AIMessage("done")])
    paused = await bench.invoke(graph, {"messages": [("user", "go")]})
    assert len({each.id for each in paused["__interrupt__"]}) == 2
    resuming = bench.resume(hf, graph)
    bench.gates.finish("b")
    await resuming.woke()
    bench.gates.finish("a")
    await resuming.woke(2)
    values = (await bench.state(graph)).values
    assert [message.text for message in values["messages"]][-1] == "done"
    told = {id: message.text for id, message in tool_messages(values).items()}
    assert told == {"call-0": "about a", "call-1": "3", "call-2": "about b"}
    assert len(await bench.sent_by(hf)) == 2


async def test_a_node_of_tools_that_nobody_called_says_so(bench: Bench) -> None:
    await bench.worker(input=TOPIC)
    made = await a_tool(bench, await bench.agent())
    builder: Any = StateGraph(MessagesState)
    add_handoff_tools(builder, "tools", tools=[made])
    builder.add_edge(START, "tools")
    with pytest.raises(UsageError, match="calls no tool"):
        await bench.invoke(builder.compile(checkpointer=await bench.saver()), {"messages": [("user", "go")]})


@pytest.mark.parametrize("bench", ["async"], indirect=True)
async def test_a_call_that_is_given_up_calls_its_handoff_off(bench: Bench) -> None:
    await bench.worker(input=TOPIC)
    hf = await bench.agent()
    made = await a_tool(bench, hf)
    calling_it = asyncio.ensure_future(made.ainvoke({"topic": "fsync"}))
    await until(lambda: bench.sent_by(hf))
    calling_it.cancel()
    (sent,) = await bench.ended(hf)
    assert sent["state"] == "canceled"


@pytest.mark.parametrize("bench", ["async"], indirect=True)
async def test_the_wrong_kind_of_client_is_told_in_words(bench: Bench) -> None:
    hf = await bench.agent()
    with pytest.raises(UsageError, match="An AsyncClient must be awaited"):
        handoff_tool(hf, "x")
    made = await a_tool(bench, hf, description="d", input=TOPIC)
    with pytest.raises(UsageError, match="which must be awaited"):
        await asyncio.to_thread(made.invoke, {"topic": "fsync"})


@pytest.mark.parametrize("bench", ["plain"], indirect=True)
async def test_a_client_of_the_plain_kind_can_be_awaited_as_well(bench: Bench) -> None:
    await bench.worker(lambda input: f"about {input['topic']}", input=TOPIC)
    hf = await bench.agent()
    assert await (await a_tool(bench, hf)).ainvoke({"topic": "fsync"}) == "about fsync"
