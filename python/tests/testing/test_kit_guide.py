"""The examples of docs/python-testing.md, run as one file, as a reader would type them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
GUIDE = ROOT / "docs/python-testing.md"


@pytest.mark.parametrize(
    "runner", [["-p", "no:asyncio", "-p", "no:anyio"], ["-p", "asyncio", "-o", "asyncio_mode=auto"]]
)
def test_every_example_of_the_guide_passes(tmp_path: Path, runner: list[str]) -> None:
    """With no other plugin that runs async tests, and with the usual one."""
    blocks = re.findall(r"^```python\n(.*?)^```\n", GUIDE.read_text(), re.DOTALL | re.MULTILINE)
    code = "\n\n".join(blocks)
    names = re.findall(r"^(?:async )?def (test_\w+)\(", code, re.MULTILINE)
    assert len(names) > 9
    (tmp_path / "test_guide.py").write_text(code)
    words = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", *runner, str(tmp_path)]
    # From the project's folder, so that its command is found.
    ran = subprocess.run(words, capture_output=True, text=True, timeout=100, cwd=ROOT / "python", check=False)
    passed = re.findall(r"^PASSED \S*::(\w+)$", ran.stdout, re.MULTILINE)
    assert sorted(passed) == sorted(names), ran.stdout + ran.stderr
    assert "warning" not in ran.stdout.lower()
