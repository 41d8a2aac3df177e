"""What a handler is given beside its input: two kinds with the same abilities, one that is awaited and one that
blocks."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, overload

from typing_extensions import Unpack

from .._duration import Duration
from .._generated.views import Receipt
from .._link import closed_error
from .._send.handle import AsyncHandle
from .._send.options import Artifact, ScatterOptions, ScatterTerms, SendOptions, SendTerms, Target, Task
from .._send.scatter import AsyncScatter
from ..errors import UsageError
from .held import Held
from .limits import CHUNK_CHARS
from .questions import Asking
from .signals import is_of_process
from .stop_signal import StopSignal
from .workings import Workings

if TYPE_CHECKING:
    from .._sync_handle import Handle, Scatter

T = TypeVar("T")


@dataclass(frozen=True)
class Previous:
    """What earlier attempts left behind."""

    checkpoint: Any
    """The state that was kept last by ``checkpoint()``; None: none."""
    failures: Sequence[Mapping[str, Any]]
    """How earlier attempts failed."""
    questions: Sequence[Mapping[str, Any]]
    """Questions asked before, with their answers."""


class AnyContext:
    """The handoff being worked on, as its handler sees it. What is here never blocks, and may be used on any thread."""

    def __init__(self, workings: Workings) -> None:
        held: Held = workings.held
        kept = held.lease["checkpoint"]
        self._workings = workings
        self.signal: StopSignal = held.signal
        """Set when the handoff is canceled or expired, when the lease is lost, and when the worker stops."""
        self.handoff: Mapping[str, Any] = held.lease
        """The lease as the relay gave it: id, fence, sender, labels, artifacts, clocks."""
        self.idempotency_key: str = held.lease["idempotency_key"]
        """Equal across attempts: give it to whatever must not happen twice."""
        self.attempt: int = held.lease["attempt"]
        """1 for the first."""
        self.previous = Previous(
            checkpoint=None if kept is None else kept["state"],
            failures=held.lease["failures"],
            questions=held.lease["questions"],
        )

    def check(self) -> None:
        """Raises the reason, if the handler is to stop."""
        self.signal.check()

    def deadline(self) -> float:
        """What is left of the deadline, in seconds."""
        return self._workings.held.deadline()

    def progress(self, fraction: float | None = None, note: str | None = None) -> None:
        """Says how far the work is (0 to 1) and what it does. Call it as often as you like."""
        self._workings.post(lambda: self._workings.report(fraction, note))

    def use(self, *, cost: float = 0, tokens: float = 0) -> None:
        """Adds to what this attempt has used; reported with its outcome. `cost` in millionths of the unit of
        account."""
        self._workings.use(cost, tokens)

    def attach(self, artifact: Artifact) -> None:
        """Puts an artifact that is up already beside the output."""
        self._workings.artifacts.append(dict(artifact))


class AsyncContext(AnyContext):
    """For async handlers.

    What ``send``, ``notify`` and ``scatter`` give away names this handoff as its cause and carries its deadline, budget
    and trace down. A handler that is to stop is canceled, as asyncio cancels; ``signal.reason`` says why.
    """

    def __init__(self, workings: Workings) -> None:
        super().__init__(workings)
        self.canceled = asyncio.Event()
        """The signal as an event of this event loop, for what can wait for one."""
        workings.held.told.listen(self.canceled.set)

    async def write(self, text: str) -> None:
        """Streams text, in order. Await it to go no faster than the relay takes it; it never raises."""
        await self._workings.write(text)

    async def checkpoint(self, state: Any) -> None:
        """Keeps a state, durably, at most 256 KB, from which the next attempt can go on. Returns once it is kept."""
        await self._workings.checkpoint(state)

    @overload
    async def ask(
        self,
        question: Any,
        *,
        schema: type[T],
        to: str | None = None,
        within: Duration | None = None,
        park: bool = False,
        id: str | None = None,
    ) -> T: ...

    @overload
    async def ask(
        self,
        question: Any,
        *,
        schema: Any = None,
        to: str | None = None,
        within: Duration | None = None,
        park: bool = False,
        id: str | None = None,
    ) -> Any: ...

    async def ask(
        self,
        question: Any,
        *,
        schema: Any = None,
        to: str | None = None,
        within: Duration | None = None,
        park: bool = False,
        id: str | None = None,
    ) -> Any:
        """Asks the sender, or whoever offers `to`, and returns the answer.

        :param schema: What an answer must look like: a type that pydantic knows, or JSON Schema.
        :param to: A capability whose agents are asked, a human desk for instance. Default: the sender.
        :param within: How long an answer is waited for. Default: until the deadline.
        :param park: Hold no slot while waiting: the handler ends here, by an exception that it must let pass, and is
        run again from its start once there is an answer. Default: False, and the lease is kept.
        :param id: Names the question, where the order of asking differs from run to run.
        """
        return await self._workings.ask(question, Asking(to, schema, within, park, id))

    @overload
    async def send(
        self, target: Target, input: Any, *, expects: type[T], **options: Unpack[SendTerms]
    ) -> AsyncHandle[T]: ...

    @overload
    async def send(self, target: Target, input: Any, **options: Unpack[SendOptions]) -> AsyncHandle[Any]: ...

    async def send(self, target: Target, input: Any, **options: Unpack[SendOptions]) -> AsyncHandle[Any]:
        """Gives work away. Options as of the client's own ``send``."""
        return await self._workings.sending.send(target, input, **options)

    async def notify(self, target: Target, input: Any, **options: Unpack[SendOptions]) -> Receipt:
        """Tells something: ends as completed when it is acknowledged."""
        return await self._workings.sending.notify(target, input, **options)

    @overload
    def scatter(
        self, tasks: Sequence[Task], *, expects: type[T], **options: Unpack[ScatterTerms]
    ) -> AsyncScatter[T]: ...

    @overload
    def scatter(self, tasks: Sequence[Task], **options: Unpack[ScatterOptions]) -> AsyncScatter[Any]: ...

    def scatter(self, tasks: Sequence[Task], **options: Unpack[ScatterOptions]) -> AsyncScatter[Any]:
        """Gives many pieces of work away at once."""
        return self._workings.sending.scatter(tasks, **options)


