"""Server-sent events, read from the pieces of a response as they come; and where a stream stands after a break."""

from __future__ import annotations

import codecs
import json
from dataclasses import dataclass, replace
from typing import Any

from ._persist import EVENT_CHARS, NotReached


@dataclass(frozen=True)
class StreamEvent:
    """One event of a stream."""

    event: str
    data: Any
    id: str | None = None
    """Where to go on after a break; events without one are not kept."""


class SseReader:
    """Of one response. The relay ends its lines with a line feed, or a carriage return before it."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._text = ""
        self._event = "message"
        self._id: str | None = None
        self._data: list[str] = []

    def read(self, piece: bytes) -> list[StreamEvent]:
        """The events that this piece completes."""
        lines = (self._text + self._decoder.decode(piece)).split("\n")
        self._text = lines.pop()
        if len(self._text) > EVENT_CHARS:
            raise NotReached("the stream has a line that does not end")
        found = [self._line(line.removesuffix("\r")) for line in lines]
        return [event for event in found if event is not None]

    def _line(self, line: str) -> StreamEvent | None:
        if line == "":
            return self._dispatch()
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            self._event = value
        elif field == "id":
            self._id = value
        elif field == "data":
            self._data.append(value)
        return None

    def _dispatch(self) -> StreamEvent | None:
        event, place, data = self._event, self._id, self._data
        self._event, self._id, self._data = "message", None, []
        if not data:
            return None
        try:
            return StreamEvent(event, json.loads("\n".join(data)), place)
        except (ValueError, RecursionError) as error:
            raise NotReached("the stream has an event that is not JSON") from error


class Resume:
    """Where a stream stands, so that a break loses and repeats nothing.

    Events go on after the last id. Chunks are read again from the start and what was seen is left out: the text may
    be a new attempt's by now, which its fence tells.
    """

    def __init__(self, name: str) -> None:
        self._is_chunks = name == "read_chunks"
        self._last_id: str | None = None
        self._fence: int | None = None
        self._next: int | None = None

    @property
    def last_event_id(self) -> str | None:
        return None if self._is_chunks else self._last_id

    def query(self, first: dict[str, Any] | None) -> dict[str, Any] | None:
        """The query of a stream that is opened anew."""
        if not self._is_chunks or self._next is None:
            return first
        return {**(first or {}), "offset": 0}

    def take(self, event: StreamEvent) -> StreamEvent | None:
        """The event as its reader gets it; None: it was seen before."""
        if self._is_chunks and event.event == "chunk":
            return self._chunk(event)
        if event.id is not None:
            self._last_id = event.id
        return event

    def jump(self, problem: dict[str, Any]) -> StreamEvent | None:
        """The log was cut after the last id: what stands there now is handed on, and the stream goes on from it."""
        cursor = problem.get("cursor")
        if not isinstance(cursor, str):
            return None
        self._last_id = cursor
        return StreamEvent("snapshot", problem.get("snapshot", []), cursor)

    def _chunk(self, event: StreamEvent) -> StreamEvent | None:
        chunk: dict[str, Any] = event.data
        text, offset = chunk["text"], chunk["offset"]
        length = utf16_length(text)
        is_same = self._fence is None or chunk["fence"] == self._fence
        self._fence = chunk["fence"]
        before = self._next if is_same else None
        known = 0 if before is None else max(0, before - offset)
        self._next = max(offset + length, before or 0)
        if known == 0:
            return event
        if known >= length:
            return None
        return replace(event, data={**chunk, "offset": offset + known, "text": utf16_cut(text, known)})


def utf16_length(text: str) -> int:
    """Offsets of chunks count UTF-16 code units, as the relay's language does."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def utf16_cut(text: str, units: int) -> str:
    """The text without its first code units."""
    if text.isascii():
        return text[units:]
    return text.encode("utf-16-le", "surrogatepass")[units * 2 :].decode("utf-16-le", "replace")
