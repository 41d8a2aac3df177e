"""A connected agent, as users hold it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from typing_extensions import Self, Unpack

from ._base import Base
from ._connect import open_base
from ._duration import Duration, to_seconds
from ._find import (
    AsyncContract,
    AsyncNegotiation,
    ContractState,
    Found,
    Need,
    TermsNeeded,
    find,
    list_contracts,
    negotiate,
    read_contract,
)
from ._generated.views import QuestionView, Receipt
from ._link import closed_error
from ._operations import Params
from ._send.handle import AsyncHandle
from ._send.options import ScatterOptions, ScatterTerms, SendOptions, SendTerms, Target, Task
from ._send.scatter import AsyncScatter
from ._send.sending import Sending
from ._serve.capabilities import Registry
from ._serve.propose import Propose
from ._serve.terms import CapabilityTerms
from ._settings import ConnectOptions
from .errors import UsageError

if TYPE_CHECKING:
    from ._serve import Capabilities, Server

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

_CLOSE_GRACE = 5.0
"""How long close() waits for what was sent and not yet answered."""


def connect(**options: Unpack[ConnectOptions]) -> Connecting:
    """Connects to a relay as an agent: ``hf = await connect()``, or ``async with connect() as hf:``.

    The agent's key is made on first use, and registered where the relay takes new agents by themselves; otherwise the
    error says what an operator must do.
    """
    return Connecting(options)


class Connecting:
    """An agent that is about to connect: await it, or enter it."""

    def __init__(self, options: ConnectOptions) -> None:
        self._options = options
        self._client: AsyncClient | None = None

    def __await__(self) -> Generator[Any, None, AsyncClient]:
        return self._connect().__await__()

    async def __aenter__(self) -> AsyncClient:
        self._client = await self._connect()
        return self._client

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._client is not None:
            await self._client.close()

    async def _connect(self) -> AsyncClient:
        return AsyncClient(await open_base(self._options))


class AsyncClient:
    """One agent's connection to a relay: it sends, it serves, or both. Made by `connect()`; of one event loop."""

    agent: str
    """The agent's name."""
    url: str
    """Where the relay is, as it was configured."""
    key: str | None
    """Thumbprint of the agent's key; None: a token only."""

    def __init__(self, base: Base | None = None, **options: Unpack[ConnectOptions]) -> None:
        """For `connect()`, which awaits the relay as a constructor cannot."""
        if not isinstance(base, Base):
            raise UsageError(
                "An AsyncClient is connected when it is made, and that has to be awaited.",
                'Write async with handfast.connect(agent="planner") as hf: or hf = await handfast.connect(...), with '
                "the same options; handfast.Client(...) is for code that blocks.",
            )
        self._base = base
        self._sending = Sending(base)
        self._registry = Registry()
        self._servers: set[Server] = set()
        self._closing: asyncio.Task[None] | None = None
        self.agent = base.agent
        self.url = base.url
        self.key = None if base.key is None else base.key.thumbprint

    @classmethod
    def connect(cls, **options: Unpack[ConnectOptions]) -> Connecting:
        """As the function `connect`."""
        return Connecting(options)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.agent} at {self.url}>"

    @overload
    async def send(
        self, target: Target, input: Any, *, expects: type[T], **options: Unpack[SendTerms]
    ) -> AsyncHandle[T]: ...

    @overload
    async def send(self, target: Target, input: Any, **options: Unpack[SendOptions]) -> AsyncHandle[Any]: ...

    async def send(self, target: Target, input: Any, **options: Unpack[SendOptions]) -> AsyncHandle[Any]:
        """Gives work to an agent (``{"to": name}``), or to whoever offers a capability (a str, or ``{"capability":
        name}``).

        Returns once the relay has it on disk. With ``expects=Model`` its result is such a model.
        """
        return await self._sending.send(target, input, **options)

    async def notify(self, target: Target, input: Any, **options: Unpack[SendOptions]) -> Receipt:
        """Tells somebody something: it ends as completed when it is acknowledged."""
        return await self._sending.notify(target, input, **options)

    @overload
    def scatter(
        self, tasks: Sequence[Task], *, expects: type[T], **options: Unpack[ScatterTerms]
    ) -> AsyncScatter[T]: ...

    @overload
    def scatter(self, tasks: Sequence[Task], **options: Unpack[ScatterOptions]) -> AsyncScatter[Any]: ...

    def scatter(self, tasks: Sequence[Task], **options: Unpack[ScatterOptions]) -> AsyncScatter[Any]:
        """Gives many pieces of work away at once, and gathers what becomes of them."""
        return self._sending.scatter(tasks, **options)

    def handle(self, id: str) -> AsyncHandle[Any]:
        """A handle on a handoff whose id was kept, also after a restart."""
        return self._sending.handle(id)

    def gather(self, correlation: str, *, keep: bool = False) -> AsyncScatter[Any]:
        """The handoffs of a correlation, found again: what `scatter()` gave."""
        return self._sending.gather(correlation, keep=keep)

    def outcomes(self, *, follow: bool = True, take: bool = False) -> AsyncGenerator[AsyncHandle[Any], None]:
        """Outcomes that were never taken, each once; then those that come.

        :param follow: Go on with what comes. False: end after what is there now.
        :param take: Take each when the loop comes back for the next one. Else each is yours to `take()`.
        """
        return self._sending.outcomes(follow=follow, take=take)

    def questions(self, *, follow: bool = True) -> AsyncGenerator[QuestionView, None]:
        """Open questions that were put to this agent, each once; then those that come.

        :param follow: Go on with what comes. False: end after what is open now.
        """
        return self._sending.questions(follow=follow)

    async def answer(self, question: str | QuestionView, value: Any) -> QuestionView:
        """Answers a question."""
        return await self._sending.answer(question, value)

    def capability(
        self,
        name: str | None = None,
        *,
        input: Any = None,
        output: Any = None,
        timeout: Duration | None = None,
        description: str | None = None,
        version: str | None = None,
        tags: Sequence[str] | None = None,
        idempotent: bool | None = None,
        ext: dict[str, Any] | None = None,
        text: bool = False,
        propose: Propose | None = None,
        **terms: Unpack[CapabilityTerms],
    ) -> Callable[[F], F]:
        """Puts a capability on a function, plain or async, for `serve()`; the function stays callable as before.

        :param name: Default: the function's own.
        :param input: Any type that pydantic knows, JSON Schema, or shorthand. Default: what the annotations say.
        :param timeout: The attempt clock: how long one attempt may run. Default: the relay's, 5 minutes.
        :param description: Default: the function's docstring.
        :param idempotent: False: never run a second time once it was acknowledged.
        :param text: The handler is given text and returns text, sent as plain text and not as JSON.
        :param propose: Asked before an offer is made in this agent's name: ``propose(call)``, plain or async, prices,
            narrows the terms, or declines by raising ``Reject``.
        :param terms: What else the manifest says of it: reliability, sla, side_effects, examples, max_concurrent,
            latency, cost, data_policy, questions, proposes. See `CapabilityDefinition`.
        """
        return self._registry.capability(
            name,
            input=input,
            output=output,
            timeout=timeout,
            description=description,
            version=version,
            tags=tags,
            idempotent=idempotent,
            ext=ext,
            text=text,
            propose=propose,
            **terms,
        )

    async def serve(
        self,
        capabilities: Capabilities | None = None,
        *,
        concurrency: int | None = None,
        worker: str | None = None,
        grace: Duration | None = None,
        signals: bool = True,
        elsewhere: Capabilities | None = None,
    ) -> Server:
        """Offers capabilities, each with its handler, and works on what comes. Returns once the relay knows of them.

        :param capabilities: Handlers by capability, besides those that `capability()` was put on.
        :param concurrency: Handoffs worked on at once. Default: 10.
        :param worker: The name of this process among the workers of its agent. Default: a random one.
        :param grace: How long running handlers may take to end when the worker stops. Default: 20 seconds.
        :param signals: Stop in order on SIGTERM and SIGINT; a second signal ends the process.
        :param elsewhere: Capabilities that other processes of this agent serve, with or without their handlers: they
            stand in its manifest, and this process takes no work for them. With it, work that names the agent and no
            capability is taken by none of these processes.
        """
        from ._serve import ServeOptions, serve

        given = {"concurrency": concurrency, "worker": worker, "grace": grace, "elsewhere": elsewhere}
        options: Any = {name: value for name, value in given.items() if value is not None}
        server = await serve(
            self._base,
            self._registry.with_given(capabilities),
            ServeOptions(signals=signals, **options),
            sending=self._sending,
        )
        self._servers.add(server)
        server.on_stopped(lambda: self._servers.discard(server))
        return server

    async def find(self, words: str | None = None, *, limit: int | None = None, **need: Unpack[Need]) -> Found:
        """Who meets a need, said in words, as what must hold, or both: ``await hf.find("translates", tags=["fr"])``.

        Nobody is no error: `hits` is empty, and `near` tells why.

        :param words: What it is about, in plain words.
        :param limit: How many hits at most, up to 100. Default: the relay's.
        """
        return await find(self._base, words, limit, need)

    async def negotiate(self, words: str | None = None, **need: Unpack[TermsNeeded]) -> AsyncNegotiation:
        """Asks whoever meets a need for offers on these terms, in one round.

        Each offer can be accepted: that is a contract.
        """
        return await negotiate(self._base, self._sending, words, need)

    async def contract(self, id: str) -> AsyncContract:
        """A contract whose id was kept, also after a restart."""
        return await read_contract(self._base, self._sending, id)

    def contracts(
        self, *, state: ContractState | None = None, side: Literal["asker", "provider"] | None = None
    ) -> AsyncGenerator[AsyncContract, None]:
        """Contracts that this agent is a party of.

        :param side: Only those in which this agent is on this side. Default: both.
        """
        return list_contracts(self._base, self._sending, state, side)

    async def call(
        self,
        name: str,
        *,
        params: Params | None = None,
        query: Params | None = None,
        body: Any = None,
        wait: Duration | None = None,
        patience: Duration | None = None,
        traceparent: str | None = None,
    ) -> Any:
        """Any operation of the relay, by its name, such as ``hf.call("agents", query={"limit": 10})``.

        :param wait: How long the relay is asked to wait for what the call is about.
        :param patience: How long to go on trying while the relay is away. Default: the client's.
        """
        return await self._base.link.call(
            name,
            params=params,
            query=query,
            body=body,
            wait=None if wait is None else to_seconds(wait, "The option wait"),
            patience=None if patience is None else to_seconds(patience, "The option patience"),
            traceparent=traceparent,
        )

    async def close(self) -> None:
        """Stops what it serves, lets what was sent be answered, for a few seconds, and lets go of the relay."""
        if self._closing is None:
            self._closing = asyncio.ensure_future(self._close())
        # Given up by one who waits for it, it goes on all the same.
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        await asyncio.gather(*(server.stop() for server in self._servers))
        await self._sending.settled()
        self._base.closed.set(closed_error())
        await self._base.link.close(_CLOSE_GRACE)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self.close()
