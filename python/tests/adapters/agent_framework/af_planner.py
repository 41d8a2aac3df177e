"""A workflow that plans, hands the research off, and writes; and a life of the process that runs it."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent_framework import (
    Executor,
    FileCheckpointStorage,
    Workflow,
    WorkflowBuilder,
    WorkflowContext,
    executor,
    handler,
)

from handfast import AsyncClient, connect
from handfast.agent_framework import HandoffExecutor, WorkflowRun, WorkflowRuns, serve_workflow

Did = Callable[[str], None]


class Writer(Executor):
    """Puts out one line of what became of the research."""

    def __init__(self, did: Did) -> None:
        super().__init__(id="write")
        self._did = did

    @handler
    async def write(self, outcome: dict[str, Any], ctx: WorkflowContext[Any, str]) -> None:
        self._did("write")
        text = outcome["output"] if outcome["status"] == "completed" else outcome["error"]["reason"]
        await ctx.yield_output(f"{outcome['code']} {text}")


def planner(hf: AsyncClient, capability: str, did: Did = lambda _: None, **options: Any) -> Workflow:
    """Of three nodes."""

    @executor(id="plan")
    async def plan(topic: str, ctx: WorkflowContext[dict[str, str]]) -> None:
        did("plan")
        await ctx.send_message({"topic": topic.strip()})

    research = HandoffExecutor(hf, id="research", capability=capability, **options)
    write = Writer(did)
    return WorkflowBuilder(start_executor=plan).add_edge(plan, research).add_edge(research, write).build()


def die() -> None:
    """As a machine that fails: without a word."""
    os.kill(os.getpid(), signal.SIGKILL)


def die_when_accepted() -> None:
    """The relay has it, and nothing is kept of that."""
    send: Any = HandoffExecutor._send

    async def send_and_die(self: HandoffExecutor, message: Any) -> Any:
        await send(self, message)
        die()

    HandoffExecutor._send = send_and_die  # type: ignore[method-assign]


async def live(
    folder: Path, capability: str, task: str, killed: str = "never", say: Callable[[str], None] = print, **options: Any
) -> None:
    """One life."""
    effects = folder / "effects"

    def did(node: str) -> None:
        with effects.open("a") as lines:
            lines.write(node + "\n")
        if node == killed:
            die()

    async def ended(run: WorkflowRun) -> None:
        if killed == "after_end":
            die()
        say(f"ended {run.outputs[-1]}")

    if killed == "after_accept":
        die_when_accepted()
    storage = FileCheckpointStorage(folder / "runs")
    async with connect(**options) as hf:
        runs = WorkflowRuns(hf, lambda: planner(hf, capability, did), storage, on_end=ended)
        if task == "run":
            await runs.start("one", " fsync ")
            return
        woken = asyncio.Queue[str]()
        async with runs.resume_outcomes(on_woken=lambda each: woken.put_nowait(each.how)):
            say(await asyncio.wait_for(woken.get(), 30))


async def work(folder: Path, capability: str, killed: str = "never", **options: Any) -> None:
    """A life of a worker, which ends when it is killed, or when its task is canceled."""

    def did(node: str) -> None:
        with (folder / "effects").open("a") as lines:
            lines.write(node + "\n")
        if node == killed:
            die()

    @executor(id="first")
    async def first(text: str, ctx: WorkflowContext[str, str]) -> None:
        did("first")
        await ctx.yield_output(f"one {text}")
        await ctx.send_message(text)

    @executor(id="second")
    async def second(text: str, ctx: WorkflowContext[Any, str]) -> None:
        did("second")
        await ctx.yield_output(f"two {text}")

    def result(outputs: list[Any]) -> Any:
        if killed == "after_end":
            die()
        return outputs

    def build() -> Workflow:
        return WorkflowBuilder(start_executor=first).add_edge(first, second).build()

    async with connect(**options) as hf:
        storage = FileCheckpointStorage(folder / "work")
        server = await serve_workflow(hf, capability, build, storage=storage, result=result, signals=False, input=str)
        await server.stopped()
