"""Every test of the adapter is run in both ways of the client and of LangGraph."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest
from relay_process import RelayProcess

pytest.importorskip("langgraph")


@pytest.fixture(params=["plain", "async"])
async def bench(request: pytest.FixtureRequest, relay: RelayProcess) -> AsyncIterator[Any]:
    from lg_bench import Bench

    async with AsyncExitStack() as stack:
        yield Bench(request.param, relay.url, stack)
