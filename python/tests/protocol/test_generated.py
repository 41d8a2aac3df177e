"""The tables that come from the protocol are those that the protocol has now."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from relay_process import ROOT

FOLDER = Path(__file__).resolve().parents[2] / "src" / "handfast" / "_generated"
_SCRIPT = """
import { renderPython } from "./scripts/generate-python.ts";
process.stdout.write(JSON.stringify([...renderPython()]));
"""


def test_they_are_as_the_protocol_would_write_them_else_run_npm_run_generate() -> None:
    node = ROOT / "node_modules" / ".bin" / "node"
    command = [str(node), "--input-type=module-typescript", "--eval", _SCRIPT]
    written = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    expected = {name: _meaning(name, text) for name, text in json.loads(written)}
    found = {path.name: _meaning(path.name, path.read_text("utf-8")) for path in FOLDER.iterdir() if path.is_file()}
    assert found == expected


def _meaning(name: str, text: str) -> Any:
    """How JSON is laid out is the formatter's affair."""
    return json.loads(text) if name.endswith(".json") else text
