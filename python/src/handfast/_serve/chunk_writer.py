"""Streamed text on its way to the relay: in order, by offset, what comes while a chunk is on its way goes with the
next.

Nothing here ever raises: ``ctx.write`` is handed out as a plain callback, and the outcome alone is authoritative.
Offsets count UTF-16 code units, as in every language of the protocol.
"""

from __future__ import annotations

import asyncio

from .._base import Base
from .._signal import unless
from .._wire_json import plain_text
from ..errors import HandfastError, HandoffError
from .faults import message_of
from .held import Held
from .limits import CHUNK_BACKLOG_CHARS, CHUNK_CHARS, CHUNK_KEPT_CHARS, CHUNK_PENDING_CHARS
from .strict_detail import well_formed


class ChunkWriter:
    """Of the event loop of its server."""

    def __init__(self, base: Base, held: Held) -> None:
        self._base = base
        self._held = held
        self._kept: str | None = ""
        """From the beginning on, as long as it is not too much to be written once more."""
        self._pending: list[str] = []
        self._pending_chars = 0
        self._offset = 0
        self._sending: asyncio.Task[None] | None = None
        self._has_given_up = False

    async def write(self, text: str) -> None:
        """Returns at once while little waits to be sent, else when the relay has caught up."""
        self.push(text)
        if self._sending is not None and self._pending_chars > CHUNK_BACKLOG_CHARS:
            await asyncio.wait((self._sending,))

    def push(self, text: str) -> None:
        """Without waiting for anything."""
        if self._has_given_up or self._held.is_over or text == "":
            return
        self._pending.append(plain_text(text))
        self._pending_chars += len(text)
        if self._pending_chars > CHUNK_PENDING_CHARS:
            self._give_up("it is written faster than the relay takes it, and nobody waits for ctx.write")
            return
        if self._sending is None:
            self._sending = asyncio.create_task(self._send(is_last=False))

    async def finish(self) -> None:
        """Everything written so far is at the relay, or never will be."""
        if self._sending is not None:
            await asyncio.wait((self._sending,))
        # What is left is half of a pair, whose other half never came.
        await self._send(is_last=True)

    async def _send(self, *, is_last: bool) -> None:
        text = self._next(is_last)
        while text != "" and await self._put(text):
            text = self._next(is_last)
        self._sending = None

    def _next(self, is_last: bool) -> str:
        """Half of a surrogate pair waits for its other half."""
        if self._has_given_up or self._held.is_over or not self._pending:
            return ""
        whole = "".join(self._pending)
        end = min(len(whole), CHUNK_CHARS)
        if "\ud800" <= whole[end - 1] <= "\udbff" and not (is_last and end == len(whole)):
            end -= 1
        self._pending = [whole[end:]] if end < len(whole) else []
        self._pending_chars = len(whole) - end
        return well_formed(whole[:end])

    async def _put(self, text: str) -> bool:
        self._keep(text)
        try:
            await self._call(text)
        except HandoffError as error:
            if error.reason == "chunk_gap":
                return self._write_again()
            return self._refused(error)
        except HandfastError as error:
            return self._refused(error)
        self._offset += len(text.encode("utf-16-le")) // 2
        return True

    def _refused(self, error: HandfastError) -> bool:
        self._held.refused(error)
        self._give_up(message_of(error))
        return False

    def _keep(self, text: str) -> None:
        if self._kept is not None:
            self._kept = None if len(self._kept) + len(text) > CHUNK_KEPT_CHARS else self._kept + text

    def _write_again(self) -> bool:
        """The relay keeps streams in memory only: after its restart they begin anew."""
        if self._kept is None:
            self._give_up("the relay lost the stream's beginning, which is too long to be written again")
            return False
        self._pending.insert(0, self._kept)
        self._pending_chars += len(self._kept)
        self._offset = 0
        self._kept = ""
        return True

    def _give_up(self, why: str) -> None:
        self._has_given_up = True
        self._pending = []
        self._pending_chars = 0
        if self._held.is_over:
            return
        message = f"The text streamed by handoff {self._held.id} ends here: {why}"
        self._base.warn("stream_broken", message, self._held.id)

    async def _call(self, text: str) -> None:
        body = {**self._held.holder, "offset": self._offset, "text": text}
        call = self._base.link.call(
            "write_chunk", params={"id": self._held.id}, body=body, patience=self._held.deadline()
        )
        await unless(call, self._held.over)
