"""Graphs at a real relay, in both ways: with a Client and ``invoke``, with an AsyncClient and ``ainvoke``.

A test says what it wants once, and is run in both.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Literal

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from lg_gates import Gates

from handfast import AsyncClient, Client, connect
from handfast.langgraph import Woken, resume_outcomes

Kind = Literal["plain", "async"]


class Bench:
    """What one test needs; everything is stopped at the end."""

    def __init__(self, kind: Kind, url: str, stack: AsyncExitStack) -> None:
        self.kind = kind
        self.url = url
        self.at_end = stack
        self.research = f"research-{os.urandom(4).hex()}"
        self.gates = Gates()

    def name(self, name: str) -> str:
        return f"{name}-{os.urandom(4).hex()}"

    async def agent(self, name: str = "planner") -> Any:
        """A client of the test's kind."""
        options: Any = {"url": self.url, "agent": self.name(name), "on_warning": lambda _: None}
        if self.kind == "async":
            return await self.at_end.enter_async_context(connect(**options))
        client = await asyncio.to_thread(lambda: Client(**options))
        self.at_end.push_async_callback(asyncio.to_thread, client.close)
        return client

    async def worker(self, handler: Callable[..., Any] | None = None, **definition: Any) -> AsyncClient:
        """An agent that researches: as the gates let it, or by this handler."""
        client = await self.at_end.enter_async_context(connect(url=self.url, agent=self.name("researcher")))
        await client.serve(
            {self.research: {**definition, "handler": handler or self.gates.work}}, signals=False, grace=0
        )
        return client

    async def saver(self, file: str | Path = ":memory:") -> BaseCheckpointSaver[Any]:
        if self.kind == "async":
            return await self.at_end.enter_async_context(AsyncSqliteSaver.from_conn_string(str(file)))
        connection = sqlite3.connect(file, check_same_thread=False)
        saver = SqliteSaver(connection)

        def close() -> None:
            # A run that was let go of may still use it: closed in the middle of that, SQLite breaks the process.
            with saver.lock:
                connection.close()

        self.at_end.callback(close)
        return saver

    async def invoke(self, graph: Any, what: Any, thread: str = "t", **options: Any) -> Any:
        options = {"durability": "sync", **options}
        config = {"configurable": {"thread_id": thread}}
        if self.kind == "async":
            return await graph.ainvoke(what, config, **options)
        return await asyncio.to_thread(lambda: graph.invoke(what, config, **options))

    async def state(self, graph: Any, thread: str = "t", **options: Any) -> Any:
        config = {"configurable": {"thread_id": thread}}
        if self.kind == "async":
            return await graph.aget_state(config, **options)
        return await asyncio.to_thread(lambda: graph.get_state(config, **options))

    def resume(self, hf: Any, graph: Any, **options: Any) -> Resuming:
        return Resuming(self, hf, graph, options)

    async def done(self, what: Any) -> Any:
        """What a call of a client came to, whatever its kind."""
        return await what if asyncio.iscoroutine(what) or isinstance(what, Awaitable) else what

    async def sent_by(self, hf: Any) -> list[dict[str, Any]]:
        """Those that the agent sent, oldest first."""
        query = {"from": hf.agent, "order": "oldest"}
        found = (await self._call(hf, "list", query=query))["handoffs"]
        assert isinstance(found, list)
        return found

    async def ended(self, hf: Any, count: int = 1) -> list[dict[str, Any]]:
        """The same, once so many have ended."""

        async def look() -> list[dict[str, Any]] | None:
            sent = await self.sent_by(hf)
            return sent if len(sent) == count and all(each["ended_at"] is not None for each in sent) else None

        found = await until(look)
        assert isinstance(found, list)
        return found

    async def is_taken(self, hf: Any, id: str) -> bool:
        return (await self._call(hf, "get", params={"id": id}))["taken_at"] is not None

    async def until_taken(self, hf: Any, id: str) -> None:
        await until(lambda: self.is_taken(hf, id))

    async def _call(self, hf: Any, name: str, **options: Any) -> Any:
        if isinstance(hf, AsyncClient):
            return await hf.call(name, **options)
        return await asyncio.to_thread(lambda: hf.call(name, **options))


class Resuming:
    """A resumer, with whom it woke and what went wrong."""

    def __init__(self, bench: Bench, hf: Any, graph: Any, options: dict[str, Any]) -> None:
        self.woken: list[Woken] = []
        self.errors: list[BaseException] = []
        usual: dict[str, Any] = {"on_woken": self.woken.append, "on_error": lambda error, *_: self.errors.append(error)}
        self._waker: Any = resume_outcomes(hf, graph, **{**usual, **options})
        self._kind = bench.kind
        bench.at_end.push_async_callback(self.stop, 0)

    @property
    def how(self) -> list[str]:
        return sorted(each.how for each in self.woken)

    async def woke(self, count: int = 1) -> None:
        await until(lambda: self.errors or len(self.woken) >= count)
        assert self.errors == []
        assert len(self.woken) == count

    async def failed(self) -> BaseException:
        await until(lambda: self.errors)
        return self.errors[0]

    async def stopped(self) -> None:
        await (self._waker.stopped() if self._kind == "async" else asyncio.to_thread(self._waker.stopped))

    async def stop(self, grace: float = 20) -> None:
        if self._kind == "async":
            await self._waker.stop(grace)
        else:
            await asyncio.to_thread(self._waker.stop, grace)


async def until(test: Callable[[], Any], seconds: float = 20.0) -> Any:
    """What the test comes to, once it is true; a coroutine is awaited. Looked at often."""
    ends_at = time.monotonic() + seconds
    while True:
        value = test()
        if asyncio.iscoroutine(value):
            value = await value
        if value:
            return value
        assert time.monotonic() < ends_at, "it did not come about"
        await asyncio.sleep(0.01)
