"""The way to a relay: operations by name over HTTP, long polls for waits, server-sent events for streams.

A call is repeated by the link itself, with backoff, while the relay is away or says that a retry can help: every
operation is idempotent by its ids, keys and fences, so a repeat changes nothing. It raises a HandoffError when the
relay refuses, a RelayUnreachable when the patience is over without an answer, and a UsageError (``closed``) when the
client was closed.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any, Protocol, TypeVar

import httpx

from ._exchange import ACTS_AT_ONCE, Exchange, headers_of, http_settings, read_reply, request_of
from ._operations import Params, id_of, is_ready
from ._persist import (
    ANSWER,
    WAIT_MOST,
    ComeBack,
    Failures,
    NotReached,
    Refused,
    answer_within,
    backoff,
    persist,
)
from ._refusal import refusal_of
from ._signal import Signal, unless, within
from ._sse import Resume, SseReader, StreamEvent
from ._surroundings import Surroundings
from .errors import HandoffError, UsageError

T = TypeVar("T")


class Identity(Protocol):
    """Who calls: what proves it to the relay."""

    def authorization(self, fresh: bool = False) -> str:
        """A session credential that lives for a while yet, or the token.

        From any thread. `fresh`: the last was refused.
        """

    async def readmit(self) -> None:
        """The relay says that it does not know the agent: registers it (again). Raises where it cannot."""

    def returned(self) -> None:
        """The relay was away and is back: it may have forgotten what the agent offers, though not the agent."""


class Link:
    """The calls of one connected agent. Of one event loop; other threads take a ThreadLink."""

    def __init__(
        self,
        exchange: Exchange,
        identity: Identity,
        surroundings: Surroundings,
        patience: float,
        on_connection: Callable[[str], None],
    ) -> None:
        self._exchange = exchange
        self._identity = identity
        self._surroundings = surroundings
        self._patience = patience
        self._on_connection = on_connection
        self._closed = Signal()
        # Calls that were sent and do not merely wait: close() lets them finish.
        self._acts: set[asyncio.Future[None]] = set()
        self._was_away = False

    async def call(
        self,
        name: str,
        *,
        params: Params | None = None,
        query: Params | None = None,
        body: Any = None,
        wait: float | None = None,
        patience: float | None = None,
        answer: float | None = None,
        traceparent: str | None = None,
        minimal: bool = False,
    ) -> Any:
        """One operation, by its name; the answer is the JSON of its reply.

        :param wait: Seconds that the relay is asked to wait for what the call is about; asked anew until they are over.
        :param patience: Seconds to go on trying while the relay is away. Default: the client's. ``math.inf``: for ever.
        :param answer: For a call that may not wait long, such as a heartbeat: the most that one try may take.
        :param minimal: The answer may leave out what the caller has or can ask for.
        """
        most = self._answer_within(patience, answer)

        def attempt(wait: float) -> Callable[[], Awaitable[Any]]:
            return lambda: self._authorized(
                id_of(params),
                lambda authorization: self._exchange.once(
                    name,
                    params=params,
                    query=query,
                    body=body,
                    authorization=authorization,
                    wait=wait,
                    answer=most,
                    traceparent=traceparent,
                    minimal=minimal,
                ),
            )

        whole = self._wait_for(name, query, wait or 0.0, lambda wait: self._persist(patience, attempt(wait)))
        if wait:
            return await unless(whole, self._closed)
        act: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._acts.add(act)
        try:
            return await unless(whole, self._closed)
        finally:
            self._acts.discard(act)
            act.cancel()

    async def stream(
        self,
        name: str,
        *,
        params: Params | None = None,
        query: dict[str, Any] | None = None,
        patience: float | None = None,
    ) -> AsyncIterator[StreamEvent]:
        """``handoff_events``, ``correlation_events`` or ``read_chunks``, event by event.

        Goes on over breaks by itself, from the last event's id or the last offset of chunks; a new fence's text begins
        anew. Ends after the stream's own end, which is not handed on. Where the log was cut after the last id, an event
        ``snapshot`` stands for what is gone.
        """
        resume = Resume(name)
        breaks = 0
        while True:
            async with AsyncExitStack() as stack:
                try:
                    pieces = await unless(self._open(stack, name, params, query, patience, resume), self._closed)
                except HandoffError as error:
                    jump = resume.jump(error.problem) if error.reason == "cursor_too_old" and error.problem else None
                    if jump is None:
                        raise
                    yield jump
                    continue
                reader = SseReader()
                is_cut = False
                try:
                    while not is_cut:
                        for event in reader.read(await unless(anext(pieces), self._closed)):
                            if event.event == "end":
                                return
                            if event.event == "cut":
                                is_cut = True
                                break
                            breaks = 0
                            taken = resume.take(event)
                            if taken is not None:
                                yield taken
                except (NotReached, StopAsyncIteration):
                    pass
            breaks += 1
            await unless(self._surroundings.sleep(backoff(breaks, self._surroundings)), self._closed)

    async def close(self, grace: float) -> None:
        """Waits for what was sent, up to `grace` seconds, then lets go."""
        if self._acts and grace > 0 and not self._closed.is_set:
            acts = asyncio.wait([asyncio.ensure_future(_settled(act)) for act in self._acts])
            try:
                await within(self._surroundings.sleep, grace, acts, TimeoutError)
            except TimeoutError:
                pass
        self._closed.set(closed_error())
        await self._exchange.close()

    async def _open(
        self,
        stack: AsyncExitStack,
        name: str,
        params: Params | None,
        query: dict[str, Any] | None,
        patience: float | None,
        resume: Resume,
    ) -> AsyncIterator[bytes]:
        async def opened(authorization: str) -> AsyncIterator[bytes]:
            stream = self._exchange.open(
                name,
                params=params,
                query=resume.query(query),
                authorization=authorization,
                last_event_id=resume.last_event_id,
                answer=self._answer_within(patience, None),
            )
            return await stack.enter_async_context(stream)

        return await self._persist(patience, lambda: self._authorized(id_of(params), opened))

    async def _persist(self, patience: float | None, attempt: Callable[[], Awaitable[T]]) -> T:
        most = self._patience if patience is None else patience
        return await persist(self._exchange.url, self._surroundings, most, attempt)

    async def _authorized(self, handoff: str | None, send: Callable[[str], Awaitable[T]]) -> T:
        """With a credential; once more with a new one, or after registering, where the relay asks for that."""
        fresh = False
        tries = 0
        while True:
            tries += 1
            try:
                reply = await send(self._identity.authorization(fresh))
            except NotReached:
                if not self._was_away:
                    self._was_away = True
                    self._on_connection("away")
                raise
            except Refused as refused:
                refusal = refusal_of(refused, handoff)
                if refusal.kind == "final" or tries > 2 or (refusal.kind == "stale_credential" and fresh):
                    raise refusal.error from None
                if refusal.kind == "unknown_agent":
                    await self._identity.readmit()
                fresh = True
                continue
            if self._was_away:
                self._was_away = False
                self._identity.returned()
                self._on_connection("back")
            return reply

    async def _wait_for(
        self, name: str, query: Params | None, whole: float, ask: Callable[[float], Awaitable[Any]]
    ) -> Any:
        """A relay waits for a minute at most, so it is asked anew until there is an answer or the wait is over."""
        clock = self._surroundings.monotonic
        until = clock() + whole
        while True:
            asked_at = clock()
            wait = min(max(0.0, until - asked_at), WAIT_MOST)
            reply = await ask(wait)
            now = clock()
            if now >= until or is_ready(name, query, reply):
                return reply
            # A relay that stops answers its waits early: come back in a moment, not at once.
            if now - asked_at < wait:
                await self._surroundings.sleep(backoff(1, self._surroundings))

    def _answer_within(self, patience: float | None, answer: float | None) -> float:
        most = answer_within(self._patience if patience is None else patience)
        return most if answer is None else min(most, answer)


async def _settled(act: asyncio.Future[None]) -> None:
    await asyncio.wait((act,))


class ThreadLink:
    """Calls of a thread of its own, over a connection of its own: heartbeats go on while the event loop is blocked."""

    def __init__(self, url: str, identity: Identity, surroundings: Surroundings) -> None:
        self._url = url
        self._identity = identity
        self._surroundings = surroundings
        self._closed = threading.Event()
        settings = http_settings(url, ACTS_AT_ONCE)
        self._http = httpx.Client(**settings, transport=surroundings.thread_transport())

    def call(
        self,
        name: str,
        *,
        params: Params | None = None,
        query: Params | None = None,
        body: Any = None,
        patience: float = 0.0,
        answer: float = ANSWER,
    ) -> Any:
        """As Link.call, but it blocks, does not wait, and cannot register an agent that the relay has forgotten.

        Only the client itself knows what the agent offers: it registers again, and the next heartbeat finds it known.

        :param patience: Seconds to go on trying while the relay is away. Default: one try.
        :param answer: The most that one try may take, by the system's own clock.
        """
        failures = Failures(self._url, self._surroundings, patience)
        while True:
            if self._closed.is_set():
                raise closed_error()
            try:
                return self._authorized(name, params, query, body, answer)
            except (NotReached, ComeBack) as error:
                pause = failures.pause_after(error)
            self._surroundings.wait(self._closed, pause)

    def close(self) -> None:
        """Ends pauses too; a request that is under way ends by itself."""
        self._closed.set()
        self._http.close()

    def _authorized(self, name: str, params: Params | None, query: Params | None, body: Any, answer: float) -> Any:
        fresh = False
        while True:
            try:
                return self._once(name, params, query, body, answer, self._identity.authorization(fresh))
            except Refused as refused:
                refusal = refusal_of(refused, id_of(params))
                if refusal.kind != "stale_credential" or fresh:
                    raise refusal.error from None
                fresh = True

    def _once(
        self, name: str, params: Params | None, query: Params | None, body: Any, answer: float, authorization: str
    ) -> Any:
        request = request_of(self._http, self._url, name, params, query, body, headers_of(authorization))
        request.extensions = {**request.extensions, "timeout": httpx.Timeout(answer).as_dict()}
        try:
            response = self._http.send(request)
        except (httpx.HTTPError, httpx.StreamError, RuntimeError) as error:
            # The last is httpx's word for a client that was closed meanwhile.
            raise NotReached("the call did not reach the relay") from error
        return read_reply(name, self._url, response)


def closed_error() -> UsageError:
    return UsageError("The client is closed.", "Connect again, and close it when everything is done.", "closed")


def cannot_sign() -> UsageError:
    return UsageError("This client has a token and no key: it cannot sign.", "Connect with a key, or send it plainly.")
