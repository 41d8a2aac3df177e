"""What httpx's clients are given in place of its own transports: their way to the relay of a test."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import AsyncIterator

import httpx

from ._network import Call, End, Network
from ._threads import Threads


class Transport(httpx.AsyncBaseTransport):
    """For an httpx.AsyncClient, on whatever loop it lives."""

    def __init__(self, network: Network, end: End) -> None:
        self._network = network
        self._end = end

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        network, end = self._network, self._end
        response, call = await network.come(lambda: network.carry(end, request))
        if not call.is_stream:
            return response
        return httpx.Response(response.status_code, headers=response.headers, stream=_Stream(network, call))


class _Stream(httpx.AsyncByteStream):
    def __init__(self, network: Network, call: Call) -> None:
        self._network = network
        self._call = call

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            piece = await self._network.come(lambda: self._network.next_piece(self._call))
            if piece is None:
                return
            yield piece

    async def aclose(self) -> None:
        async def close() -> None:
            self._network.give_up(self._call)

        try:
            await self._network.come(close)
        except asyncio.CancelledError:
            # Closed already, with everything else of a process that is dead.
            if not self._call.is_over:
                raise


class ThreadTransport(httpx.BaseTransport):
    """For an httpx.Client, such as that of the heartbeats: it blocks its thread, and its timeout is virtual."""

    def __init__(self, network: Network, end: End, threads: Threads) -> None:
        self._network = network
        self._end = end
        self._threads = threads

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()
        seconds = request.extensions.get("timeout", {}).get("read")
        coroutine = self._carry(request, seconds)
        try:
            future = asyncio.run_coroutine_threadsafe(coroutine, self._network.loop)
        except RuntimeError as error:
            coroutine.close()
            raise httpx.ConnectError("the test is over") from error
        try:
            return self._threads.join_kit(future)
        except concurrent.futures.CancelledError:
            # The process that this thread belongs to is dead.
            raise SystemExit from None

    async def _carry(self, request: httpx.Request, seconds: float | None) -> httpx.Response:
        task = asyncio.ensure_future(self._network.carry(self._end, request))
        is_late = False

        def give_up() -> None:
            nonlocal is_late
            is_late = task.cancel()

        call_off = self._network.clock.after(seconds * 1_000, give_up) if seconds is not None else lambda: None
        try:
            response, _ = await task
            return response
        except asyncio.CancelledError:
            if is_late:
                raise httpx.ReadTimeout("the relay did not answer in time") from None
            raise
        finally:
            call_off()
