"""The process that runs the graph is killed at the worst moments, and another one goes on."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from lg_bench import Bench, until

from handfast import connect

PROGRAM = Path(__file__).with_name("lg_process.py")


class Planner:
    """One life after the other, on the same store."""

    def __init__(self, bench: Bench, folder: Path, place: str) -> None:
        self._bench = bench
        self._place = place
        self.store = folder / "store.db"
        self._effects = folder / "effects"
        self.agent = bench.name("planner")
        self._env = {
            **{name: os.environ[name] for name in ("PATH", "PYTHONPATH", "HANDFAST_HOME") if name in os.environ},
            "HANDFAST_URL": bench.url,
            "HANDFAST_AGENT": self.agent,
        }

    def start(self, task: str) -> subprocess.Popen[str]:
        words = [str(self.store), str(self._effects), self._bench.research, task, self._place]
        process = subprocess.Popen(
            [sys.executable, str(PROGRAM), *words], env=self._env, stdout=subprocess.PIPE, text=True
        )
        self._bench.at_end.callback(_end, process)
        return process

    @property
    def effects(self) -> list[str]:
        """Which nodes did their work, in order."""
        return self._effects.read_text(encoding="utf-8").split()


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


async def is_killed(process: subprocess.Popen[str]) -> bool:
    return await asyncio.to_thread(process.wait, 60) == -signal.SIGKILL


async def says(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return (await asyncio.wait_for(asyncio.to_thread(process.stdout.readline), 60)).strip()


@pytest.mark.parametrize("bench", ["plain"], indirect=True)
@pytest.mark.parametrize("place", ["after_accept", "after_sent_is_kept", "after_outcome_is_kept", "while_resuming"])
async def test_killed_it_goes_on_in_another_process_and_every_node_did_its_work_once(
    bench: Bench, tmp_path: Path, place: str
) -> None:
    await bench.worker()
    planner = Planner(bench, tmp_path, place)
    first = planner.start("run")
    if place in ("after_outcome_is_kept", "while_resuming"):
        assert await says(first) == "asleep"
        bench.gates.finish("fsync")
        assert await is_killed(first)
    else:
        assert await is_killed(first)
        bench.gates.finish("fsync")

    last = planner.start("resume")
    assert await says(last) == "continued"
    assert planner.effects == ["plan", "note", "write"]
    async with connect(url=bench.url, agent=planner.agent) as hf:
        (sent,) = await bench.sent_by(hf)
        assert sent["state"] == "completed"
        await until(lambda: bench.is_taken(hf, sent["id"]))
