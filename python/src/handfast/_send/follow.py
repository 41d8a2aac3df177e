"""Streams of one handoff: its events, and the text that its worker writes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Any, TypeVar

from .._base import Base
from .._signal import Signal, unless
from .._sse import utf16_cut, utf16_length
from ..errors import HandoffError
from .limits import PAST_DEADLINE, STREAM_PATIENCE
from .sender import Sender

T = TypeVar("T")

DeadlineAt = Callable[[], "int | None"]


def _stream_patience(base: Base, deadline_at: int | None) -> float:
    """The handoff lives on where the relay is away: it may be back any time until the deadline."""
    left = ((deadline_at or 0) - base.surroundings.now()) / 1_000
    return max(STREAM_PATIENCE, left + PAST_DEADLINE)


async def until_set(source: AsyncGenerator[T, None], *signals: Signal | None) -> AsyncGenerator[T, None]:
    """The same, until a signal is set: then its error is raised."""
    try:
        while True:
            try:
                item = await unless(anext(source), *signals)
            except StopAsyncIteration:
                return
            yield item
    finally:
        await source.aclose()


async def follow_events(base: Base, handoff: str, deadline_at: int | None) -> AsyncGenerator[dict[str, Any], None]:
    """From the first event to the handoff's end."""
    patience = _stream_patience(base, deadline_at)
    async for event in base.link.stream("handoff_events", params={"id": handoff}, patience=patience):
        if event.event == "progress":
            yield {**event.data, "type": "progress"}
        elif event.event != "snapshot":
            # A snapshot stands for events that the log no longer has: there is none to tell.
            yield event.data


class AsyncChunks:
    """Streamed text, piece by piece, until the handoff ends. The outcome alone is authoritative."""

    def __init__(
        self,
        sender: Sender,
        handoff: str,
        on_restart: Callable[[], None] | None,
        explain: Callable[[HandoffError], HandoffError],
        deadline_at: DeadlineAt,
    ) -> None:
        self._sender = sender
        self._handoff = handoff
        self._on_restart = on_restart
        self._explain = explain
        self._deadline_at = deadline_at

    def __aiter__(self) -> AsyncGenerator[str, None]:
        return self._pieces(self._on_restart or (lambda: None))

    async def text(self) -> str:
        """All text of the last attempt, once the handoff has ended."""
        pieces: list[str] = []
        async for piece in self._pieces(pieces.clear):
            pieces.append(piece)
        return "".join(pieces)

    def _pieces(self, on_restart: Callable[[], None]) -> AsyncGenerator[str, None]:
        return until_set(self._texts(on_restart), self._sender.parent_signal, self._sender.base.closed)

    async def _texts(self, on_restart: Callable[[], None]) -> AsyncGenerator[str, None]:
        """A greater fence is another attempt, which writes its own text from 0 on; what was said is never said
        again."""
        base = self._sender.base
        fence: int | None = None
        following = 0
        patience = _stream_patience(base, self._deadline_at())
        try:
            async for event in base.link.stream("read_chunks", params={"id": self._handoff}, patience=patience):
                if event.event != "chunk":
                    continue
                chunk = event.data
                text, offset = chunk["text"], chunk["offset"]
                if fence is not None and chunk["fence"] != fence:
                    following = 0
                    on_restart()
                fence = chunk["fence"]
                fresh = utf16_cut(text, max(0, following - offset))
                following = max(following, offset + utf16_length(text))
                if fresh:
                    yield fresh
        except HandoffError as error:
            raise self._explain(error) from None
