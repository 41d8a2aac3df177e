"""One request and its answer: an operation put on HTTP, and what came back taken apart. Nothing is tried again here."""

from __future__ import annotations

import json
import math
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from typing import Any, Final
from urllib.parse import urlsplit

import httpx

from ._identity.public_url import is_loopback
from ._operations import TEXTS, Params, place_of
from ._persist import ANSWER, STREAM_SILENCE, WAIT_MOST, NotReached, Refused
from ._refusal import as_problem
from ._signal import within
from ._surroundings import Surroundings
from .errors import HandoffError, UsageError

ACTS_AT_ONCE = 16
"""Connections for calls that are answered at once. httpx goes through all its connections for every request, so a burst
of a thousand calls is quicker over a few of them. Calls that wait have connections of their own beside these."""

_BODY_BYTES: Final = 1_500_000
_BATCH_BODY_BYTES: Final = 16_000_000
"""What a relay reads of a call, and of a batch."""


def http_settings(url: str, at_once: int | None) -> dict[str, Any]:
    """For both kinds of client. Every timeout is the exchange's own; a proxy is never the way to this machine."""
    is_plain = url.startswith("http:")
    return {
        "timeout": None,
        "limits": httpx.Limits(max_connections=at_once, max_keepalive_connections=at_once),
        "trust_env": not is_loopback(urlsplit(url).hostname),
        "follow_redirects": False,
        # Certificates take longer to load than a handoff takes: not at all where there are none, else once.
        "verify": False if is_plain else _certificates(),
    }


@cache
def _certificates() -> ssl.SSLContext:
    return httpx.create_ssl_context()


def request_of(
    http: httpx.AsyncClient | httpx.Client,
    url: str,
    name: str,
    params: Params | None,
    query: Params | None,
    body: Any,
    headers: dict[str, str],
) -> httpx.Request:
    method, path = place_of(name, params, query)
    if body is None:
        return http.build_request(method, url + path, headers=headers)
    is_bytes = isinstance(body, (bytes, bytearray, memoryview))
    headers = {**headers, "content-type": "application/octet-stream" if is_bytes else "application/json"}
    content = bytes(body) if is_bytes else _taken(name, _json_bytes(body))
    return http.build_request(method, url + path, content=content, headers=headers)


def _taken(name: str, content: bytes) -> bytes:
    """The body, if a relay reads it.

    It refuses what is larger before it has read it, and closes the connection: whoever still writes would take it for
    one that is away, and try again. So it is said here, in the relay's words.
    """
    most = _BATCH_BODY_BYTES if name == "submit_batch" else _BODY_BYTES
    if len(content) <= most:
        return content
    detail = f"The body is larger than {most} bytes; larger payloads go as artifacts."
    raise Refused({"code": 413, "reason": "too_large", "detail": detail, "retryable": False}, 0.0)


def headers_of(authorization: str | None, traceparent: str | None = None) -> dict[str, str]:
    headers = {} if authorization is None else {"authorization": f"Bearer {authorization}"}
    return headers if traceparent is None else {**headers, "traceparent": traceparent}


def prefer(wait: float, minimal: bool) -> dict[str, str]:
    said = [*([f"wait={math.ceil(wait)}"] if wait > 0 else []), *(["return=minimal"] if minimal else [])]
    return {"prefer": ", ".join(said)} if said else {}


def read_reply(name: str, url: str, response: httpx.Response) -> Any:
    """What the relay answered; raises Refused for a problem."""
    if response.is_success and name == "get_artifact":
        return response.content
    if response.status_code == 204:
        return None
    if response.is_success and name in TEXTS:
        return response.text
    is_json, value = _parse(response.content)
    if response.is_success and is_json:
        return value
    problem = as_problem(value)
    if problem is not None:
        raise Refused(problem, _retry_after(response))
    # A relay that is not ready answers its health with 503: that is an answer.
    if name == "readyz" and is_json:
        return value
    raise _not_a_relay(response, url)


def _json_bytes(body: Any) -> bytes:
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"The body of the call cannot be written as JSON: {error}.", "Give plain data.") from error


