"""Processes that are killed without a word, and what the next one makes of what they left."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from crewai.flow.persistence import SQLiteFlowPersistence
from crewai_model import crew_of, last_of, model
from relay_process import RelayProcess

from handfast import Client
from handfast.crewai import serve_crew

_PROGRAM = Path(__file__).with_name("crewai_process.py")
LONG = 60.0

Agents = Callable[..., Client]
Name = Callable[[str], str]


class Process:
    """One life."""

    def __init__(self, relay: RelayProcess, agent: str, what: str, capability: str, folder: Path) -> None:
        self.lines: list[str] = []
        self._changed = threading.Condition()
        self._child = subprocess.Popen(
            [sys.executable, str(_PROGRAM), what, capability, str(folder)],
            env={**os.environ, "HANDFAST_URL": relay.url, "HANDFAST_AGENT": agent, "HOME": str(folder)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        threading.Thread(target=self._listen, daemon=True).start()

    def heard(self, line: str) -> None:
        """Waits until it has said so."""
        until = time.monotonic() + LONG
        with self._changed:
            while line not in self.lines:
                left = until - time.monotonic()
                if left <= 0 or self._child.poll() is not None:
                    raise AssertionError(f"{line!r} was not said:\n" + "\n".join(self.lines[-30:]))
                self._changed.wait(min(left, 0.5))

    def kill(self) -> None:
        self._child.kill()
        self._child.wait()

    def _listen(self) -> None:
        assert self._child.stdout is not None
        with self._child.stdout as stdout:
            for line in stdout:
                with self._changed:
                    self.lines.append(line.rstrip("\n"))
                    self._changed.notify_all()


@pytest.fixture
def life(relay: RelayProcess, tmp_path: Path) -> Iterator[Callable[[str, str, str], Process]]:
    begun: list[Process] = []

    def begin(agent: str, what: str, capability: str) -> Process:
        begun.append(Process(relay, agent, what, capability, tmp_path))
        return begun[-1]

    yield begin
    for process in begun:
        process.kill()


def test_a_flow_goes_on_after_each_kill_and_sends_nothing_twice(
    life: Callable[[str, str, str], Process], sync_agent: Agents, name: Name, tmp_path: Path
) -> None:
    capability, sender = name("echo"), name("planner")
    inputs: list[Any] = []

    def work(input: Any) -> str:
        inputs.append(input)
        return f"echo {input}"

    sync_agent("worker").serve({capability: work}, signals=False)

    # Killed while it sleeps.
    first = life(sender, "kickoff", capability)
    first.heard("paused")
    first.kill()

    # Killed when CrewAI has forgotten that the flow waited, and its listener has not ended.
    second = life(sender, "waker-1", capability)
    second.heard("heard echo fsync in round 1")
    second.kill()
    assert SQLiteFlowPersistence(str(tmp_path / "flows.db")).load_pending_feedback("plan-1") is None

    third = life(sender, "waker-2", capability)
    third.heard("ended echo fsync again")
    third.heard("woken resumed")
    # The listener ran again, from the state that the flow slept with: the outcome counted once.
    assert "heard echo fsync in round 1" in third.lines
    assert "woken continued" in third.lines
    assert third.lines.count("ended echo fsync again") == 1
    third.kill()
    assert inputs == ["fsync", "fsync again"]


def test_another_worker_goes_on_with_a_crew_that_was_killed(
    life: Callable[[str, str, str], Process], sync_agent: Agents, name: Name
) -> None:
    capability = name("write")
    killed = life(name("crew"), "crew", capability)
    killed.heard("serving")
    handle = sync_agent("sender").send(capability, {}, timeout=LONG, lease=2)
    killed.heard("second task")
    killed.kill()

    asked: list[str] = []

    def write(messages: list[Any]) -> str:
        asked.append("first" if "First" in last_of(messages) else "second")
        return f"a text after {'an outline' if 'an outline' in last_of(messages) else 'nothing'}"

    # Another agent, which offers the same.
    serve_crew(sync_agent("other"), capability, lambda: crew_of(model(write), "First", "Then"), signals=False)
    assert handle.result() == "a text after an outline"
    assert asked == ["second"]
    assert killed.lines.count("first task") == 1
