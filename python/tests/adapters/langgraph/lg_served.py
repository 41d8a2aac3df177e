"""A graph that is served, whoever sends to it, and its end without a word."""

from __future__ import annotations

import asyncio
from typing import Any

from lg_bench import Bench

from handfast import AsyncClient, connect
from handfast._serve import crash_server
from handfast.langgraph import serve_graph


async def serve(bench: Bench, graph: Any, hf: Any = None, **options: Any) -> Any:
    """Under the name of the bench's capability."""
    hf = hf or await bench.agent("worker")
    options = {"signals": False, "grace": 0, **options}
    served: Any = await asyncio.to_thread(lambda: serve_graph(hf, bench.research, graph, **options))
    return await served if isinstance(hf, AsyncClient) else served


async def sender(bench: Bench) -> AsyncClient:
    return await bench.at_end.enter_async_context(connect(url=bench.url, agent=bench.name("sender")))


def crash(server: Any) -> None:
    """As a process that was killed: nothing is said to the relay any more."""
    inner = getattr(server, "_server", server)
    loop = getattr(server, "_loop", None)
    if loop is None:
        crash_server(inner)
    else:
        loop.call_soon_threadsafe(crash_server, inner)
