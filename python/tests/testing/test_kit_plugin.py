"""The pytest plugin, in test runs of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from handfast.testing._command import find_command

ALONE = ("-p", "no:asyncio", "-p", "no:anyio")
NOWHERE = {"HANDFAST_COMMAND": "/no/such/handfast"}
"""What is configured goes before it."""


def run(folder: Path, code: str, *words: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    (folder / "test_it.py").write_text(code)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words, str(folder)]
    told = {"HANDFAST_COMMAND": " ".join(find_command().words), **(env or {})}
    surroundings = {**os.environ, **told}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=100, cwd=folder, env=surroundings, check=False
    )


def test_every_kind_of_test_gets_its_own_relay_from_one_process(tmp_path: Path) -> None:
    code = """
import pytest
from handfast.testing import AsyncTestRelay, TestRelay

pids = set()
urls = set()

def look(relay, inner):
    pids.add(inner._process.pid)
    urls.add(relay.url)

def test_plain(relay):
    assert type(relay) is TestRelay
    look(relay, relay._relay)
    relay.connect("alice")

async def test_async(relay):
    assert type(relay) is AsyncTestRelay
    look(relay, relay)
    assert await relay.events() == []
    await relay.connect("alice")

class TestIn:
    @pytest.fixture
    def worker(self, relay):
        return relay.fake("research", ["done"])

    async def test_a_class(self, relay, worker):
        look(relay, relay)
        alice = await relay.connect("alice")
        assert await (await alice.send("research", {})).result() == "done"

    @pytest.mark.parametrize("number", [1, 2])
    def test_many(self, relay, number):
        look(relay, relay._relay)
        assert relay.events() == []

def test_all_of_them():
    assert len(pids) == 1
    assert len(urls) == 5
"""
    words = " ".join(find_command().words)
    ran = run(tmp_path, code, *ALONE, f"--handfast-command={words}", env=NOWHERE)
    assert "6 passed" in ran.stdout, ran.stdout


def test_an_async_test_that_anyio_runs_is_stopped_in_order(tmp_path: Path) -> None:
    code = """
import asyncio
import pytest

@pytest.fixture
def anyio_backend():
    return "asyncio"

stopped = []

@pytest.mark.anyio
async def test_it(relay):
    alice = await relay.connect("alice")

    async def wait(_input):
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append(True)

    relay.fake("wait", wait)
    await (await alice.send("wait", {})).acknowledged()
    await relay.settle()
    assert stopped == []

def test_its_workers_were_stopped_in_order():
    assert stopped == [True]
"""
    ran = run(tmp_path, code, "-p", "anyio", "-p", "no:asyncio")
    assert "2 passed" in ran.stdout, ran.stdout
    assert "warning" not in ran.stdout.lower(), ran.stdout


def test_a_test_that_fails_leaves_nothing_for_the_next(tmp_path: Path) -> None:
    code = """
import pytest

@pytest.fixture
def broken(relay):
    raise RuntimeError("the fixture is broken")

async def test_fails(relay):
    relay.fake("research", ["done"])
    alice = await relay.connect("alice")
    await alice.send("research", {})
    assert False, "on purpose"

async def test_never_runs(relay, broken):
    pass

def test_fails_too(relay):
    relay.connect("alice").send("nobody", {}, queue_if_absent=True)
    relay.restart(down="nonsense")

def test_finds_nothing(relay):
    assert relay.events() == []
"""
    words = " ".join(find_command().words)
    ran = run(tmp_path, code, *ALONE, "-o", f"handfast_command={words}", env=NOWHERE)
    assert "2 failed, 1 passed, 1 error" in ran.stdout, ran.stdout


def test_without_the_command_it_is_said_what_to_do_and_who_needs_none_pays_nothing(tmp_path: Path) -> None:
    code = """
import sys

def test_needs_none():
    assert "handfast.testing" not in sys.modules

def test_needs_it(relay):
    pass
"""
    ran = run(tmp_path, code, env={"HANDFAST_COMMAND": "", "PATH": str(tmp_path)})
    assert "1 passed, 1 error" in ran.stdout
    assert "npm install --save-dev handfast" in re.sub(r"\s+", " ", ran.stdout)
