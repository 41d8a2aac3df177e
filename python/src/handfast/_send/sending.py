"""The sending side of a client, put together; and the same for a handler, in the name of the handoff it works on."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from typing_extensions import Unpack

from .._acts import answer
from .._base import Base
from .._generated.views import QuestionView, Receipt
from .._protocol.ids import is_id, is_text_id, make_id
from ..errors import UsageError
from .errands import Errands
from .follow import until_set
from .gather import find_handles
from .handle import AsyncHandle
from .newcomers import open_questions, untaken
from .options import ScatterOptions, SendOptions, Target, Task
from .scatter import AsyncScatter
from .sender import Parent, Sender
from .submit import correlation_of, submit_one, submit_tasks
from .waits import Waits


class SendingFrom:
    """What a handler of `serve()` may send in the name of the handoff it works on."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    async def send(self, target: Target, input: Any, **options: Unpack[SendOptions]) -> AsyncHandle[Any]:
        """Gives work away."""
        receipt = await submit_one(self._sender, "handoff", target, input, options)
        return AsyncHandle(
            self._sender,
            receipt["id"],
            receipt=receipt,
            demands=options.get("evidence"),
            expects=options.get("expects"),
        )

    async def notify(self, target: Target, input: Any, **options: Unpack[SendOptions]) -> Receipt:
        """Tells something: ends as completed when it is acknowledged."""
        return await submit_one(self._sender, "notice", target, input, options)

    def scatter(self, tasks: Sequence[Task], **options: Unpack[ScatterOptions]) -> AsyncScatter[Any]:
        """Gives many pieces of work away at once.

        Up to 1000 tasks, with 16 MB of input together, are accepted all or none; more go in batches of 1000, one after
        the other, and what was accepted is canceled if a later batch is refused.
        """
        sender = self._sender
        surroundings = sender.base.surroundings
        if not isinstance(tasks, Iterable):
            remedy = 'Give a list of tasks: [{"capability": ..., "input": ...}].'
            raise UsageError(f"The tasks of the scatter are {tasks!r}.", remedy)
        tasks = list(tasks)
        correlation = correlation_of(
            sender, options, lambda: make_id(surroundings.now(), surroundings.random_bytes(10))
        )
        handles = submit_tasks(sender, tasks, correlation, options)
        return AsyncScatter(sender, correlation, handles, options.get("keep", False))


class Sending(SendingFrom):
    """The sending side of a client. Once per client."""

    def __init__(self, base: Base) -> None:
        super().__init__(Sender(base, Waits(base), Errands(base)))

    def handle(self, handoff: str) -> AsyncHandle[Any]:
        """A handle on a handoff whose id was kept."""
        if not is_id(handoff):
            remedy = "Ids are UUIDv7 in lowercase, as a handle's id says it."
            raise UsageError(f"{handoff!r} is no id of a handoff.", remedy)
        return AsyncHandle(self._sender, handoff)

    def gather(self, correlation: str, *, keep: bool = False) -> AsyncScatter[Any]:
        """The handoffs that this agent sent under a correlation: what `scatter()` gave, found again."""
        if not is_text_id(correlation):
            # Nothing said would mean all that this agent ever sent.
            raise UsageError(f"{correlation!r} is no correlation.", "Give that of a scatter: its correlation says it.")
        return AsyncScatter(self._sender, correlation, find_handles(self._sender, correlation), keep)

    def outcomes(self, *, follow: bool = True, take: bool = False) -> AsyncGenerator[AsyncHandle[Any], None]:
        """Outcomes that were never taken, each once; then those that come. Their `result()` is at hand."""
        return until_set(self._outcomes(follow, take), self._sender.base.closed)

    def questions(self, *, follow: bool = True) -> AsyncGenerator[QuestionView, None]:
        """Open questions put to this agent, each once; then those that come."""
        found = cast("AsyncGenerator[QuestionView, None]", open_questions(self._sender.base, follow))
        return until_set(found, self._sender.base.closed)

    async def answer(self, question: str | QuestionView, value: Any) -> QuestionView:
        """Answers a question. Repeated alike it is answered alike; another answer is a conflict (409)."""
        known = question if isinstance(question, str) else cast("Mapping[str, Any]", question)
        if not isinstance(known, str) and not (isinstance(known, Mapping) and isinstance(known.get("id"), str)):
            raise UsageError(f"{question!r} is no question.", "Give one as questions() tells it, or its id.")
        return cast(QuestionView, await answer(self._sender.base, known, value))

    def of(self, parent: Parent) -> SendingFrom:
        """The same for a handler: what it sends names the handoff it works on as its cause."""
        return SendingFrom(replace(self._sender, parent=parent, patience=parent.time_left))

    def patient(self, patience: Callable[[], float]) -> SendingFrom:
        """The same for the handler of a notice, which is nobody's parent: it goes on trying for so many seconds."""
        return SendingFrom(replace(self._sender, patience=patience))

    async def settled(self) -> None:
        """Until the takes and cancels in the background are through: `close()` waits for it."""
        await self._sender.errands.settled()

    async def _outcomes(self, follow: bool, take: bool) -> AsyncGenerator[AsyncHandle[Any], None]:
        async for ended in untaken(self._sender.base, follow):
            handle = AsyncHandle(self._sender, ended["id"], ended=ended)
            yield handle
            # Not reached when the loop was left: what it was dealing with may not be done.
            if take:
                handle._taken(ended)
