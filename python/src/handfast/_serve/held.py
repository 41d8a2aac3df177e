"""One lease in this process: whether it still lives, how long it has, and the signal that tells its handler."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from .._base import Base
from .._signal import Signal
from ..errors import HandoffError
from .faults import story_of
from .stop_signal import StopSignal

_OVER = frozenset([408, 410, 412])


class Held:
    """Of its server's event loop, but for ``end_from_thread`` and the signal."""

    def __init__(self, base: Base, lease: Mapping[str, Any], worker: str) -> None:
        self.lease = lease
        self.worker = worker
        self.signal = StopSignal(base.surroundings, self._warn_of_listener)
        """For the handler, on whatever thread."""
        self.told = Signal()
        """The same for waits on the event loop: the handler is to come to its end."""
        self.over = Signal()
        """Set when nothing changes anything any more, and not before: a handler told to stop may still say
        something."""
        self._base = base
        self._surroundings = base.surroundings
        self._loop = asyncio.get_running_loop()
        self._deadline_at = base.surroundings.now() + lease["deadline_ms"]
        self._is_left = False

    @property
    def id(self) -> str:
        return str(self.lease["id"])

    @property
    def key(self) -> tuple[str, int]:
        return key_of(self.lease)

    @property
    def holder(self) -> dict[str, Any]:
        """What every act of the holder names."""
        return {"fence": self.lease["fence"], "worker": self.worker}

    @property
    def is_over(self) -> bool:
        return self.over.is_set

    @property
    def is_left(self) -> bool:
        """Its handler's result is nobody's any more, not even as a late one."""
        return self._is_left

    def deadline_ms(self) -> int:
        """What is left of the deadline, by what the relay said last. From any thread."""
        left: int = self._deadline_at - self._surroundings.now()
        return max(0, left)

    def deadline(self) -> float:
        """The same in seconds."""
        return self.deadline_ms() / 1_000

    def hear(self, reply: Mapping[str, Any]) -> None:
        self._deadline_at = self._surroundings.now() + reply["deadline_ms"]

    def end(self, reason: Exception) -> None:
        """The relay says that it is over: canceled, expired or lost. What the handler still returns is kept as late."""
        self.over.set(reason)
        self.hurry(reason)

    def end_from_thread(self, reason: Exception) -> None:
        """The handler is told at once, though the event loop may be blocked, by that very handler even."""
        try:
            # First, so that whatever the handler does about it comes to the loop after this.
            self._loop.call_soon_threadsafe(self.end, reason)
        except RuntimeError:  # The loop is closed: nobody waits there.
            pass
        self.signal.set(reason)

    def refused(self, error: BaseException) -> None:
        """A call under it was refused: by these codes the relay says that it is over, before any heartbeat does."""
        if isinstance(error, HandoffError) and error.code in _OVER:
            self.end(error)

    def leave(self, reason: Exception) -> None:
        """This worker let go of it: parked or given back."""
        self._is_left = True
        self.end(reason)

    def hurry(self, reason: Exception) -> None:
        """The handler is to come to its end; the lease still lives."""
        try:
            self.signal.set(reason)
        finally:
            self.told.set(reason)

    def _warn_of_listener(self, error: BaseException) -> None:
        message = f"A listener on the signal of handoff {self.id} raised: {story_of(error)}"
        self._base.warn("listener_failed", message, self.id)


def key_of(lease: Mapping[str, Any]) -> tuple[str, int]:
    """A handoff may come back to the same worker under a new fence."""
    return lease["id"], lease["fence"]
