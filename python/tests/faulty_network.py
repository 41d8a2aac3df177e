"""A network that a test makes fail: the real one, but for the calls that the test names."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import httpx

from handfast._surroundings import RealSurroundings

Send = Callable[[], Awaitable[httpx.Response]]
Lie = Callable[[dict[str, Any]], "int | None"]
Fault = Callable[[httpx.Request, Send], Awaitable[httpx.Response]]


class FaultyNetwork(RealSurroundings):
    """Every call goes through `fault`, which sends it, refuses it, loses its answer or lets it hang."""

    def __init__(self, fault: Fault) -> None:
        self._fault = fault

    def transport(self) -> httpx.AsyncBaseTransport:
        return _Transport(self._fault)


class _Transport(httpx.AsyncBaseTransport):
    def __init__(self, fault: Fault) -> None:
        self._fault = fault
        self._real = httpx.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return await self._fault(request, lambda: self._real.handle_async_request(request))

    async def aclose(self) -> None:
        await self._real.aclose()


class Liar(FaultyNetwork):
    """A relay that lies: every answer of the real one is changed by `lie`; a number is the status instead."""

    def __init__(self) -> None:
        self.lie: Lie = lambda _body: None
        super().__init__(self._changed)

    async def _changed(self, _request: httpx.Request, send: Send) -> httpx.Response:
        response = await send()
        content = await response.aread()
        if "json" not in response.headers.get("content-type", ""):
            return response
        body = json.loads(content)
        status = self.lie(body) or response.status_code
        return httpx.Response(status, headers={"content-type": "application/json"}, json=body)


def refusing(path: str, code: int, reason: str, times: int = 1) -> Fault:
    """The first calls to this path are refused with this problem; the relay never hears of them."""
    left = times

    async def fault(request: httpx.Request, send: Send) -> httpx.Response:
        nonlocal left
        if left == 0 or not request.url.path.endswith(path):
            return await send()
        left -= 1
        problem = {"code": code, "reason": reason, "detail": "It does not fit.", "retryable": False}
        headers = {"content-type": "application/problem+json"}
        return httpx.Response(code, headers=headers, content=json.dumps(problem).encode())

    return fault


def losing_answers(path: str, times: int, lost: list[str]) -> Fault:
    """The relay hears the first calls to this path and does what they ask; its answers never arrive."""

    async def fault(request: httpx.Request, send: Send) -> httpx.Response:
        response = await send()
        if len(lost) >= times or not request.url.path.endswith(path):
            return response
        said = json.loads(await response.aread())
        await response.aclose()
        if path == "/claims" and not said["leases"]:
            return httpx.Response(200, json=said)
        lost.append(request.content.decode())
        raise httpx.ReadError("the connection broke")

    return fault


def hanging(path: str) -> Fault:
    """Calls to this path are never answered."""

    async def fault(request: httpx.Request, send: Send) -> httpx.Response:
        if request.url.path.endswith(path):
            await asyncio.Event().wait()
        return await send()

    return fault


def holding_back_leases(held_back: asyncio.Event) -> Fault:
    """The first claim that gets leases is answered, and the answer never arrives."""

    async def fault(request: httpx.Request, send: Send) -> httpx.Response:
        response = await send()
        if held_back.is_set() or not request.url.path.endswith("/claims"):
            return response
        said = json.loads(await response.aread())
        if said["leases"]:
            held_back.set()
            await asyncio.Event().wait()
        return httpx.Response(200, json=said)

    return fault


class CutNetwork(RealSurroundings):
    """Nothing comes through while `is_cut`, heartbeats neither."""

    def __init__(self) -> None:
        self.is_cut = False

    def transport(self) -> httpx.AsyncBaseTransport:
        async def fault(_request: httpx.Request, send: Send) -> httpx.Response:
            self._check()
            return await send()

        return _Transport(fault)

    def thread_transport(self) -> httpx.BaseTransport:
        network = self

        class Thread(httpx.HTTPTransport):
            def handle_request(self, request: httpx.Request) -> httpx.Response:
                network._check()
                return super().handle_request(request)

        return Thread()

    def _check(self) -> None:
        if self.is_cut:
            raise httpx.ConnectError("the network is cut")
