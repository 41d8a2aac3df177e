"""`handfast test-relay` as a process: started when it is first needed, and used again by the next test.

It ends when its stdin does, so it is never left behind, even where this process is killed.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import tempfile
import threading
from datetime import datetime, timezone
from typing import IO, Any

from ..errors import UsageError
from ._command import Command

END_S = 5.0
"""Of real time, for the process to end by itself."""

State = dict[str, Any]
"""What every order is answered with: ``now``, ``next``, ``running``, ``parked``, ``calls``."""


class RelayProcess:
    """One order at a time, from any thread."""

    def __init__(self, command: Command, seed: int, start_at: int) -> None:
        self.command = command
        self._lock = threading.Lock()
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (closed by stop)
        begins = datetime.fromtimestamp(start_at / 1_000, timezone.utc).isoformat()
        try:
            self._child = subprocess.Popen(
                [*command.words, "test-relay", "--seed", str(seed), "--start-at", begins],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                env=command.environment(),
                # Ctrl-C is for the tests, which then stop it in order.
                start_new_session=os.name != "nt",
            )
        except OSError as error:
            self._stderr.close()
            raise UsageError(
                f"The test relay cannot be started: {error}.",
                "Check HANDFAST_COMMAND, or handfast_command in pytest's ini file.",
                "no_command",
            ) from error
        self.beginning: State = self._read()
        """Where the relay is, and how it stood at its beginning."""

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def is_alive(self) -> bool:
        return self._child.poll() is None

    def reset(self, seed: int, start_at: int) -> State:
        """A new relay, with nothing of the one before."""
        return self.ask({"do": "reset", "seed": seed, "start_at": start_at})

    def ask(self, order: dict[str, Any]) -> State:
        """The answer, when the relay is at rest. It needs nothing of this process meanwhile, so this may block it."""
        with self._lock:
            try:
                stdin = _opened(self._child.stdin)
                stdin.write(json.dumps(order).encode() + b"\n")
                stdin.flush()
            except (OSError, ValueError) as error:
                raise self._fault(b"") from error
            return self._read()

    def stop(self) -> None:
        with self._lock:
            try:
                _opened(self._child.stdin).close()
            except OSError:
                pass
            try:
                self._child.wait(END_S)
            except subprocess.TimeoutExpired:
                self._child.kill()
                self._child.wait()
            _opened(self._child.stdout).close()
            self._stderr.close()

    def _read(self) -> State:
        line = _opened(self._child.stdout).readline()
        try:
            answer = json.loads(line)
        except ValueError:
            raise self._fault(line) from None
        if not isinstance(answer, dict):
            raise self._fault(line)
        if "error" in answer:
            raise UsageError(answer["error"]["message"], answer["error"]["remedy"], "test_relay")
        return answer

    def _fault(self, line: bytes) -> UsageError:
        """With whatever it said: that its Node is too old, or that it is another program."""
        if line == b"":
            try:
                self._child.wait(END_S)
            except subprocess.TimeoutExpired:
                pass
        self._stderr.seek(0)
        said = (line + self._stderr.read()).decode(errors="replace").strip() or "it said nothing"
        return UsageError(
            f"{' '.join(self.command.words)} test-relay does not answer as a test relay: {said[-2_000:]}",
            "Check that this is the command of Handfast, and that its Node is 24 or newer.",
            "test_relay",
        )


def _opened(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise RuntimeError("unreachable: a pipe was asked for")
    return pipe


_lock = threading.Lock()
_idle: list[tuple[int, RelayProcess]] = []
"""With the process that started each: after a fork they are the parent's."""


def acquire(command: Command, seed: int, start_at: int) -> tuple[RelayProcess, State]:
    """One that nobody uses, with a new relay in it."""
    while True:
        with _lock:
            mine = next((each for each in _idle if each[0] == os.getpid() and each[1].command == command), None)
            if mine is None:
                break
            _idle.remove(mine)
        if mine[1].is_alive:
            return mine[1], mine[1].reset(seed, start_at)
    process = RelayProcess(command, seed, start_at)
    return process, process.beginning


def release(process: RelayProcess) -> None:
    """For the next test. It ends with this process, at the latest."""
    with _lock:
        _idle.append((os.getpid(), process))


def stop_idle() -> None:
    """Ends those that nobody uses."""
    with _lock:
        mine = [each for each in _idle if each[0] == os.getpid()]
        _idle[:] = [each for each in _idle if each[0] != os.getpid()]
    for _, process in mine:
        process.stop()


atexit.register(stop_idle)
