"""The agents of a test at one relay, with what each was warned of; everything is stopped at the end."""

from __future__ import annotations

import asyncio
import base64
import os
from collections.abc import Callable
from typing import Any

import handfast
from handfast import AsyncClient, ClientWarning, HandoffView


def new_key() -> str:
    """A key of its own that nobody else has."""
    return base64.urlsafe_b64encode(os.urandom(32)).rstrip(b"=").decode()


class Stage:
    def __init__(self, url: str) -> None:
        self.url = url
        self._clients: list[AsyncClient] = []
        self._warnings: list[tuple[str, ClientWarning]] = []
        self._changed = asyncio.Condition()
        self._loop = asyncio.get_running_loop()

    async def agent(self, name: str, **options: Any) -> AsyncClient:
        """The relay is shared with other tests, so its full name has a part of its own: ``client.agent``."""
        usual: Any = {
            "url": self.url,
            "agent": f"{name}-{os.urandom(4).hex()}",
            "key": new_key(),
            "on_warning": lambda warning: self._hear(name, warning),
        }
        given = {option: value for option, value in {**usual, **options}.items() if value is not None}
        client = await handfast.connect(**given)
        self._clients.append(client)
        return client

    def warnings(self, agent: str) -> list[str]:
        return [warning.reason for name, warning in self._warnings if name == agent]

    async def warned(self, agent: str, reason: str) -> ClientWarning:
        """The agent's first warning of this reason, once there is one."""

        def found() -> ClientWarning | None:
            return next((each for name, each in self._warnings if name == agent and each.reason == reason), None)

        async with self._changed:
            await asyncio.wait_for(self._changed.wait_for(lambda: found() is not None), 15)
        warning = found()
        assert warning is not None
        return warning

    async def close(self) -> None:
        await asyncio.gather(*(client.close() for client in self._clients))

    def _hear(self, agent: str, warning: ClientWarning) -> None:
        """From any thread."""
        self._warnings.append((agent, warning))
        self._loop.call_soon_threadsafe(lambda: asyncio.ensure_future(self._tell()))

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()


def outcome_of(view: HandoffView) -> Any:
    """Of one that has ended."""
    assert view["outcome"] is not None
    return view["outcome"]


async def until(test: Callable[[], Any], seconds: float = 15.0) -> Any:
    """What the test comes to, once it is true; a coroutine function is awaited. Looked at often."""
    until_at = asyncio.get_running_loop().time() + seconds
    while True:
        value = test()
        if asyncio.iscoroutine(value):
            value = await value
        if value:
            return value
        assert asyncio.get_running_loop().time() < until_at, "it did not come about"
        await asyncio.sleep(0.02)
