"""The file to copy from in docs/frameworks/agent-framework.md is run, and prints what it says there."""

from __future__ import annotations

from pathlib import Path

import pytest
from followed_guide import follow

pytest.importorskip("agent_framework")


def test_the_file_to_copy_from_runs_and_prints_what_the_guide_says(tmp_path: Path) -> None:
    follow("agent-framework", tmp_path)
