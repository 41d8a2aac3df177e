"""docs/frameworks/crewai.md: the file to copy from does what the guide says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from relay_process import ROOT, RelayProcess

_GUIDE = (ROOT / "docs" / "frameworks" / "crewai.md").read_text(encoding="utf-8")
_LONG = 90


def test_the_file_to_copy_from_runs_as_the_guide_says(relay: RelayProcess, tmp_path: Path) -> None:
    (file,) = re.findall(r"```python\n(# brief\.py\n.*?)```", _GUIDE, re.DOTALL)
    (promised,) = re.findall(r"```\n(fsync is asleep\n.*?)```", _GUIDE, re.DOTALL)
    (tmp_path / "brief.py").write_text(file, encoding="utf-8")
    command = [sys.executable, "brief.py"]
    env = {**os.environ, "HANDFAST_URL": relay.url, "HANDFAST_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}

    def begin(*arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*command, *arguments], cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    # CrewAI takes its time to load: what is to wait for something may begin before it.
    worker, waker = begin("work"), begin("wake")
    try:
        assert worker.stdout is not None
        assert any("researcher serves research" in line for line in worker.stdout)
        said = ""
        for process in (begin("ask", "fsync"), waker):
            said += process.communicate(timeout=_LONG)[0]
            assert process.returncode == 0, said
    finally:
        for process in (worker, waker):
            process.kill()
            process.communicate()
    assert [line for line in said.splitlines() if line in promised.splitlines()] == promised.splitlines()