class Context(AnyContext):
    """For plain handlers, which run on a thread of their own: everything blocks until it is done.

    A handler that is to stop is told by ``signal``; long loops call ``check()`` now and then.
    """

    def __init__(self, workings: Workings) -> None:
        super().__init__(workings)
        self._unwaited = 0

    @property
    def canceled(self) -> threading.Event:
        """The signal as an event, for what can wait for one."""
        return self.signal.event

    def write(self, text: str) -> None:
        """Streams text, in order, no faster than the relay takes it; it never raises."""
        # To wait for the event loop with each token would cost more than to send it.
        self._unwaited += len(text)
        if self._unwaited < CHUNK_CHARS:
            self._workings.post(lambda: self._workings.push(text))
            return
        self._unwaited = 0
        self._wait(self._workings.write(text))

    def checkpoint(self, state: Any) -> None:
        """Keeps a state, durably, at most 256 KB, from which the next attempt can go on. Returns once it is kept."""
        self._wait(self._workings.checkpoint(state))

    @overload
    def ask(
        self,
        question: Any,
        *,
        schema: type[T],
        to: str | None = None,
        within: Duration | None = None,
        park: bool = False,
        id: str | None = None,
    ) -> T: ...

    @overload
    def ask(
        self,
        question: Any,
        *,
        schema: Any = None,
        to: str | None = None,
        within: Duration | None = None,
        park: bool = False,
        id: str | None = None,
    ) -> Any: ...

    def ask(
        self,
        question: Any,
        *,
        schema: Any = None,
        to: str | None = None,
        within: Duration | None = None,
        park: bool = False,
        id: str | None = None,
    ) -> Any:
        """As that of AsyncContext: asks the sender, or whoever offers `to`, and returns the answer."""
        return self._wait(self._workings.ask(question, Asking(to, schema, within, park, id)))

    @overload
    def send(self, target: Target, input: Any, *, expects: type[T], **options: Unpack[SendTerms]) -> Handle[T]: ...

    @overload
    def send(self, target: Target, input: Any, **options: Unpack[SendOptions]) -> Handle[Any]: ...

    def send(self, target: Target, input: Any, **options: Unpack[SendOptions]) -> Handle[Any]:
        """Gives work away. Options as of the client's own ``send``."""
        from .._sync_handle import Handle

        return Handle(self._wait(self._workings.sending.send(target, input, **options)), self._wait)

    def notify(self, target: Target, input: Any, **options: Unpack[SendOptions]) -> Receipt:
        """Tells something: ends as completed when it is acknowledged."""
        return self._wait(self._workings.sending.notify(target, input, **options))

    @overload
    def scatter(self, tasks: Sequence[Task], *, expects: type[T], **options: Unpack[ScatterTerms]) -> Scatter[T]: ...

    @overload
    def scatter(self, tasks: Sequence[Task], **options: Unpack[ScatterOptions]) -> Scatter[Any]: ...

    def scatter(self, tasks: Sequence[Task], **options: Unpack[ScatterOptions]) -> Scatter[Any]:
        """Gives many pieces of work away at once."""
        from .._sync_handle import Scatter

        async def begin() -> AsyncScatter[Any]:
            return self._workings.sending.scatter(tasks, **options)

        return Scatter(self._wait(begin()), self._wait)

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        if self._workings.is_on_loop():
            work.close()
            raise UsageError(
                "A context that blocks was used on the event loop, which would wait for itself.",
                "Make the handler an async function: it is given the context that is awaited.",
            )
        kept = _kept(work)
        try:
            future = asyncio.run_coroutine_threadsafe(kept, self._workings.loop)
        except RuntimeError:  # The loop is closed, and with it the client.
            kept.close()
            work.close()
            raise closed_error() from None
        ended = self._workings.surroundings.join(future)
        if isinstance(ended, BaseException):
            raise ended
        return ended[0]


async def _kept(work: Coroutine[Any, Any, T]) -> tuple[T] | BaseException:
    """What would end the event loop, such as a validator's SystemExit, is the handler's: as a value it gets there."""
    try:
        return (await work,)
    except (SystemExit, KeyboardInterrupt) as error:
        if is_of_process(error):
            raise
        return error
