"""Waits for handoffs to be acknowledged or to end.

Each is one call that the relay holds open; a relay bounds how many an agent may have. Beyond that bound a wait holds
no call of its own: one call for all hears of outcomes that come, and each looks for itself now and then, in case
somebody else took its outcome first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Literal

from .._base import Base
from .._signal import within
from ..errors import HandfastError, RelayUnreachable
from .limits import LOOK, LOOK_FOR_ACK, PAUSE_LEAST, WAIT, WAITS
from .newcomers import untaken

Until = Literal["acknowledged", "ended"]
View = dict[str, Any]

_ENDS = {"completed", "failed", "rejected", "canceled", "expired"}


def has_ended(view: Any) -> bool:
    return view["state"] in _ENDS


def _is_acknowledged(view: View) -> bool:
    return view["state"] in ("working", "waiting") or has_ended(view)


class Waits:
    """Of one client."""

    def __init__(self, base: Base, most: int = WAITS) -> None:
        self._base = base
        self._most = most
        self._held = 0
        # Those that wait without a call of their own, by handoff.
        self._listening: dict[str, set[asyncio.Future[View]]] = {}
        self._feed: asyncio.Task[None] | None = None

    async def until(self, handoff: str, until: Until, deadline_at: Callable[[], int | None]) -> View:
        """A relay that is away is waited for until `deadline_at`, where that is known: the handoff lives on there."""
        is_ready = has_ended if until == "ended" else _is_acknowledged
        while True:
            try:
                view = await self._look(handoff, until)
                if is_ready(view):
                    return view
            except RelayUnreachable:
                if self._base.closed.is_set or self._base.surroundings.now() >= (deadline_at() or 0):
                    raise
                # The link was as patient as it is set to be: with no patience at all this would be a busy loop.
                await self._base.surroundings.sleep(PAUSE_LEAST)

    async def _look(self, handoff: str, until: Until) -> View:
        if self._held >= self._most:
            return await self._listen(handoff, until)
        self._held += 1
        try:
            return await self._get(handoff, until, WAIT)
        finally:
            self._held -= 1

    async def _get(self, handoff: str, until: Until, wait: float | None) -> View:
        view: View = await self._base.link.call("get", params={"id": handoff}, query={"until": until}, wait=wait)
        return view

    async def _listen(self, handoff: str, until: Until) -> View:
        """Begins to listen before it looks: an outcome between the two is then heard."""
        heard: asyncio.Future[View] = asyncio.get_running_loop().create_future()
        listeners = self._listening.setdefault(handoff, set())
        listeners.add(heard)
        if self._feed is None:
            self._feed = asyncio.ensure_future(self._hear())
        try:
            view = await self._get(handoff, until, None)
            if has_ended(view) if until == "ended" else _is_acknowledged(view):
                return view
            look = LOOK if until == "ended" else LOOK_FOR_ACK
            try:
                return await within(self._base.surroundings.sleep, look, heard, TimeoutError)
            except TimeoutError:
                return view
        finally:
            heard.cancel()
            listeners.discard(heard)
            if not listeners:
                self._listening.pop(handoff, None)
            if not self._listening and self._feed is not None:
                self._feed.cancel()
                self._feed = None

    async def _hear(self) -> None:
        feed = asyncio.current_task()
        try:
            async for view in untaken(self._base, True):
                for heard in self._listening.get(view["id"], ()):
                    if not heard.done():
                        heard.set_result(view)
        except HandfastError:
            # Each that listens looks for itself too, and tells its caller what is wrong.
            pass
        finally:
            if self._feed is feed:
                self._feed = None
