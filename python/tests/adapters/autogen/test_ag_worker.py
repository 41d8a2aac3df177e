"""Teams, agents, and agents of a runtime of AutoGen as workers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

pytest.importorskip("autogen_agentchat")

from ag_planner import Plain, model, planner
from autogen_agentchat.agents import AssistantAgent, BaseChatAgent
from autogen_agentchat.base import Response, TaskResult
from autogen_agentchat.conditions import MaxMessageTermination, TextMentionTermination
from autogen_agentchat.messages import BaseChatMessage
from autogen_agentchat.teams import RoundRobinGroupChat, Swarm
from autogen_core import AgentId, CancellationToken, MessageContext, RoutedAgent, SingleThreadedAgentRuntime
from autogen_core import message_handler as on_message

from handfast import AsyncClient, AsyncContext, Fail, HandoffError, current
from handfast.autogen import handoff_of, handoff_tool, keep_state, runtime_worker, serve_team

Agents = Callable[..., Any]
Names = Callable[[str], str]


async def serve(agent: Agents, name: Names, team: Callable[[], Any], **options: Any) -> tuple[AsyncClient, str]:
    """A sender, and the capability that the worker offers."""
    capability = name("work")
    await serve_team(await agent("worker"), capability, team, signals=False, **options)
    return await agent("sender"), capability


def round_robin(*participants: BaseChatAgent, messages: int) -> RoundRobinGroupChat:
    return RoundRobinGroupChat(list(participants), termination_condition=MaxMessageTermination(messages))


async def test_a_team_does_the_work_and_reaches_its_handoff(agent: Agents, name: Names) -> None:
    def shout(messages: Sequence[BaseChatMessage]) -> str:
        context = current()
        assert isinstance(context, AsyncContext)
        return f"{messages[-1].to_model_text().upper()} in {context.handoff['id']}"

    hf, capability = await serve(agent, name, lambda: round_robin(Plain("shouter", shout), messages=2), input=str)
    handle = await hf.send(capability, "hello")
    assert await handle.result(timeout=15) == f"HELLO in {handle.id}"


async def test_an_error_in_a_team_is_retried_and_told_without_its_traceback(agent: Agents, name: Names) -> None:
    runs: list[str] = []

    def broken(messages: Sequence[BaseChatMessage]) -> str:
        runs.append("run")
        raise ValueError("no such thing\nsecret")

    hf, capability = await serve(agent, name, lambda: round_robin(Plain("broken", broken), messages=2))
    with pytest.raises(HandoffError, match=r": ValueError: no such thing") as raised:
        await (await hf.send(capability, "x", attempts=2)).result(timeout=20)
    assert "secret" not in str(raised.value)
    assert (raised.value.retryable, runs) == (True, ["run", "run"])


async def test_what_an_agent_raises_for_handfast_goes_as_it_is(agent: Agents, name: Names) -> None:
    def broken(_: Sequence[BaseChatMessage]) -> str:
        raise Fail("Not that.", reason="not_that")

    hf, capability = await serve(agent, name, lambda: round_robin(Plain("broken", broken), messages=2))
    with pytest.raises(HandoffError) as raised:
        await (await hf.send(capability, "x")).result(timeout=15)
    assert (raised.value.reason, raised.value.retryable) == ("not_that", False)


class Hanging(Plain):
    """Until it is told to stop."""

    def __init__(self, stopped: asyncio.Event) -> None:
        super().__init__("hanging", lambda _: "never")
        self._stopped = stopped

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        work = asyncio.ensure_future(asyncio.Event().wait())
        cancellation_token.link_future(work)
        try:
            await work
        finally:
            self._stopped.set()
        raise AssertionError


@pytest.mark.parametrize("alone", [True, False])
async def test_one_that_hangs_is_ended_by_the_relay_and_told_to_stop(agent: Agents, name: Names, alone: bool) -> None:
    stopped = asyncio.Event()

    def team() -> Any:
        return Hanging(stopped) if alone else round_robin(Hanging(stopped), messages=2)

    hf, capability = await serve(agent, name, team)
    with pytest.raises(HandoffError) as raised:
        await (await hf.send(capability, "x", timeout=0.5)).result(timeout=15)
    assert raised.value.code == 408
    await asyncio.wait_for(stopped.wait(), 15)


@pytest.mark.parametrize("swarm", [True, False])
async def test_a_redelivered_team_goes_on_with_the_turn_that_was_lost(agent: Agents, name: Names, swarm: bool) -> None:
    did: list[str] = []

    def say(who: str) -> Callable[[Sequence[BaseChatMessage]], str]:
        def said(messages: Sequence[BaseChatMessage]) -> str:
            did.append(who)
            if who == "second" and did.count("second") == 1:
                raise ConnectionError("lost")
            return f"{messages[-1].to_model_text()} {who}"

        return said

    def team() -> Any:
        if not swarm:
            first, second = Plain("first", say("first")), Plain("second", say("second"))
            return RoundRobinGroupChat([first, second, Plain("third", say("third"))], max_turns=3)
        first_model = model(("transfer_to_second", {}))
        first_agent = AssistantAgent("first", first_model, handoffs=["second"])
        return Swarm(
            [first_agent, Plain("second", say("second"))],
            termination_condition=TextMentionTermination("immediately. second"),
        )

    hf, capability = await serve(agent, name, team)
    output = await (await hf.send(capability, "go")).result(timeout=20)
    if swarm:
        assert (output, did) == (
            "Transferred to second, adopting the role of second immediately. second",
            ["second"] * 2,
        )
    else:
        assert (output, did) == ("go first second third", ["first", "second", "second", "third"])


async def test_a_team_that_is_cut_off_after_its_last_turn_has_nobody_speak_after_it(agent: Agents, name: Names) -> None:
    did: list[str] = []
    ended: list[str] = []

    def say(who: str) -> Callable[[Sequence[BaseChatMessage]], str]:
        def said(messages: Sequence[BaseChatMessage]) -> str:
            did.append(who)
            return f"said by {who}"

        return said

    def result(result: TaskResult) -> str:
        ended.append(result.messages[-1].to_text())
        if len(ended) == 1:
            raise ConnectionError("lost before the relay had it")
        return ended[-1]

    def team() -> RoundRobinGroupChat:
        return RoundRobinGroupChat([Plain("first", say("first")), Plain("second", say("second"))], max_turns=2)

    hf, capability = await serve(agent, name, team, result=result)
    assert await (await hf.send(capability, "go")).result(timeout=20) == "said by second"
    assert (ended, did) == (["said by second"] * 2, ["first", "second", "second"])


async def test_a_redelivered_agent_has_the_results_of_its_tools_and_calls_none_again(
    agent: Agents, name: Names
) -> None:
    research = name("research")
    asked: list[str] = []

    def find(topic: str) -> str:
        asked.append(topic)
        return f"about {topic}"

    await (await agent("researcher")).serve({research: find}, signals=False)
    worker = await agent("worker")
    tool = await handoff_tool(worker, capability=research, name="research")
    models: list[Any] = []

    def assistant() -> AssistantAgent:
        # The first life's model fails after the tool has run, as a provider does that is away.
        models.append(model("Done.") if models else model(("research", {"input": "fsync"})))
        return AssistantAgent("assistant", models[-1], tools=[tool], max_tool_iterations=2)

    capability = name("work")
    await serve_team(worker, capability, assistant, signals=False)
    hf = await agent("sender")
    handle = await hf.send(capability, "What is fsync?")
    assert await handle.result(timeout=20) == "Done."
    assert asked == ["fsync"]
    heard = models[-1].create_calls[0]["messages"]
    assert heard[-1].content[0].content == "about fsync"
    (below,) = (await worker.call("list", query={"from": worker.agent}))["handoffs"]
    assert below["causation"]["id"] == handle.id


async def test_a_team_that_pauses_elsewhere_waits_in_place_when_it_is_served(agent: Agents, name: Names) -> None:
    research = name("research")
    await (await agent("researcher")).serve({research: lambda topic: f"About {topic}."}, signals=False)
    team = await planner(await agent("worker"), research, lambda _: None)
    hf, capability = await serve(agent, name, team)
    assert await (await hf.send(capability, "What is fsync?")).result(timeout=15) == "About fsync. DONE"


async def test_a_checkpoint_of_another_framework_is_not_taken_for_a_state(agent: Agents, name: Names) -> None:
    capability = name("work")
    other = await agent("other")

    async def lost(_: Any, ctx: AsyncContext) -> None:
        await ctx.checkpoint({"crewai": 1})
        await server.stop(grace=0)

    server = await other.serve({capability: lost}, signals=False)
    hf = await agent("sender")
    handle = await hf.send(capability, "hello")
    await server.stopped()
    shout = Plain("shouter", lambda messages: messages[-1].to_model_text().upper())
    await serve_team(await agent("worker"), capability, lambda: round_robin(shout, messages=2), signals=False)
    assert await handle.result(timeout=15) == "HELLO"


@dataclass
class Count:
    """To how many."""

    to: int


class Counter(RoutedAgent):
    """Counts, keeps how far it is, and is lost once."""

    lost = False

    def __init__(self) -> None:
        super().__init__("Counts.")
        self.counted: list[int] = []

    @on_message
    async def count(self, message: Count, ctx: MessageContext) -> str:
        while len(self.counted) < message.to:
            self.counted.append(len(self.counted) + 1)
            handoff = handoff_of(self)
            assert handoff is not None
            await keep_state(self)
            if len(self.counted) == 2 and not Counter.lost:
                Counter.lost = True
                raise ConnectionError("lost")
        assert handoff_of(self) is not None
        return f"{self.counted} by {self.id.key}"

    async def save_state(self) -> Mapping[str, Any]:
        return {"counted": self.counted}

    async def load_state(self, state: Mapping[str, Any]) -> None:
        self.counted = [*state["counted"], -1]


async def test_an_agent_of_a_runtime_has_the_handoffs_id_and_goes_on_from_its_state(agent: Agents, name: Names) -> None:
    capability = name("count")
    runtime = SingleThreadedAgentRuntime()
    await Counter.register(runtime, "counter", Counter)
    runtime.start()
    try:
        worker = await agent("worker")
        handler = runtime_worker(runtime, "counter", message=lambda input: Count(input["to"]))
        await worker.serve({capability: handler}, signals=False)
        handle = await (await agent("sender")).send(capability, {"to": 4})
        assert await handle.result(timeout=20) == f"[1, 2, -1, 4] by {handle.id}"
        assert AgentId("counter", handle.id) not in runtime._instantiated_agents
    finally:
        await runtime.stop()