def _parse(content: bytes) -> tuple[bool, Any]:
    try:
        return True, json.loads(content, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return False, None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _not_a_relay(response: httpx.Response, url: str) -> Exception:
    """A gateway in between, which may mend itself; or something else that listens there, which will not."""
    kind = response.headers.get("content-type", "no content type")
    message = f"{url} answered {response.status_code} with {kind}, which is not how a Handfast relay answers."
    if response.status_code >= 500 or response.status_code == 429:
        return NotReached(message)
    remedy = "Check the URL (option url, HANDFAST_URL): the relay's own, without a path."
    return HandoffError(message, code=400, reason="not_a_relay", remedy=remedy, retryable=False)


def _retry_after(response: httpx.Response) -> float:
    try:
        seconds = float(response.headers.get("retry-after", 0))
    except ValueError:
        return 0.0
    return seconds if math.isfinite(seconds) and seconds > 0 else 0.0


class Exchange:
    """Requests to one relay, one at a time or many at once."""

    def __init__(self, url: str, surroundings: Surroundings) -> None:
        self.url = url
        self._surroundings = surroundings
        transport = surroundings.transport()
        self._acts = httpx.AsyncClient(**http_settings(url, ACTS_AT_ONCE), transport=transport)
        self._waits = httpx.AsyncClient(**http_settings(url, None)) if transport is None else self._acts

    async def once(
        self,
        name: str,
        *,
        params: Params | None = None,
        query: Params | None = None,
        body: Any = None,
        authorization: str | None = None,
        wait: float = 0.0,
        answer: float = ANSWER,
        traceparent: str | None = None,
        minimal: bool = False,
    ) -> Any:
        """`answer`: how long the answer may take once the wait is over."""
        wait = min(wait, WAIT_MOST)
        headers = {**headers_of(authorization, traceparent), **prefer(wait, minimal)}
        http = self._waits if wait > 0 else self._acts
        request = request_of(http, self.url, name, params, query, body, headers)
        late = NotReached("the relay did not answer in time")
        response = await within(self._surroundings.sleep, wait + answer, _sent(http, request), lambda: late)
        return read_reply(name, self.url, response)

    @asynccontextmanager
    async def open(
        self,
        name: str,
        *,
        params: Params | None,
        query: Params | None,
        authorization: str,
        last_event_id: str | None,
        answer: float,
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """The answer as a stream of server-sent events, piece by piece."""
        headers = {**headers_of(authorization), "accept": "text/event-stream"}
        if last_event_id is not None:
            headers["last-event-id"] = last_event_id
        request = request_of(self._waits, self.url, name, params, query, None, headers)
        late = NotReached("the relay did not answer in time")
        response = await within(self._surroundings.sleep, answer, _sent(self._waits, request, True), lambda: late)
        try:
            if not response.is_success:
                await within(self._surroundings.sleep, answer, self._rest(response), lambda: late)
                read_reply(name, self.url, response)
                raise NotReached("the relay answered a stream with nothing")
            yield self._pieces(response)
        finally:
            await response.aclose()

    async def _rest(self, response: httpx.Response) -> None:
        try:
            await response.aread()
        except (httpx.HTTPError, httpx.StreamError) as error:
            raise NotReached("the answer broke off") from error

    async def _pieces(self, response: httpx.Response) -> AsyncIterator[bytes]:
        pieces = response.aiter_bytes()
        silent = NotReached("the stream went silent")
        try:
            while True:
                try:
                    yield await within(self._surroundings.sleep, STREAM_SILENCE, anext(pieces), lambda: silent)
                except StopAsyncIteration:
                    return
        except (httpx.HTTPError, httpx.StreamError) as error:
            raise NotReached("the stream broke off") from error

    async def close(self) -> None:
        await self._acts.aclose()
        await self._waits.aclose()


async def _sent(http: httpx.AsyncClient, request: httpx.Request, stream: bool = False) -> httpx.Response:
    try:
        return await http.send(request, stream=stream)
    except (httpx.HTTPError, httpx.StreamError) as error:
        raise NotReached("the call did not reach the relay") from error
