"""Both kinds of client and of context, one that is awaited and one that blocks, as one.

What an adapter does with the relay is a coroutine on ``sender_of`` or ``async_client_of``; ``awaited`` and ``blocked``
run it on the event loop that it belongs to, from code of either kind.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Protocol, TypeVar, Union

from typing_extensions import Unpack

from .._client import AsyncClient
from .._send.handle import AsyncHandle
from .._send.options import SendOptions, Target
from .._serve import AsyncContext, Context
from .._serve.threads import HandlerThreads
from .._sync import Client
from ..errors import UsageError

T = TypeVar("T")

AnyClient = Union[Client, AsyncClient]
AnySender = Union[Client, AsyncClient, Context, AsyncContext]
"""A client, or the context of a handoff being worked on: what it sends is below that handoff."""


class AsyncSender(Protocol):
    """What can be sent with."""

    async def send(self, target: Target, input: Any, **options: Unpack[SendOptions]) -> AsyncHandle[Any]:
        """Gives work away."""


def async_client_of(hf: AnyClient) -> AsyncClient:
    """The client whose coroutines do the work."""
    return hf._client if isinstance(hf, Client) else hf


def sender_of(owner: AnySender) -> AsyncSender:
    """The same for sending."""
    if isinstance(owner, Context):
        return owner._workings.sending
    return owner._client if isinstance(owner, Client) else owner


def handle_of(owner: AnySender, handoff: str) -> AsyncHandle[Any]:
    """A handle on a handoff whose id was kept. Of a context its waits end with the handoff being worked on."""
    if isinstance(owner, (Context, AsyncContext)):
        return AsyncHandle(owner._workings.sending._sender, handoff)
    return async_client_of(owner).handle(handoff)


async def awaited(owner: AnySender, work: Coroutine[Any, Any, T]) -> T:
    """What the work comes to, wherever the owner's event loop is. Canceled, it is canceled there."""
    if isinstance(owner, (AsyncClient, AsyncContext)):
        return await work
    loop = owner._loop.loop if isinstance(owner, Client) else owner._workings.loop
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, loop))


def blocked(owner: AnySender, work: Coroutine[Any, Any, T]) -> T:
    """What the work comes to, for code that blocks."""
    if isinstance(owner, (Client, Context)):
        return owner._wait(work)
    work.close()
    kind = type(owner).__name__
    raise UsageError(
        f"Code that blocks was given an {kind}, which must be awaited.",
        "Give it a Client (and serve with one), or run the async way of the framework.",
    )


class BlockingWork:
    """Runs a framework's blocking calls beside an event loop, on threads that keep no process alive."""

    def __init__(self, hf: AnyClient, most: int) -> None:
        self._surroundings = async_client_of(hf)._base.surroundings
        self._threads = HandlerThreads(most)

    async def run(self, work: Callable[[], T]) -> T:
        """What the work comes to. Canceled, the thread goes on with it: Python cannot stop one."""
        return await self._surroundings.in_thread(work, self._threads)

    def close(self) -> None:
        self._threads.shutdown(wait=False)
