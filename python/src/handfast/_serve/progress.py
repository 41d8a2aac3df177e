"""How far the work is: the whole state each time, so what comes too fast replaces what was not sent yet."""

from __future__ import annotations

import asyncio
import math
from typing import Any

from .._base import Base
from .._wire_json import plain_text
from ..errors import HandfastError
from .held import Held
from .limits import PROGRESS_NOTE_CHARS, PROGRESS_S
from .strict_detail import well_formed


class Progress:
    """Of the event loop of its server."""

    def __init__(self, base: Base, held: Held) -> None:
        self._base = base
        self._held = held
        self._unsent: dict[str, Any] | None = None
        self._sent_at = -math.inf
        self._sending: asyncio.Task[None] | None = None
        self._hurry = asyncio.Event()

    def report(self, fraction: float | None, note: str | None) -> None:
        if self._held.is_over:
            return
        self._unsent = {
            **({} if fraction is None or math.isnan(fraction) else {"fraction": min(1.0, max(0.0, float(fraction)))}),
            **({} if note is None else {"note": well_formed(plain_text(note))[:PROGRESS_NOTE_CHARS]}),
        }
        if self._sending is None:
            self._sending = asyncio.create_task(self._send_all())

    async def finish(self) -> None:
        """The last one is at the relay, or never will be."""
        self._hurry.set()
        if self._sending is not None:
            await asyncio.wait((self._sending,))

    async def _send_all(self) -> None:
        while self._unsent is not None and not self._held.is_over:
            await self._pause()
            await self._send()
        self._sending = None

    async def _pause(self) -> None:
        surroundings = self._base.surroundings
        wait = self._sent_at + PROGRESS_S - surroundings.monotonic()
        if wait <= 0 or self._hurry.is_set():
            return
        both = [asyncio.ensure_future(surroundings.sleep(wait)), asyncio.ensure_future(self._hurry.wait())]
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in both:
                each.cancel()

    async def _send(self) -> None:
        progress, self._unsent = self._unsent, None
        self._sent_at = self._base.surroundings.monotonic()
        body = {**self._held.holder, "progress": progress}
        try:
            await self._base.link.call("heartbeat", params={"id": self._held.id}, body=body, patience=PROGRESS_S)
        except HandfastError as error:
            # Lost progress is made good by the next; but it may be the first to hear that the lease is over.
            self._held.refused(error)
