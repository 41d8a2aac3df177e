"""CrewAI as it is installed, without its telemetry, and with no network but this machine's own."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator
from typing import Any

import pytest

# Read when CrewAI is imported.
_storage = tempfile.TemporaryDirectory(prefix="handfast-crewai-")
os.environ.update(
    CREWAI_DISABLE_TELEMETRY="true",
    CREWAI_DISABLE_TRACKING="true",
    CREWAI_DISABLE_VERSION_CHECK="true",
    CREWAI_STORAGE_DIR=_storage.name,
    CREWAI_TRACING_ENABLED="false",
    OTEL_SDK_DISABLED="true",
)

pytest.importorskip("crewai")


@pytest.fixture(autouse=True)
def loopback_only(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What is tried beyond is refused, and fails the test."""
    tried: list[Any] = []
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if isinstance(address, tuple) and address[0] not in ("127.0.0.1", "::1", "localhost"):
            tried.append(address)
            raise ConnectionRefusedError(f"tests stay on this machine: {address}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)
    yield
    assert tried == []
