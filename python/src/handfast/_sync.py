"""The same client for code that blocks: it drives an AsyncClient on an event loop of its own, in a thread of its
own."""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import os
import threading
import weakref
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from typing_extensions import Self, Unpack

from ._client import AsyncClient, connect
from ._duration import Duration
from ._find import ContractState, Found, Need, TermsNeeded
from ._find.sync_find import Contract, Negotiation, blocking
from ._generated.views import QuestionView, Receipt
from ._link import closed_error
from ._operations import Params
from ._send.options import ScatterOptions, ScatterTerms, SendOptions, SendTerms, Target, Task
from ._serve.propose import Propose
from ._serve.terms import CapabilityTerms
from ._settings import ConnectOptions
from ._surroundings import Surroundings, real_surroundings
from ._sync_handle import Handle, Scatter, iterate
from .errors import HandfastError, UsageError

if TYPE_CHECKING:
    from ._serve import Capabilities, SyncServer

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

__all__ = ["Client", "Handle", "Scatter"]


class Client:
    """One agent's connection to a relay: it sends, it serves, or both. Many threads may share it.

    It works inside a running event loop too, which it then blocks; there AsyncClient is the better one.
    """

    agent: str
    """The agent's name."""
    url: str
    """Where the relay is, as it was configured."""
    key: str | None
    """Thumbprint of the agent's key; None: a token only."""

    def __init__(self, **options: Unpack[ConnectOptions]) -> None:
        """Connects.

        The agent's key is made on first use, and registered where the relay takes new agents by themselves.
        """
        self._loop = _LoopThread(options.get("surroundings", real_surroundings))
        try:
            self._client: AsyncClient = self._loop.wait(_connected(options))
        except BaseException:
            self._loop.stop()
            raise
        self.agent = self._client.agent
        self.url = self._client.url
        self.key = self._client.key
        _open_clients.add(self)

    @classmethod
    def connect(cls, **options: Unpack[ConnectOptions]) -> Self:
        """As the constructor, by the name that AsyncClient has for it."""
        return cls(**options)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.agent} at {self.url}>"

    @overload
    def send(self, target: Target, input: Any, *, expects: type[T], **options: Unpack[SendTerms]) -> Handle[T]: ...

    @overload
    def send(self, target: Target, input: Any, **options: Unpack[SendOptions]) -> Handle[Any]: ...

    def send(self, target: Target, input: Any, **options: Unpack[SendOptions]) -> Handle[Any]:
        """Gives work to an agent (``{"to": name}``), or to whoever offers a capability (a str, or ``{"capability":
        name}``).

        Returns once the relay has it on disk. With ``expects=Model`` its result is such a model.
        """
        return Handle(self._wait(self._client.send(target, input, **options)), self._wait)

    def notify(self, target: Target, input: Any, **options: Unpack[SendOptions]) -> Receipt:
        """Tells somebody something: it ends as completed when it is acknowledged."""
        return self._wait(self._client.notify(target, input, **options))

    @overload
    def scatter(self, tasks: Sequence[Task], *, expects: type[T], **options: Unpack[ScatterTerms]) -> Scatter[T]: ...

    @overload
    def scatter(self, tasks: Sequence[Task], **options: Unpack[ScatterOptions]) -> Scatter[Any]: ...

    def scatter(self, tasks: Sequence[Task], **options: Unpack[ScatterOptions]) -> Scatter[Any]:
        """Gives many pieces of work away at once, and gathers what becomes of them."""
        return Scatter(self._on_loop(lambda: self._client.scatter(tasks, **options)), self._wait)

    def handle(self, id: str) -> Handle[Any]:
        """A handle on a handoff whose id was kept, also after a restart."""
        return Handle(self._client.handle(id), self._wait)

    def gather(self, correlation: str, *, keep: bool = False) -> Scatter[Any]:
        """The handoffs of a correlation, found again: what `scatter()` gave."""
        return Scatter(self._on_loop(lambda: self._client.gather(correlation, keep=keep)), self._wait)

    def outcomes(self, *, follow: bool = True, take: bool = False) -> Generator[Handle[Any], None, None]:
        """Outcomes that were never taken, each once; then those that come.

        :param follow: Go on with what comes. False: end after what is there now.
        :param take: Take each when the loop comes back for the next one. Else each is yours to `take()`.
        """
        for handle in self._iterate(lambda: self._client.outcomes(follow=follow, take=take)):
            yield Handle(handle, self._wait)

    def questions(self, *, follow: bool = True) -> Generator[QuestionView, None, None]:
        """Open questions that were put to this agent, each once; then those that come.

        :param follow: Go on with what comes. False: end after what is open now.
        """
        return self._iterate(lambda: self._client.questions(follow=follow))

    def answer(self, question: str | QuestionView, value: Any) -> QuestionView:
        """Answers a question."""
        return self._wait(self._client.answer(question, value))

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
        """Puts a capability on a function, plain or async, for `serve()`. As that of AsyncClient."""
        return self._client.capability(
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

    def serve(
        self,
        capabilities: Capabilities | None = None,
        *,
        concurrency: int | None = None,
        worker: str | None = None,
        grace: Duration | None = None,
        signals: bool = True,
        elsewhere: Capabilities | None = None,
    ) -> SyncServer:
        """Offers capabilities, each with its handler, and works on what comes. Returns once the relay knows of them.

        Plain handlers run in threads of their own, async ones on this client's event loop. ``hf.serve().stopped()``
        goes on until it is stopped. Options as those of AsyncClient.
        """
        from ._serve import SyncServer

        serving = self._client.serve(
            capabilities, concurrency=concurrency, worker=worker, grace=grace, signals=False, elsewhere=elsewhere
        )
        server = SyncServer(self._wait(serving), self._loop.loop, self._loop.surroundings)
        if signals:
            server.watch_signals()
        return server

    def find(self, words: str | None = None, *, limit: int | None = None, **need: Unpack[Need]) -> Found:
        """Who meets a need, said in words, as what must hold, or both. As that of AsyncClient."""
        return self._wait(self._client.find(words, limit=limit, **need))

    def negotiate(self, words: str | None = None, **need: Unpack[TermsNeeded]) -> Negotiation:
        """Asks whoever meets a need for offers on these terms, in one round.

        Each offer can be accepted: that is a contract.
        """
        return blocking(self._wait(self._client.negotiate(words, **need)), self._wait)

    def contract(self, id: str) -> Contract:
        """A contract whose id was kept, also after a restart."""
        return Contract(self._wait(self._client.contract(id)), self._wait)

    def contracts(
        self, *, state: ContractState | None = None, side: Literal["asker", "provider"] | None = None
    ) -> Generator[Contract, None, None]:
        """Contracts that this agent is a party of. As that of AsyncClient."""
        for contract in self._iterate(lambda: self._client.contracts(state=state, side=side)):
            yield Contract(contract, self._wait)

    def call(
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
        """Any operation of the relay, by its name, such as ``hf.call("agents", query={"limit": 10})``."""
        return self._wait(
            self._client.call(
                name, params=params, query=query, body=body, wait=wait, patience=patience, traceparent=traceparent
            )
        )

    def close(self) -> None:
        """Stops what it serves, lets what was sent be answered, for a few seconds, and lets go of the relay.

        Whoever still waits for something on another thread is told that the client is closed.
        """
        _open_clients.discard(self)
        self._loop.close(self._client)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        return self._loop.wait(work)

    def _on_loop(self, make: Callable[[], T]) -> T:
        async def made() -> T:
            return make()

        return self._loop.wait(made())

    def _iterate(self, source: Callable[[], AsyncGenerator[T, None]]) -> Generator[T, None, None]:
        return iterate(source(), self._wait)


async def _connected(options: ConnectOptions) -> AsyncClient:
    return await connect(**options)


class _LoopThread:
    """An event loop in a thread that keeps no process alive."""

    def __init__(self, surroundings: Surroundings) -> None:
        self.surroundings = surroundings
        self.loop = asyncio.new_event_loop()
        self._process = os.getpid()
        self._closing = threading.Lock()
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="handfast-client", daemon=True)
        self._thread.start()

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """What the work comes to; interrupted, it is given up."""
        try:
            self._check()
            future = asyncio.run_coroutine_threadsafe(work, self.loop)
        except RuntimeError:  # The loop was closed this very moment.
            work.close()
            raise closed_error() from None
        except BaseException:
            work.close()
            raise
        try:
            return self.surroundings.join(future)
        except concurrent.futures.CancelledError:
            # The loop ended under it.
            raise closed_error() from None
        except HandfastError as error:
            # It says what happened and what to do: the way it took through the client would hide the caller's own line.
            future.cancel()
            raise error.with_traceback(None)  # noqa: B904 (the same error)
        except BaseException:
            future.cancel()
            raise

    def close(self, client: AsyncClient) -> None:
        if self._is_closed or os.getpid() != self._process:
            return
        self._check()
        with self._closing:
            if self._is_closed:
                return
            try:
                self.wait(client.close())
            finally:
                self._is_closed = True
                self.stop()

    def stop(self) -> None:
        """Ends the thread, and whatever is left on the loop with it."""
        self._is_closed = True
        self.loop.call_soon_threadsafe(self.loop.stop)
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _check(self) -> None:
        if os.getpid() != self._process:
            raise UsageError(
                "The client was made before this process was forked: its connection stayed in the other one.",
                "Make a client in each process, after the fork.",
                "closed",
            )
        if self._is_closed:
            raise closed_error()
        if threading.current_thread() is self._thread:
            raise UsageError(
                "The client was used on its own event loop, which would wait for itself.",
                "In async handlers and callbacks use ctx or an AsyncClient; or do it in another thread.",
            )

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self._run_to_the_end()
        finally:
            left = asyncio.all_tasks(self.loop)
            for task in left:
                task.cancel()
            self.loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
            self.loop.run_until_complete(self.loop.shutdown_asyncgens())
            self.loop.close()

    def _run_to_the_end(self) -> None:
        """asyncio lets SystemExit and KeyboardInterrupt pass, which would end the thread without a word: here they are
        what somebody's function raised, and everything else goes on."""
        while not self._is_closed:
            try:
                return self.loop.run_forever()
            except (SystemExit, KeyboardInterrupt) as error:
                said = "A function on the client's event loop raised what ends a program; the client goes on."
                self.loop.call_exception_handler({"message": said, "exception": error})


_open_clients: weakref.WeakSet[Client] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """A program that ends without closing its client still says what it took and gives back what it holds."""
    for client in list(_open_clients):
        client.close()
