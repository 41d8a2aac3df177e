"""A stage for every test of a worker: agents of their own at one relay."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from relay_process import RelayProcess
from serve_stage import Stage


@pytest.fixture
async def stage(relay: RelayProcess) -> AsyncIterator[Stage]:
    opened = Stage(relay.url)
    yield opened
    await opened.close()


@pytest.fixture
def own_relay() -> Iterator[RelayProcess]:
    """For tests that kill it."""
    process = RelayProcess()
    yield process
    process.stop()


@pytest.fixture
async def own_stage(own_relay: RelayProcess) -> AsyncIterator[Stage]:
    opened = Stage(own_relay.url)
    yield opened
    await opened.close()
