"""A worker's handler whose work ends when the test says so."""

from __future__ import annotations

import asyncio
from typing import Any


class Gates:
    def __init__(self) -> None:
        self._gates: dict[str, asyncio.Future[Any]] = {}

    async def work(self, input: Any) -> Any:
        """``about <topic>``, once it is let through."""
        topic = input["topic"] if isinstance(input, dict) else input
        return await asyncio.shield(self._gate(topic))

    def finish(self, topic: str, output: Any = None) -> None:
        self._gate(topic).set_result(f"about {topic}" if output is None else output)

    def _gate(self, topic: str) -> asyncio.Future[Any]:
        return self._gates.setdefault(topic, asyncio.get_running_loop().create_future())
