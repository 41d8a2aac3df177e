"""One handoff that was given away: waits, streams and acts of its sender."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any, Generic, Literal, cast

from typing_extensions import TypeVar

from .._acts import cancel
from .._duration import Duration, to_seconds
from .._generated.views import HandoffView, ProgressView, Receipt
from .._signal import unless, within
from ..errors import HandoffError, WaitOver
from .expected import as_expected
from .faults import explained
from .follow import AsyncChunks, follow_events, until_set
from .limits import ERRAND_PATIENCE
from .output import output_of
from .proofs import Proven, check_own, proofs_of, proven_outcome
from .sender import Sender
from .shared_wait import SharedWait
from .waits import has_ended

View = dict[str, Any]
Out = TypeVar("Out", default=Any)
"""What its result is: the type that was given as `expects`."""


class AsyncHandle(Generic[Out]):
    """One handoff that was given away.

    Cheap to keep, and safe to use from many tasks at once: waits for the same thing share one call. No wait that ends
    early, by a timeout, a canceled task or a broken connection, cancels anything.
    """

    id: str
    receipt: Receipt | None
    """The relay's word that it is durable; None where the handle was made from an id."""

    def __init__(
        self,
        sender: Sender,
        handoff: str,
        *,
        receipt: Receipt | None = None,
        correlation: str | None = None,
        demands: Literal["signed", "any"] | None = None,
        expects: Any = None,
        seen: View | None = None,
        ended: View | None = None,
    ) -> None:
        """Made by the client. `seen`: as it stands, without its output; `ended`: as it ended, with its output."""
        self.id = handoff
        self.receipt = receipt
        self._sender = sender
        self._demands = demands or "any"
        self._expects = expects
        self._correlation = correlation or (receipt["correlation_id"] if receipt is not None else None)
        self._view: View | None = None
        self._progress: dict[str, Any] | None = None
        self._proven: View | None = None
        self._is_taken = False
        self._ended = SharedWait(lambda: self._until("ended"))
        self._acknowledged = SharedWait(lambda: self._until("acknowledged"))
        view = ended or seen or (receipt["handoff"] if receipt is not None else None)
        if view is not None:
            self._learn(cast(View, view))
        if ended is not None:
            self._ended.settle(ended)

    def __repr__(self) -> str:
        state = "not seen yet" if self._view is None else self._view["state"]
        return f"<{type(self).__name__} {self.id} {state}>"

    @property
    def correlation(self) -> str | None:
        """The group it belongs to; None until it is known, after `client.handle(id)`."""
        return self._correlation

    @property
    def view(self) -> HandoffView | None:
        """The newest that this handle has seen of it, without asking; None before that."""
        return cast("HandoffView | None", self._view)

    @property
    def progress(self) -> ProgressView | None:
        """The newest progress that this handle has heard of; `events()` and `status()` bring more."""
        return cast("ProgressView | None", self._progress)

    async def acknowledged(self, *, timeout: Duration | None = None) -> HandoffView:
        """Returns once an agent has it and takes it. Raises if it ended before that.

        :param timeout: Raises WaitOver after so long; the handoff goes on.
        """
        view = await self._join(self._acknowledged, "The ack", timeout)
        # It ended since, but an agent had taken it: attempts count from the ack.
        if view["state"] != "completed" and has_ended(view) and view["attempts"] == 0:
            raise HandoffError.ended(_shown(view))
        return _shown(view)

    async def result(self, *, timeout: Duration | None = None, take: bool = True, verify: bool | None = None) -> Out:
        """The output, once it is there: as the type that `expects` named when it was sent, else as plain JSON.

        Raises a HandoffError when it ended otherwise: `code` and `name` say how, `remedy` what to do.

        :param timeout: Raises WaitOver after so long; the handoff goes on.
        :param take: Confirm to the relay, in the background, that the outcome is here.
        :param verify: Check the recipient's own signature under the outcome. Default: where it was demanded when
            sending.
        """
        view = await self._outcome(timeout, verify)
        # An output that cannot be read is not at hand: it is taken by nobody.
        output = self._output_of(view) if view["state"] == "completed" else None
        if take:
            self._taken(view)
        if view["state"] != "completed":
            raise HandoffError.ended(_shown(view))
        return cast(Out, output)

    async def outcome(
        self, *, timeout: Duration | None = None, take: bool = True, verify: bool | None = None
    ) -> HandoffView:
        """The same as a whole, however it ended: only a broken wait raises."""
        view = await self._outcome(timeout, verify)
        if take:
            self._taken(view)
        return _shown(view)

    def events(self) -> AsyncGenerator[dict[str, Any], None]:
        """Everything that happens to it, from its beginning to its end: events of the log, and progress between
        them."""
        return until_set(self._events(), self._sender.parent_signal, self._sender.base.closed)

    def chunks(self, *, on_restart: Callable[[], None] | None = None) -> AsyncChunks:
        """The text that its worker streams.

        :param on_restart: Another attempt began: what came before belongs to one that was lost, and the text begins
            anew.
        """
        return AsyncChunks(self._sender, self.id, on_restart, self._explain, self._deadline_at)

    async def cancel(self, reason: str | None = None) -> HandoffView:
        """Calls it off. The first commit wins: after an end, the answer is that end."""
        return _shown(await self._cancel(reason))

    async def take(self) -> HandoffView:
        """Confirms to the relay that the outcome is here. Idempotent."""
        view = await self._told(self._sender.base.link.call("take", params={"id": self.id}, body={}))
        self._is_taken = True
        return _shown(view)

    async def status(self) -> HandoffView:
        """How it goes now."""
        return _shown(await self._told(self._sender.base.link.call("get", params={"id": self.id})))

    async def proofs(self) -> Proven:
        """Every receipt of its life with the documents, each signature checked here and not by the relay."""
        base = self._sender.base
        view = await self._told(base.link.call("get", params={"id": self.id}, query={"proofs": True}))
        return await proofs_of(base, view)

    def _output_of(self, view: View) -> Out:
        """Of one that is completed."""
        return cast(Out, as_expected(self._expects, output_of(view), self.id))

    def _taken(self, view: View) -> None:
        """Takes it in the background, once: the outcome is in the caller's hands. Only its sender can take it."""
        base = self._sender.base
        if self._is_taken or view["taken_at"] is not None or view["from"] != base.agent:
            return
        self._is_taken = True
        take = base.link.call("take", params={"id": self.id}, body={}, patience=ERRAND_PATIENCE, minimal=True)
        failed = f"The outcome of {self.id} is here, but the relay was not told so"
        self._sender.errands.run("take_failed", failed, self.id, take)

    def _take_seen(self) -> None:
        """Takes what this handle has seen the end of."""
        if self._view is not None and has_ended(self._view):
            self._taken(self._view)

    def _drop(self, reason: str) -> None:
        """Calls it off in the background, if it is open, and takes the end that comes of it: its sender wants none."""
        if self._view is not None and has_ended(self._view):
            return

        async def cancel_and_take() -> None:
            self._taken(await self._cancel(reason))

        failed = f"{self.id} is no longer wanted, but was not canceled"
        self._sender.errands.run("cancel_failed", failed, self.id, cancel_and_take())

    async def _cancel(self, reason: str | None) -> View:
        digest = self.receipt["digest"] if self.receipt is not None else None
        if digest is None and self._view is not None:
            digest = self._view["digest"]
        return await self._told(cancel(self._sender.base, self.id, digest, reason))

    async def _outcome(self, timeout: Duration | None, verify: bool | None) -> View:
        shown = await self._join(self._ended, "The outcome", timeout)
        is_demanded = self._demands == "signed" or shown["demands"] == "signed"
        if not (is_demanded if verify is None else verify):
            return shown
        # With the proofs, which cost a call of their own; what was proven once is kept.
        if self._proven is None:
            self._proven = await unless(self._prove(shown), self._sender.parent_signal)
        return self._proven

    async def _prove(self, view: View) -> View:
        proven = await self.proofs()
        base = self._sender.base
        # One that was found again by its id may be another agent's, or a redrive.
        if self.receipt is not None and base.signs:
            check_own(proven, self.id, base.agent)
        return proven_outcome(proven, view)

    async def _until(self, until: Literal["acknowledged", "ended"]) -> View:
        view = await self._told(self._sender.waits.until(self.id, until, self._deadline_at))
        if has_ended(view):
            self._ended.settle(view)
        return view

    async def _join(self, wait: SharedWait[View], what: str, timeout: Duration | None) -> View:
        """`what` is waited for, for the error that says it was in vain."""
        seconds = None if timeout is None else to_seconds(timeout, "The option timeout")
        sleep = self._sender.base.surroundings.sleep
        late = lambda: WaitOver(f"{what} of {self.id}", seconds or 0.0)  # noqa: E731
        return await unless(within(sleep, seconds, wait.join(), late), self._sender.parent_signal)

    async def _events(self) -> AsyncGenerator[dict[str, Any], None]:
        try:
            async for event in follow_events(self._sender.base, self.id, self._deadline_at()):
                if event.get("type") == "progress" and "fraction" in event:
                    self._progress = event
                yield event
        except HandoffError as error:
            raise self._explain(error) from None

    def _deadline_at(self) -> int | None:
        """None: not known yet."""
        if self.receipt is not None and self.receipt["deadline_at"] is not None:
            return self.receipt["deadline_at"]
        return None if self._view is None else self._view["deadline_at"]

    def _explain(self, error: HandoffError) -> HandoffError:
        return explained(error, self.id, self.receipt)

    async def _told(self, view: Awaitable[View]) -> View:
        try:
            return self._learn(await view)
        except HandoffError as error:
            raise self._explain(error) from None

    def _learn(self, view: View) -> View:
        """Answers may overtake each other: an older view never replaces a newer one."""
        if self._view is None or view["version"] >= self._view["version"]:
            self._view = view
        progress = view["progress"]
        if progress is not None and (self._progress is None or progress["at"] >= self._progress["at"]):
            self._progress = progress
        self._correlation = view["correlation_id"]
        return view


def _shown(view: View) -> HandoffView:
    return cast(HandoffView, view)
