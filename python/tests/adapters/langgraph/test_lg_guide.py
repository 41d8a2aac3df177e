"""The file to copy from in docs/frameworks/langgraph.md is run, and prints what it says there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from relay_process import ROOT, RelayProcess

GUIDE = ROOT / "docs" / "frameworks" / "langgraph.md"


def test_the_file_to_copy_from_runs_and_prints_what_the_guide_says(relay: RelayProcess, tmp_path: Path) -> None:
    text = GUIDE.read_text("utf-8")
    (program,) = re.findall(r"```python\n(# brief\.py\n.*?)```", text, re.DOTALL)
    (printed,) = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    commands = re.findall(r"^python brief\.py (.+)$", text, re.MULTILINE)
    assert commands == ["work", "ask fsync", "wake fsync"]
    (tmp_path / "brief.py").write_text(program, "utf-8")
    environment = {**os.environ, "HANDFAST_URL": relay.url, "HANDFAST_HOME": str(tmp_path / "home")}

    def start(words: str) -> subprocess.Popen[str]:
        command = [sys.executable, "brief.py", *words.split()]
        return subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True)

    worker = start(commands[0])
    try:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "researcher serves research\n"
        told = ""
        for words in commands[1:]:
            one = start(words)
            told += one.communicate(timeout=60)[0]
            assert one.returncode == 0
        assert told == printed
    finally:
        worker.terminate()
        worker.communicate(timeout=30)
    assert worker.returncode == 0
