"""A workflow of Microsoft Agent Framework that hands off: whatever becomes of it is a value, and each run is woken
once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("agent_framework")

from af_planner import planner
from agent_framework import FileCheckpointStorage, InMemoryCheckpointStorage, WorkflowBuilder, WorkflowContext, executor

from handfast import AsyncClient, Fail, HandfastError, UsageError
from handfast.agent_framework import HandoffExecutor, Woken, WorkflowRun, WorkflowRuns, outcomes_of

Agents = Callable[..., Any]


@asynccontextmanager
async def woken(runs: WorkflowRuns) -> AsyncIterator[asyncio.Queue[Woken]]:
    queue = asyncio.Queue[Woken]()
    async with runs.resume_outcomes(on_woken=queue.put_nowait, pause=0.05):
        yield queue


async def offer(agent: Agents, name: Callable[[str], str], handler: Any) -> tuple[AsyncClient, str]:
    """A sender, and a capability that another agent offers."""
    capability = name("research")
    worker = await agent("researcher")
    await worker.serve({capability: handler}, signals=False, grace=0)
    return await agent("planner"), capability


async def end_of(runs: WorkflowRuns) -> WorkflowRun:
    """The one run, once it has ended."""
    async with woken(runs) as queue:
        await runs.start("one", "fsync")
        while not (standing := await runs.look("one")) or not standing.ended:
            await asyncio.wait_for(queue.get(), 15)
        return standing


async def test_the_run_sleeps_until_the_outcome_is_there_and_goes_on_with_it(
    agent: Agents, name: Callable[[str], str], tmp_path: Path
) -> None:
    go = asyncio.Event()

    async def research(input: Any) -> Any:
        await go.wait()
        return f"about {input['topic']}"

    hf, capability = await offer(agent, name, research)
    did: list[str] = []
    ended: list[WorkflowRun] = []

    async def on_end(run: WorkflowRun) -> None:
        ended.append(run)

    storage = FileCheckpointStorage(tmp_path)
    runs = WorkflowRuns(hf, lambda: planner(hf, capability, did.append), storage, on_end=on_end)
    standing = await runs.start("one", " fsync ")
    assert (standing.ended, len(standing.waiting), did) == (False, 1, ["plan"])
    handle = hf.handle(standing.waiting[0])
    labels = {"agent-framework.name": "workflow", "agent-framework.run": "one", "agent-framework.executor": "research"}
    assert (await handle.status())["labels"] == labels
    again = await runs.start("one", " fsync ")
    assert again.waiting == standing.waiting
    async with woken(runs) as queue:
        go.set()
        told = await asyncio.wait_for(queue.get(), 15)
    assert told == Woken(handle.id, "agent-framework/workflow/one", "resumed")
    assert did == ["plan", "write"]
    assert [run.outputs for run in ended] == [["200 about fsync"]]
    assert (await handle.status())["taken_at"] is not None


async def test_a_failure_is_a_value(agent: Agents, name: Callable[[str], str]) -> None:
    def research(_: Any) -> Any:
        raise Fail("No such topic.", reason="no_topic")

    hf, capability = await offer(agent, name, research)
    runs = WorkflowRuns(hf, lambda: planner(hf, capability), InMemoryCheckpointStorage())
    assert (await end_of(runs)).outputs == ["500 no_topic"]


async def test_a_deadline_that_passes_is_a_value(agent: Agents, name: Callable[[str], str]) -> None:
    async def research(_: Any) -> None:
        await asyncio.Event().wait()

    hf, capability = await offer(agent, name, research)
    runs = WorkflowRuns(hf, lambda: planner(hf, capability, timeout=0.3), InMemoryCheckpointStorage())
    assert (await end_of(runs)).outputs == ["408 deadline_passed"]


async def test_what_the_relay_refuses_is_a_value_and_nobody_waits(agent: Agents, name: Callable[[str], str]) -> None:
    hf = await agent("planner")
    runs = WorkflowRuns(hf, lambda: planner(hf, name("nobody")), InMemoryCheckpointStorage())
    standing = await runs.start("one", "fsync")
    assert (standing.ended, standing.outputs) == (True, ["406 nobody_offers"])


async def test_many_messages_of_one_step_each_get_their_own_outcome(agent: Agents, name: Callable[[str], str]) -> None:
    hf, capability = await offer(agent, name, lambda topic: f"about {topic}")
    topics = ["a", "b", "c", "a"]

    @executor(id="plan")
    async def plan(_: str, ctx: WorkflowContext[str]) -> None:
        for topic in topics:
            await ctx.send_message(topic)

    @executor(id="note")
    async def note(outcome: dict[str, Any], ctx: WorkflowContext[Any, str]) -> None:
        await ctx.yield_output(outcome["output"])

    def build() -> Any:
        research = HandoffExecutor(hf, id="research", capability=capability)
        return WorkflowBuilder(start_executor=plan).add_edge(plan, research).add_edge(research, note).build()

    standing = await end_of(WorkflowRuns(hf, build, InMemoryCheckpointStorage()))
    assert sorted(standing.outputs) == sorted(f"about {topic}" for topic in topics)
    sent = (await hf.call("list", query={"from": hf.agent, "limit": 20}))["handoffs"]
    assert len(sent) == 4


async def test_an_outcome_that_comes_twice_runs_nothing_twice(agent: Agents, name: Callable[[str], str]) -> None:
    hf, capability = await offer(agent, name, lambda _: "found")
    did: list[str] = []
    runs = WorkflowRuns(hf, lambda: planner(hf, capability, did.append), InMemoryCheckpointStorage())
    standing = await runs.start("one", "fsync")
    view = await hf.handle(standing.waiting[0]).outcome(take=False)
    async with woken(runs) as first, woken(runs) as second:
        how = [(await asyncio.wait_for(queue.get(), 15)).how for queue in (first, second)]
    assert sorted(how) == ["not_waiting", "resumed"]
    assert (did, view["state"]) == (["plan", "write"], "completed")


async def test_a_run_that_nobody_keeps_waits_in_place(agent: Agents, name: Callable[[str], str]) -> None:
    hf, capability = await offer(agent, name, lambda input: f"about {input['topic']}")
    workflow = planner(hf, capability)
    result = await workflow.run("fsync")
    outcomes = await outcomes_of(hf, result)
    assert (await workflow.run(responses=outcomes)).get_outputs() == ["200 about fsync"]


async def test_a_state_that_cannot_be_kept_hands_nothing_off(
    agent: Agents, name: Callable[[str], str], tmp_path: Path
) -> None:
    class Topic:
        """Of a type that the storage does not read."""

    hf, capability = await offer(agent, name, lambda _: "found")
    storage = FileCheckpointStorage(tmp_path)

    @executor(id="plan")
    async def plan(_: str, ctx: WorkflowContext[Any]) -> None:
        await ctx.send_message(Topic())

    def build() -> Any:
        research = HandoffExecutor(hf, id="research", capability=capability, input=lambda _: "topic")
        return WorkflowBuilder(start_executor=plan).add_edge(plan, research).build()

    with pytest.raises(HandfastError, match="cannot be kept") as raised:
        await WorkflowRuns(hf, build, storage).start("one", "fsync")
    assert raised.value.reason == "not_kept"
    assert (await hf.call("list", query={"from": hf.agent}))["handoffs"] == []


async def test_a_run_that_this_storage_does_not_have_keeps_its_outcome_at_the_relay(
    agent: Agents, name: Callable[[str], str]
) -> None:
    hf, capability = await offer(agent, name, lambda _: "found")
    runs = WorkflowRuns(hf, lambda: planner(hf, capability), InMemoryCheckpointStorage())
    (handoff,) = (await runs.start("one", "fsync")).waiting
    errors = asyncio.Queue[BaseException]()
    others = WorkflowRuns(hf, lambda: planner(hf, capability), InMemoryCheckpointStorage())
    async with others.resume_outcomes(attempts=1, on_error=lambda error, *_: errors.put_nowait(error)):
        error = await asyncio.wait_for(errors.get(), 15)
    assert isinstance(error, HandfastError)
    assert error.reason == "unknown_run"
    assert (await hf.handle(handoff).status())["taken_at"] is None


async def test_a_version_that_does_not_fit_is_named_with_the_one_that_does(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib

    from handfast._adapters import framework
    from handfast.agent_framework import _version as version

    monkeypatch.setattr(framework, "version", lambda _: "1.0.0b260101")
    with pytest.raises(UsageError, match=r"agent-framework-core 1\.23\.0 up to.* installed is 1\.0\.0b260101"):
        importlib.reload(version)
    monkeypatch.undo()
    importlib.reload(version)
