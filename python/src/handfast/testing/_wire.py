"""Requests to the relay's real port, over connections that are kept.

Made for nothing but the test relay, which is on this machine and answers in plain HTTP/1.1: a test of an hour makes a
thousand requests, and httpx's own way, with all that it provides for, would take most of its time.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx

HEAD_BYTES = 65_536


class Wire:
    """Of one event loop."""

    def __init__(self, url: str) -> None:
        self._url = httpx.URL(url)
        self._idle: list[_Connection] = []
        self._open: set[_Connection] = set()

    @property
    def connections(self) -> int:
        return len(self._open)

    async def exchange(self, request: httpx.Request, headers: list[tuple[bytes, bytes]]) -> Answer:
        """The head of the answer; the body follows. Canceled, it closes the connection, which tells the relay."""
        content = await request.aread()
        lines = [b"%s %s HTTP/1.1" % (request.method.encode(), request.url.raw_path)]
        lines += [b"%s: %s" % (name, value) for name, value in [*request.headers.raw, *headers]]
        data = b"\r\n".join([*lines, b"", content])
        while True:
            connection, is_used = await self._connection()
            try:
                return await connection.ask(data)
            except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
                connection.close()
                # One that was kept may have been closed by the relay before it heard anything.
                if not is_used:
                    raise httpx.ReadError("the connection to the relay was lost") from error
            except BaseException:
                connection.close()
                raise

    async def _connection(self) -> tuple[_Connection, bool]:
        while self._idle:
            connection = self._idle.pop()
            if connection.is_open:
                return connection, True
            connection.close()
        try:
            streams = await asyncio.open_connection(self._url.host, self._url.port, limit=HEAD_BYTES)
        except OSError as error:
            raise httpx.ConnectError("the connection to the relay was refused") from error
        connection = _Connection(self, *streams)
        self._open.add(connection)
        return connection, False

    def keep(self, connection: _Connection) -> None:
        self._idle.append(connection)

    def forget(self, connection: _Connection) -> None:
        self._open.discard(connection)

    def close(self) -> None:
        for connection in list(self._open):
            connection.close()


class _Connection:
    def __init__(self, wire: Wire, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._wire = wire
        self._writer = writer
        self.reader = reader

    @property
    def is_open(self) -> bool:
        return not self.reader.at_eof() and not self._writer.is_closing()

    async def ask(self, data: bytes) -> Answer:
        self._writer.write(data)
        head = await self.reader.readuntil(b"\r\n\r\n")
        first, *rest = head.decode("latin-1").rstrip("\r\n").split("\r\n")
        headers = httpx.Headers([(name, value.strip()) for name, _, value in (line.partition(":") for line in rest)])
        return Answer(self, int(first.split(" ", 2)[1]), headers)

    def keep(self) -> None:
        self._wire.keep(self)

    def close(self) -> None:
        self._wire.forget(self)
        self._writer.transport.abort()


class Answer:
    """A status and headers, and a body that is on its way."""

    def __init__(self, connection: _Connection, status: int, headers: httpx.Headers) -> None:
        self.status = status
        self.headers = headers
        self._connection = connection

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body as it comes. Read to its end, the connection can be used again; left before, it is closed."""
        connection = self._connection
        is_whole = False
        try:
            async for piece in self._body(connection.reader):
                yield piece
            is_whole = True
        except (OSError, asyncio.IncompleteReadError, ValueError) as error:
            raise httpx.ReadError("the connection to the relay was lost") from error
        finally:
            if is_whole and self.headers.get("connection", "").lower() != "close":
                connection.keep()
            else:
                connection.close()

    async def _body(self, reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
        if "chunked" in self.headers.get("transfer-encoding", ""):
            while size := int((await reader.readline()).split(b";")[0], 16):
                yield await reader.readexactly(size)
                await reader.readexactly(2)
            while (await reader.readline()).strip():
                pass
        elif self.status not in (204, 304):
            yield await reader.readexactly(int(self.headers.get("content-length", "0")))
