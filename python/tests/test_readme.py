"""Every example of the README is run, and prints what it says there."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from relay_process import RelayProcess

import handfast

README = Path(__file__).resolve().parents[1] / "README.md"


@pytest.fixture
def own_relay() -> Iterator[RelayProcess]:
    """The stranger of the README finds whoever fits: on the shared relay that may be an agent of another test."""
    relay = RelayProcess()
    yield relay
    relay.stop()


def test_the_examples_run_and_print_what_they_say(own_relay: RelayProcess, tmp_path: Path) -> None:
    blocks: list[tuple[str, str]] = re.findall(r"```(python|text)\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    files: list[tuple[str, str]] = []
    for kind, text in blocks:
        if kind == "text":
            files[-1] = (files[-1][0], text)
            continue
        named = re.match(r"# (\w+\.py)\n", text)
        assert named is not None, "an example without a name"
        (tmp_path / named[1]).write_text(text, "utf-8")
        files.append((named[1], ""))
    servers = {"worker.py", "packer.py"}
    assert [name for name, _ in files] == [
        "worker.py",
        "sender.py",
        "async_sender.py",
        "stranger.py",
        "packer.py",
        "shop.py",
        "careful.py",
    ]
    environment = {**os.environ, "HANDFAST_URL": own_relay.url, "HANDFAST_HOME": str(tmp_path / "home")}
    running: list[subprocess.Popen[str]] = []
    try:
        for name, printed in files:
            command = [sys.executable, str(tmp_path / name)]
            pipe = subprocess.PIPE
            if name in servers:
                server = subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True)
                running.append(server)
                assert server.stdout is not None
                assert server.stdout.readline() == printed
                continue
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
            assert (done.stdout, done.stderr) == (printed, "")
    finally:
        for server in running:
            server.send_signal(signal.SIGINT)
        ended = [server.communicate(timeout=30) for server in running]
    assert ended == [("", "")] * len(servers)
    assert [server.returncode for server in running] == [0] * len(servers)


def test_every_setting_and_every_kind_of_error_is_told_of() -> None:
    text = README.read_text("utf-8")
    of_tests = {"surroundings"}
    told = [name for name in handfast.ConnectOptions.__annotations__ if name not in of_tests]
    told += [name for name in handfast.__all__ if name.endswith("Error") or name in ("WaitOver", "RelayUnreachable")]
    told += [name for name in vars(handfast.Context) if not name.startswith("_")]
    assert [name for name in told if f"`{name}" not in text and f", {name}" not in text] == []


def test_its_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)", README.read_text("utf-8"))
    assert len(links) > 4
    assert [link for link in links if not (README.parent / link).exists()] == []
