"""One relay for all tests; every agent has a name and a key of its own."""

from __future__ import annotations

import itertools
import os
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from relay_process import RelayProcess

from handfast import AsyncClient, Client, connect

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def relay() -> Iterator[RelayProcess]:
    """Shared: tests that kill a relay start one of their own."""
    process = RelayProcess()
    yield process
    process.stop()


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys of tests stay out of the user's home, and the user's settings out of tests."""
    for name in [name for name in os.environ if name.startswith("HANDFAST_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HANDFAST_HOME", str(tmp_path_factory.mktemp("home")))


def unique(name: str) -> str:
    """A name that no other agent or capability has."""
    return f"{name}-{os.getpid()}-{next(_numbers)}"


@pytest.fixture
def name() -> Callable[[str], str]:
    return unique


@pytest.fixture
async def agent(relay: RelayProcess) -> AsyncIterator[Callable[..., Any]]:
    """Connects agents, and closes them at the end: ``await agent("planner")``."""
    opened: list[AsyncClient] = []

    async def open_one(name: str = "agent", **options: Any) -> AsyncClient:
        client = await connect(**{"url": relay.url, "agent": unique(name), **options})
        opened.append(client)
        return client

    yield open_one
    for client in opened:
        await client.close()


@pytest.fixture
def sync_agent(relay: RelayProcess) -> Iterator[Callable[..., Client]]:
    """The same for clients that block."""
    opened: list[Client] = []

    def open_one(name: str = "agent", **options: Any) -> Client:
        client = Client(**{"url": relay.url, "agent": unique(name), **options})
        opened.append(client)
        return client

    yield open_one
    for client in opened:
        client.close()
