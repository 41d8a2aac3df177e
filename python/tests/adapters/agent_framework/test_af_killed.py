"""The process that runs a workflow is killed at the worst moments, and another one goes on."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from relay_process import ROOT, RelayProcess

pytest.importorskip("agent_framework")

from af_planner import live, work

# Imported and not run by its path: the framework tells workflows apart by the modules of their executors.
_PROGRAM = (
    "import asyncio, pathlib, sys, af_planner as it;"
    "asyncio.run(getattr(it, sys.argv[1])(pathlib.Path(sys.argv[2]), *sys.argv[3:]))"
)


class Lives:
    """One after the other, in one folder, as one agent."""

    def __init__(self, relay: RelayProcess, folder: Path, agent: str, capability: str) -> None:
        self._folder = folder
        self._capability = capability
        self._options = {"url": relay.url, "agent": agent, "home": str(folder / "home")}

    async def live(self, task: str) -> list[str]:
        """One that is not killed, in this process: what it said."""
        said: list[str] = []
        await live(self._folder, self._capability, task, say=said.append, **self._options)
        return said

    async def be_killed(self, task: str, where: str) -> None:
        """In a process of its own."""
        await self._die("live", task, where)

    async def be_killed_at_work(self, where: str) -> None:
        """In a process of its own."""
        await self._die("work", where)

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        """A worker that is not killed, in this process."""
        worker = asyncio.ensure_future(work(self._folder, self._capability, **self._options))
        try:
            yield
        finally:
            worker.cancel()
            await asyncio.gather(worker, return_exceptions=True)

    async def _die(self, program: str, *about: str) -> None:
        words = ["-c", _PROGRAM, program, str(self._folder), self._capability, *about]
        settings = {f"HANDFAST_{name.upper()}": value for name, value in self._options.items()}
        env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parent), **settings}
        child = await asyncio.create_subprocess_exec(sys.executable, *words, env=env, cwd=ROOT)
        try:
            assert await asyncio.wait_for(child.wait(), 60) == -signal.SIGKILL
        finally:
            if child.returncode is None:
                child.kill()

    @property
    def effects(self) -> list[str]:
        return (self._folder / "effects").read_text().splitlines()


@pytest.mark.parametrize(
    ("killed", "task", "how", "effects"),
    [
        ("after_accept", "run", "continued", ["plan", "write"]),
        ("write", "resume", "continued", ["plan", "write", "write"]),
        ("after_end", "resume", "not_waiting", ["plan", "write"]),
    ],
)
async def test_killed_it_goes_on_in_another_process(
    relay: RelayProcess,
    agent: Callable[..., Any],
    name: Callable[[str], str],
    tmp_path: Path,
    killed: str,
    task: str,
    how: str,
    effects: list[str],
) -> None:
    capability = name("research")
    started: list[Any] = []

    def research(input: Any) -> str:
        started.append(input)
        return "found"

    await (await agent("researcher")).serve({capability: research}, signals=False)
    lives = Lives(relay, tmp_path, name("planner"), capability)
    if task == "resume":
        await lives.live("run")
    await lives.be_killed(task, killed)
    assert await lives.live("resume") == ["ended 200 found", how]
    # The step that was killed is run again, as the framework does it; those before it are not, nor is anything sent
    # twice.
    assert lives.effects == effects
    assert started == [{"topic": "fsync"}]


@pytest.mark.parametrize(
    ("killed", "effects"),
    [("second", ["first", "second", "second"]), ("after_end", ["first", "second"])],
)
async def test_a_worker_that_is_killed_is_followed_by_one_that_goes_on_where_it_stopped(
    relay: RelayProcess,
    agent: Callable[..., Any],
    name: Callable[[str], str],
    tmp_path: Path,
    killed: str,
    effects: list[str],
) -> None:
    capability = name("work")
    lives = Lives(relay, tmp_path, name("worker"), capability)
    hf = await agent("sender")
    handle = await hf.send(capability, "x", lease=2, queue_if_absent=True)
    await lives.be_killed_at_work(killed)
    async with lives.working():
        assert await handle.result(timeout=30) == ["one x", "two x"]
    assert lives.effects == effects
