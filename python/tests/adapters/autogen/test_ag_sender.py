"""Agents and teams of AutoGen that hand off: whatever becomes of it is a value, and each run is woken once."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("autogen_agentchat")

from ag_planner import Plain, model, planner
from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import HandoffTermination, MaxMessageTermination, TextMentionTermination
from autogen_agentchat.messages import BaseChatMessage, HandoffMessage, TextMessage
from autogen_agentchat.teams import RoundRobinGroupChat, Swarm
from autogen_core import AgentId, CancellationToken, SingleThreadedAgentRuntime

from handfast import AsyncClient, Fail, HandfastError, UsageError
from handfast.autogen import (
    PAUSED,
    CapabilityAgent,
    CapabilityOutcome,
    CapabilityTask,
    FileRecords,
    HandoffAgent,
    TeamRun,
    TeamRuns,
    Woken,
    handoff_tool,
    pausing_handoff,
)

Agents = Callable[..., Any]
Names = Callable[[str], str]


async def offer(agent: Agents, name: Names, handler: Any) -> tuple[AsyncClient, str]:
    """A sender, and a capability that another agent offers."""
    capability = name("research")
    worker = await agent("researcher")
    await worker.serve({capability: handler}, signals=False, grace=0)
    return await agent("planner"), capability


@asynccontextmanager
async def woken(runs: TeamRuns) -> AsyncIterator[asyncio.Queue[Woken]]:
    queue = asyncio.Queue[Woken]()
    async with runs.resume_outcomes(on_woken=queue.put_nowait, pause=0.05):
        yield queue


async def end_of(runs: TeamRuns) -> TeamRun:
    """The one run, once it has ended."""
    async with woken(runs) as queue:
        standing = await runs.start("one", "What is fsync?")
        while not standing.ended:
            await asyncio.wait_for(queue.get(), 15)
            standing = await runs.look("one") or standing
        return standing


async def sent_by(hf: AsyncClient) -> list[Any]:
    return list((await hf.call("list", query={"from": hf.agent, "limit": 20}))["handoffs"])


async def test_the_team_stops_until_the_outcome_is_there_and_goes_on_with_it(
    agent: Agents, name: Names, tmp_path: Path
) -> None:
    go = asyncio.Event()

    async def research(topic: str) -> str:
        await go.wait()
        return f"About {topic}."

    hf, capability = await offer(agent, name, research)
    did: list[str] = []
    ended: list[TeamRun] = []

    async def on_end(run: TeamRun) -> None:
        ended.append(run)

    runs = TeamRuns(hf, await planner(hf, capability, did.append), FileRecords(tmp_path), on_end=on_end)
    standing = await runs.start("one", "What is fsync?")
    (view,) = await sent_by(hf)
    assert (standing.ended, standing.waiting, did) == (False, (view["id"],), [])
    assert view["labels"] == {"autogen.name": "team", "autogen.run": "one"}
    assert (await runs.start("one", "What is fsync?")).waiting == standing.waiting
    async with woken(runs) as queue:
        go.set()
        told = await asyncio.wait_for(queue.get(), 15)
    assert told == Woken(view["id"], "autogen/team/one", "resumed")
    assert ([run.text for run in ended], did) == (["About fsync. DONE"], ["write"])
    assert (await hf.handle(view["id"]).status())["taken_at"] is not None


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "ended as failed: 500 agent_failed (no_topic): No such topic. Trying the same again does not help. DONE"),
        ({"timeout": 0.3}, "ended as expired: 408 deadline_passed:"),
    ],
)
async def test_a_failure_and_a_deadline_are_values(
    agent: Agents, name: Names, tmp_path: Path, options: dict[str, Any], expected: str
) -> None:
    async def research(_: str) -> None:
        if "timeout" in options:
            await asyncio.Event().wait()
        raise Fail("No such topic.", reason="no_topic")

    hf, capability = await offer(agent, name, research)
    team = await planner(hf, capability, lambda _: None, **options)
    assert expected in (await end_of(TeamRuns(hf, team, FileRecords(tmp_path)))).text


async def test_runs_whose_names_and_ids_look_alike_have_handoffs_of_their_own(
    agent: Agents, name: Names, tmp_path: Path
) -> None:
    hf, capability = await offer(agent, name, lambda topic: f"About {topic}.")
    team = await planner(hf, capability, lambda _: None)
    one = TeamRuns(hf, team, FileRecords(tmp_path / "one"), name="a")
    other = TeamRuns(hf, team, FileRecords(tmp_path / "other"), name="a/b")
    standings = [await one.start("b/c", "What is fsync?"), await other.start("c", "What is fsync?")]
    assert len({each for standing in standings for each in standing.waiting}) == 2


async def test_what_the_relay_refuses_is_a_value_and_nobody_waits(agent: Agents, name: Names, tmp_path: Path) -> None:
    hf = await agent("planner")
    team = await planner(hf, name("nobody"), lambda _: None)
    standing = await TeamRuns(hf, team, FileRecords(tmp_path)).start("one", "What is fsync?")
    assert standing.ended
    assert "refused: 406" in standing.text


async def test_a_team_that_is_refused_and_tries_again_for_ever_is_stopped(
    agent: Agents, name: Names, tmp_path: Path
) -> None:
    hf = await agent("planner")
    nobody = name("nobody")

    def team() -> Any:
        desk = HandoffAgent("desk", hf, capability=nobody, pause=True)
        return RoundRobinGroupChat([desk], termination_condition=HandoffTermination(target=PAUSED))

    with pytest.raises(HandfastError) as raised:
        await TeamRuns(hf, team, FileRecords(tmp_path)).start("one", "x")
    assert raised.value.reason == "refused_again"


async def test_several_handoffs_of_one_turn_are_all_waited_for(agent: Agents, name: Names, tmp_path: Path) -> None:
    hf, capability = await offer(agent, name, lambda topic: f"About {topic}.")
    research = await pausing_handoff(hf, capability=capability, name="research", input=str, description="Finds out.")
    asked: list[Any] = []

    def team() -> Any:
        """An agent alone, whose model calls twice at once, and then says what it was told."""
        if not asked:
            asked.append(model([("research", {"input": "a"}), ("research", {"input": "b"})]))
        else:
            asked.append(model("Thank you."))
        return AssistantAgent("assistant", asked[-1], handoffs=[research])

    with pytest.warns(UserWarning, match="Multiple handoffs"):
        standing = await end_of(TeamRuns(hf, team, FileRecords(tmp_path)))
    assert standing.text == "Thank you."
    heard = asked[-1].create_calls[0]["messages"]
    assert {message.content for message in heard[-2:]} == {"About a.", "About b."}
    assert len(await sent_by(hf)) == 2


async def test_an_outcome_that_comes_twice_runs_nothing_twice(agent: Agents, name: Names, tmp_path: Path) -> None:
    hf, capability = await offer(agent, name, lambda _: "found")
    did: list[str] = []
    runs = TeamRuns(hf, await planner(hf, capability, did.append), FileRecords(tmp_path))
    await runs.start("one", "What is fsync?")
    async with woken(runs) as first, woken(runs) as second:
        how = [(await asyncio.wait_for(queue.get(), 15)).how for queue in (first, second)]
    assert (sorted(how), did) == (["not_waiting", "resumed"], ["write"])


async def test_in_a_swarm_the_outcome_goes_back_to_whoever_handed_over(
    agent: Agents, name: Names, tmp_path: Path
) -> None:
    hf, capability = await offer(agent, name, lambda topic: f"About {topic}.")
    models = [model(("transfer_to_desk", {})), model("It is DONE")]

    def team() -> Any:
        desk = HandoffAgent("desk", hf, capability=capability, input=lambda _: "fsync", pause=True)
        boss = AssistantAgent("boss", models[0], handoffs=["desk"])
        stop = HandoffTermination(target=PAUSED) | TextMentionTermination("DONE")
        return Swarm([boss, desk], termination_condition=stop)

    runs = TeamRuns(hf, team, FileRecords(tmp_path))
    async with woken(runs) as queue:
        standing = await runs.start("one", "What is fsync?")
        models.pop(0)
        assert (await asyncio.wait_for(queue.get(), 15)).how == "resumed"
    assert len(standing.waiting) == 1
    heard = models[0].create_calls[0]["messages"]
    assert (heard[-1].source, heard[-1].content) == (PAUSED, "About fsync.")
    assert (await runs.look("one") or standing).text == "It is DONE"


async def test_a_team_without_the_termination_condition_is_told_so(agent: Agents, name: Names, tmp_path: Path) -> None:
    hf, capability = await offer(agent, name, lambda _: "found")

    def team() -> Any:
        desk = HandoffAgent("desk", hf, capability=capability, pause=True)
        return RoundRobinGroupChat([desk, Plain("other", lambda _: "on")], max_turns=2)

    with pytest.raises(UsageError, match=r"HandoffTermination\(target=PAUSED\)"):
        await TeamRuns(hf, team, FileRecords(tmp_path)).start("one", "x")


async def test_a_team_that_nobody_keeps_is_told_so(agent: Agents, name: Names) -> None:
    hf, capability = await offer(agent, name, lambda _: "found")
    team = (await planner(hf, capability, lambda _: None))()
    result = await team.run(task="What is fsync?")
    last = result.messages[-1]
    assert isinstance(last, HandoffMessage)
    assert "Nobody keeps this team" in last.content
    assert await sent_by(hf) == []


async def test_an_agent_that_stands_for_a_capability_waits_in_place(agent: Agents, name: Names) -> None:
    hf, capability = await offer(agent, name, lambda topic: f"About {topic}.")

    def write(messages: Sequence[BaseChatMessage]) -> str:
        return messages[-1].to_model_text().upper()

    desk = HandoffAgent("desk", hf, capability=capability)
    team = RoundRobinGroupChat([desk, Plain("writer", write)], termination_condition=MaxMessageTermination(3))
    result = await team.run(task="fsync")
    said = result.messages[1]
    assert isinstance(said, TextMessage)
    assert said.metadata["handfast.code"] == "200"
    assert (said.content, result.messages[2].to_text()) == ("About fsync.", "ABOUT FSYNC.")


async def test_a_tool_has_the_manifest_and_gives_the_outcome_to_the_model(agent: Agents, name: Names) -> None:
    capability = name("research")

    async def research(input: dict[str, Any]) -> dict[str, Any]:
        """Finds out about a topic."""
        if input["topic"] == "nothing":
            raise Fail("No such topic.", reason="no_topic")
        return {"found": input["topic"]}

    schema = {
        "type": "object",
        "properties": {"topic": {"type": "string", "description": "What about."}},
        "required": ["topic"],
        "additionalProperties": False,
    }
    await (await agent("researcher")).serve({capability: {"handler": research, "input": schema}}, signals=False)
    tool = await handoff_tool(await agent("planner"), capability=capability, name="research")
    assert tool.schema == {
        "name": "research",
        "description": "Finds out about a topic.",
        "parameters": schema,
        "strict": False,
    }
    script = model(("research", {"topic": "fsync"}), ("research", {"topic": "nothing"}), "Done.")
    assistant = AssistantAgent("assistant", script, tools=[tool], max_tool_iterations=3)
    result = await assistant.run(task="What is fsync?")
    results = [m.content[0].content for m in result.messages if m.type == "ToolCallExecutionEvent"]  # type: ignore[union-attr]
    failure = "ended as failed: 500 agent_failed (no_topic): No such topic. Trying the same again does not help."
    assert results[0] == '{"found": "fsync"}'
    assert failure in results[1]


async def test_a_tool_that_is_canceled_calls_the_handoff_off(agent: Agents, name: Names) -> None:
    begun = asyncio.Event()

    async def research(_: Any) -> None:
        begun.set()
        await asyncio.Event().wait()

    hf, capability = await offer(agent, name, research)
    tool = await handoff_tool(hf, capability=capability)
    token = CancellationToken()
    call = asyncio.ensure_future(tool.run_json({"input": "x"}, token))
    await asyncio.wait_for(begun.wait(), 15)
    token.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    (view,) = await sent_by(hf)
    assert (await hf.handle(view["id"]).outcome(timeout=15))["state"] == "canceled"


async def test_an_agent_of_a_runtime_hands_off_once_for_each_key(agent: Agents, name: Names) -> None:
    hf, capability = await offer(agent, name, lambda topic: f"About {topic}.")
    runtime = SingleThreadedAgentRuntime()
    await CapabilityAgent.register(runtime, "research", lambda: CapabilityAgent(hf, capability=capability))
    runtime.start()
    try:
        answers = [
            await runtime.send_message(CapabilityTask("fsync", key="1"), AgentId("research", "default")) for _ in "12"
        ]
    finally:
        await runtime.stop()
    for answer in answers:
        assert isinstance(answer, CapabilityOutcome)
        assert answer.outcome["status"] == "completed"
        assert answer.outcome["output"] == "About fsync."
    assert len(await sent_by(hf)) == 1


async def test_a_version_that_does_not_fit_is_named_with_the_one_that_does(monkeypatch: pytest.MonkeyPatch) -> None:
    from handfast._adapters import framework
    from handfast.autogen import _version as version

    monkeypatch.setattr(framework, "version", lambda _: "0.4.9")
    with pytest.raises(UsageError, match=r"autogen-core 0\.7\.0 up to.* installed is 0\.4\.9"):
        importlib.reload(version)
    monkeypatch.undo()
    importlib.reload(version)
