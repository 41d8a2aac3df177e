"""What the parts of the sending side share: the connected agent, its waits, and what it does in the background."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from .._base import Base
from .._signal import Signal
from ..errors import HandoffError
from .errands import Errands
from .waits import Waits


class Parent(Protocol):
    """The handoff that a handler works on, as the sender of others in its name: what they carry down from it."""

    @property
    def id(self) -> str: ...

    @property
    def fence(self) -> int:
        """The lease it works under: a child of an older one is refused."""

    @property
    def correlation_id(self) -> str: ...

    @property
    def conversation_id(self) -> str | None: ...

    @property
    def traceparent(self) -> str | None: ...

    @property
    def signal(self) -> Signal:
        """Set when it is canceled or its lease is lost; waits of its children end then."""

    def time_left(self) -> float:
        """Seconds of its deadline. The relay lets no child outlive it; without any left nothing is sent."""

    def lost(self, refusal: HandoffError) -> None:
        """A child was refused because the lease is over: told before any heartbeat does."""


@dataclass(frozen=True)
class Sender:
    """Of one client, or of one handler."""

    base: Base
    waits: Waits
    errands: Errands
    parent: Parent | None = None
    """The handoff in whose name it sends; None: in the agent's own."""
    patience: Callable[[], float] | None = None
    """How long it goes on trying while the relay is away; None: as long as the client does."""

    @property
    def parent_signal(self) -> Signal | None:
        return None if self.parent is None else self.parent.signal

    def patience_left(self) -> float | None:
        """A handler has as long as its handoff: a relay that is away for a minute is no reason for it to fail."""
        left = 0.0 if self.patience is None else self.patience()
        return left if left > 0 else None
