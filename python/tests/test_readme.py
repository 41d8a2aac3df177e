"""Every example of the README is run, and prints what it says there."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from relay_process import RelayProcess

import handfast

README = Path(__file__).resolve().parents[1] / "README.md"


def test_the_examples_run_and_print_what_they_say(relay: RelayProcess, tmp_path: Path) -> None:
    blocks: list[tuple[str, str]] = re.findall(r"```(python|text)\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    files: list[tuple[str, str | None]] = []
    for kind, text in blocks:
        if kind == "text":
            files[-1] = (files[-1][0], text)
            continue
        named = re.match(r"# (\w+\.py)\n", text)
        assert named is not None, "an example without a name"
        (tmp_path / named[1]).write_text(text, "utf-8")
        files.append((named[1], None))
    assert [name for name, _ in files] == ["worker.py", "sender.py", "async_sender.py", "careful.py"]
    environment = {**os.environ, "HANDFAST_URL": relay.url, "HANDFAST_HOME": str(tmp_path / "home")}
    worker = subprocess.Popen(
        [sys.executable, str(tmp_path / "worker.py")], env=environment, stderr=subprocess.PIPE, text=True
    )
    try:
        _wait_for_capability(relay, "web_research")
        for name, printed in files[1:]:
            command = [sys.executable, str(tmp_path / name)]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
            assert (done.stdout, done.stderr) == (printed, "")
    finally:
        worker.send_signal(signal.SIGINT)
        _, errors = worker.communicate(timeout=30)
    assert errors == ""


def _wait_for_capability(relay: RelayProcess, capability: str) -> None:
    with handfast.Client(url=relay.url, agent="looker") as hf:
        for _ in range(600):
            if hf.call("agents", query={"capability": capability})["agents"]:
                return
            hf.call("outcomes", wait=0.1)
    pytest.fail("the worker did not come")
