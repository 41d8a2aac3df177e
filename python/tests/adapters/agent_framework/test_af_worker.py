"""Workflows and agents of Microsoft Agent Framework as workers, and a capability as a tool for agents."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("agent_framework")

from af_model import ScriptedClient
from af_planner import planner
from agent_framework import (
    Agent,
    Executor,
    FileCheckpointStorage,
    WorkflowBuilder,
    WorkflowContext,
    executor,
    handler,
    response_handler,
    tool,
)

from handfast import AsyncClient, AsyncContext, Fail, HandoffError, current
from handfast.agent_framework import handoff_tool, serve_workflow

Agents = Callable[..., Any]
Names = Callable[[str], str]


def shouting() -> Any:
    """A workflow of one node."""

    @executor(id="shout")
    async def shout(text: str, ctx: WorkflowContext[Any, str]) -> None:
        context = current()
        assert isinstance(context, AsyncContext)
        await ctx.yield_output(f"{text.upper()} in {context.handoff['id']}")

    return WorkflowBuilder(start_executor=shout).build()


async def serve(agent: Agents, name: Names, served: Any, **options: Any) -> tuple[AsyncClient, str]:
    """A sender, and the capability that the worker offers."""
    capability = name("work")
    worker = await agent("worker")
    await serve_workflow(worker, capability, served, signals=False, **options)
    return await agent("sender"), capability


async def test_a_workflow_does_the_work_and_reaches_its_handoff(agent: Agents, name: Names) -> None:
    hf, capability = await serve(agent, name, shouting, input=str, output=str)
    handle = await hf.send(capability, "hello")
    assert await handle.result(timeout=15) == f"HELLO in {handle.id}"


async def test_an_error_is_retried_and_told_without_its_traceback(agent: Agents, name: Names) -> None:
    runs: list[str] = []

    def build() -> Any:
        @executor(id="broken")
        async def broken(text: str, ctx: WorkflowContext[Any, str]) -> None:
            runs.append(text)
            raise ValueError("no such thing\nsecret")

        return WorkflowBuilder(start_executor=broken).build()

    hf, capability = await serve(agent, name, build)
    handle = await hf.send(capability, "x", attempts=2)
    with pytest.raises(HandoffError, match="ValueError: no such thing") as raised:
        await handle.result(timeout=20)
    assert "secret" not in str(raised.value)
    assert (raised.value.code, raised.value.retryable, runs) == (500, True, ["x", "x"])


async def test_what_an_executor_raises_for_handfast_goes_as_it_is(agent: Agents, name: Names) -> None:
    def build() -> Any:
        @executor(id="broken")
        async def broken(text: str, ctx: WorkflowContext[Any, str]) -> None:
            raise Fail("Not that.", reason="not_that")

        return WorkflowBuilder(start_executor=broken).build()

    hf, capability = await serve(agent, name, build)
    with pytest.raises(HandoffError) as raised:
        await (await hf.send(capability, "x")).result(timeout=15)
    assert (raised.value.reason, raised.value.retryable) == ("not_that", False)


async def test_a_workflow_that_hangs_is_ended_by_the_relay_and_told_to_stop(agent: Agents, name: Names) -> None:
    stopped = asyncio.Event()

    def build() -> Any:
        @executor(id="hang")
        async def hang(text: str, ctx: WorkflowContext[Any, str]) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                stopped.set()

        return WorkflowBuilder(start_executor=hang).build()

    hf, capability = await serve(agent, name, build)
    with pytest.raises(HandoffError) as raised:
        await (await hf.send(capability, "x", timeout=0.5)).result(timeout=15)
    assert raised.value.code == 408
    await asyncio.wait_for(stopped.wait(), 15)


async def test_output_that_does_not_fit_is_told_as_such(agent: Agents, name: Names) -> None:
    hf, capability = await serve(agent, name, shouting, output=int)
    with pytest.raises(HandoffError) as raised:
        await (await hf.send(capability, "x")).result(timeout=15)
    assert raised.value.reason == "output_unfit"


class Asker(Executor):
    """Asks for a word, in the framework's own way."""

    @handler
    async def ask(self, text: str, ctx: WorkflowContext[Any, str]) -> None:
        await ctx.request_info({"text": text}, str)

    @response_handler
    async def answered(self, request: dict, word: str, ctx: WorkflowContext[Any, str]) -> None:  # type: ignore[type-arg]
        await ctx.yield_output(f"{request['text']} {word}")


async def test_what_a_workflow_asks_is_asked_of_the_sender(agent: Agents, name: Names) -> None:
    hf, capability = await serve(agent, name, lambda: WorkflowBuilder(start_executor=Asker(id="ask")).build())
    handle = await hf.send(capability, "hello")
    async for question in hf.questions():
        assert question["question"] == {"text": "hello"}
        await hf.answer(question, "world")
        break
    assert await handle.result(timeout=15) == "hello world"


