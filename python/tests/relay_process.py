"""A real relay in a process of its own, on a free port, that can be killed and started again on the same data."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_NODE = ROOT / "node_modules" / ".bin" / "node"
_COMMAND = ROOT / "packages" / "cli" / "bin" / "handfast.js"
_START_WITHIN_S = 60.0


class RelayProcess:
    """Started by its constructor; stop() at the end."""

    def __init__(self, *arguments: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="handfast-py-")
        self._arguments = arguments
        self._port = "0"
        self._child: subprocess.Popen[str] | None = None
        self._output: list[str] = []
        self.url = ""
        self.start()

    @property
    def data(self) -> Path:
        return Path(self._folder.name) / "data"

    @property
    def is_alive(self) -> bool:
        return self._child is not None

    def start(self) -> None:
        """Again on the same port, where it ran before."""
        command = [str(_NODE), str(_COMMAND), "start", "--json", "--port", self._port, "--data", str(self.data)]
        self._child = subprocess.Popen(
            [*command, *self._arguments],
            cwd=self._folder.name,
            env={"PATH": os.environ["PATH"], "HOME": self._folder.name},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        heard = threading.Event()
        threading.Thread(target=self._listen, args=(self._child, heard), daemon=True).start()
        if not heard.wait(_START_WITHIN_S) or not self.url:
            self.stop()
            raise RuntimeError("the relay did not start:\n" + "".join(self._output[-20:]))
        self._port = self.url.rsplit(":", 1)[1]

    def kill(self) -> None:
        """As a machine that fails: without a word."""
        self._end(lambda child: child.kill())

    def stop(self) -> None:
        """In order, and its data is gone."""
        self._end(lambda child: child.terminate())
        self._folder.cleanup()

    def operator_token(self) -> str:
        return (self.data / "operator-token").read_text(encoding="utf-8").strip()

    def _end(self, how: Callable[[subprocess.Popen[str]], None]) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        how(child)
        try:
            child.wait(10)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()

    def _listen(self, child: subprocess.Popen[str], heard: threading.Event) -> None:
        assert child.stdout is not None
        with child.stdout:
            for line in child.stdout:
                self._output.append(line)
                if not heard.is_set() and (url := _url_in(line)) is not None:
                    self.url = url
                    heard.set()
        heard.set()


def _url_in(line: str) -> str | None:
    try:
        said = json.loads(line)
    except ValueError:
        return None
    url = said.get("listens_on") if isinstance(said, dict) else None
    return url if isinstance(url, str) else None
