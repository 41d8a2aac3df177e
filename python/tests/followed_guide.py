"""A guide of docs/frameworks/ whose program is `brief.py`: typed as a reader types it, on a relay of its own.

Guides of all frameworks have agents of the same names, so none of them shares a relay with another.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from relay_process import ROOT, RelayProcess


def follow(name: str, folder: Path) -> None:
    """Runs the file to copy from, and compares what it prints with what the guide says."""
    text = (ROOT / "docs" / "frameworks" / f"{name}.md").read_text("utf-8")
    (program,) = re.findall(r"```python\n(# brief\.py\n.*?)```", text, re.DOTALL)
    (printed,) = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    commands = re.findall(r"^python brief\.py (.+)$", text, re.MULTILINE)
    assert commands == ["work", "ask fsync", "wake fsync"]
    (folder / "brief.py").write_text(program, "utf-8")
    relay = RelayProcess()
    environment = {**os.environ, "HANDFAST_URL": relay.url, "HANDFAST_HOME": str(folder / "home")}

    def start(words: str) -> subprocess.Popen[str]:
        command = [sys.executable, "brief.py", *words.split()]
        return subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)

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
        relay.stop()
    assert worker.returncode == 0