async def test_a_redelivery_goes_on_where_the_first_attempt_stopped(agent: Agents, name: Names, tmp_path: Path) -> None:
    did: list[str] = []

    def build() -> Any:
        @executor(id="first")
        async def first(text: str, ctx: WorkflowContext[str, str]) -> None:
            did.append("first")
            await ctx.yield_output("one")
            await ctx.send_message(text)

        @executor(id="second")
        async def second(text: str, ctx: WorkflowContext[Any, str]) -> None:
            did.append("second")
            if did.count("second") == 1:
                raise ConnectionError("lost")
            await ctx.yield_output("two")

        return WorkflowBuilder(start_executor=first).add_edge(first, second).build()

    storage = FileCheckpointStorage(tmp_path)
    hf, capability = await serve(agent, name, build, storage=storage, result=lambda outputs: outputs)
    assert await (await hf.send(capability, "x")).result(timeout=20) == ["one", "two"]
    assert did == ["first", "second", "second"]


async def test_a_handoff_below_a_handoff_is_its_child_and_its_outcome_comes_in_place(
    agent: Agents, name: Names
) -> None:
    research = name("research")
    await (await agent("researcher")).serve({research: lambda input: f"about {input['topic']}"}, signals=False)
    worker = await agent("worker")
    capability = name("work")
    await serve_workflow(worker, capability, lambda: planner(worker, research), signals=False)
    hf = await agent("sender")
    handle = await hf.send(capability, "fsync")
    assert await handle.result(timeout=15) == "200 about fsync"
    (below,) = (await worker.call("list", query={"from": worker.agent}))["handoffs"]
    assert (below["causation"]["id"], below["labels"]) == (handle.id, {})
    assert below["taken_at"] is not None


async def test_an_agent_does_the_work_and_streams_what_it_says(agent: Agents, name: Names) -> None:
    model = ScriptedClient("Hello there.")
    hf, capability = await serve(agent, name, Agent(model, instructions="Greet.", description="Greets."), input=str)
    handle = await hf.send(capability, "hi")
    assert "".join([text async for text in handle.chunks()]) == "Hello there."
    assert await handle.result(timeout=15) == "Hello there."
    assert model.asked[0][-1].text == "hi"
    (offered,) = (await hf.call("agents", query={"capability": capability}))["agents"]
    assert offered["capabilities"][0]["description"] == "Greets."


async def test_a_tool_has_the_manifest_and_gives_the_outcome_to_the_model(agent: Agents, name: Names) -> None:
    capability = name("research")
    asked: list[Any] = []

    async def research(input: dict[str, Any]) -> dict[str, Any]:
        """Finds out about a topic."""
        asked.append(input)
        return {"found": input["topic"]}

    schema = {
        "type": "object",
        "properties": {"topic": {"type": "string", "description": "What about."}},
        "required": ["topic"],
        "additionalProperties": False,
    }
    definition = {"handler": research, "input": schema}
    await (await agent("researcher")).serve({capability: definition}, signals=False)
    hf = await agent("planner")
    made = await handoff_tool(hf, capability=capability, name="research")
    assert (made.name, made.description, made.parameters()) == ("research", "Finds out about a topic.", schema)
    model = ScriptedClient(("research", {"topic": "fsync"}), "It is about fsync.")
    response = await Agent(model, tools=[made]).run("What is fsync?")
    assert (response.text, asked) == ("It is about fsync.", [{"topic": "fsync"}])
    assert '{"found": "fsync"}' in str(model.asked[1][-1].contents[0].result)


async def test_a_failure_comes_to_the_model_as_text_with_its_code_and_retryability(agent: Agents, name: Names) -> None:
    capability = name("research")

    def research(topic: str) -> str:
        raise Fail("No such topic.", reason="no_topic")

    await (await agent("researcher")).serve({capability: research}, signals=False)
    made = await handoff_tool(await agent("planner"), capability=capability, name="research")
    (said,) = await made.invoke(arguments={"input": "x"})
    expected = "ended as failed: 500 agent_failed (no_topic): No such topic. Trying the same again does not help."
    assert expected in str(said.text)


async def test_an_approval_that_an_agent_needs_is_asked_of_the_sender(agent: Agents, name: Names) -> None:
    paid: list[int] = []

    @tool(approval_mode="always_require")
    def pay(amount: int) -> str:
        """Pays."""
        paid.append(amount)
        return "paid"

    model = ScriptedClient(("pay", {"amount": 7}), "Done.")
    hf, capability = await serve(agent, name, Agent(model, tools=[pay]), input=str)
    handle = await hf.send(capability, "pay 7")
    async for question in hf.questions():
        assert question["question"] == {"approve": "pay", "arguments": {"amount": 7}}
        await hf.answer(question, True)
        break
    assert await handle.result(timeout=15) == "Done."
    assert paid == [7]
