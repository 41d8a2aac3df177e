"""docs/agreeing.md where one side is Python: an agent in TypeScript and one in Python, as real processes that know
only the relay."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from relay_process import ROOT, RelayProcess

_NODE = ROOT / "node_modules" / ".bin" / "node"


def test_two_agents_of_two_languages_meet_by_need_and_finish_work(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "agreeing.md").read_text("utf-8")
    [provider] = re.findall(r"```ts\n(// counter\.ts\n.*?)```", text, re.DOTALL)
    [asker] = re.findall(r"```python\n(# buyer\.py\n.*?)```", text, re.DOTALL)
    [printed] = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    (tmp_path / "node_modules").symlink_to(ROOT / "node_modules")
    (tmp_path / "package.json").write_text('{ "type": "module" }', "utf-8")
    (tmp_path / "counter.ts").write_text(provider, "utf-8")
    (tmp_path / "buyer.py").write_text(asker, "utf-8")
    relay = RelayProcess()
    environment = {**os.environ, "HANDFAST_URL": relay.url, "HANDFAST_HOME": str(tmp_path / "home")}
    worker = subprocess.Popen(
        [str(_NODE), "counter.ts"], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "serving\n"
        done = subprocess.run(
            [sys.executable, "buyer.py"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.stdout, done.stderr) == (printed, "")
    finally:
        worker.terminate()
        worker.communicate(timeout=30)
        relay.stop()
    assert worker.returncode == 0
