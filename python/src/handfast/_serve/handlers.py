"""The handlers of one client.

It may serve several times, and the relay knows one manifest for its agent: so it is always told of all of them, and
whatever server gets a lease finds the handler for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar
from weakref import WeakKeyDictionary, ref

from .._base import Base
from .capabilities import Listed, Offered
from .faults import message_of


@dataclass(frozen=True, eq=False)
class _Entry:
    offered: Mapping[str, Offered]
    elsewhere: Mapping[str, Listed]
    """What other processes of the agent serve."""
    is_stopping: Callable[[], bool]


class Handlers:
    """One for each client: ``Handlers.of(base)``."""

    _of_base: ClassVar[WeakKeyDictionary[Base, Handlers]] = WeakKeyDictionary()

    def __init__(self, base: Base) -> None:
        # What is kept for a client must not keep the client.
        self._weak = ref(base)
        self._entries: list[_Entry] = []
        # Held until they are through: a task that nobody holds may vanish.
        self._renewals: set[asyncio.Task[None]] = set()

    @classmethod
    def of(cls, base: Base) -> Handlers:
        return cls._of_base.setdefault(base, cls(base))

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(name for entry in self._entries for name in entry.offered))

    def find(self, capability: str) -> Offered | None:
        """Of one that stops only where no other has it."""
        stopping: Offered | None = None
        for entry in self._entries:
            found = entry.offered.get(capability)
            if found is not None and not entry.is_stopping():
                return found
            stopping = stopping or found
        return stopping

    async def add(
        self, offered: Mapping[str, Offered], elsewhere: Mapping[str, Listed], is_stopping: Callable[[], bool]
    ) -> Callable[[], None]:
        """Returns once the relay knows of them; the answer takes them out again."""
        entry = _Entry(offered, elsewhere, is_stopping)
        self._entries.append(entry)
        try:
            await self._register()
        except BaseException:
            self._entries.remove(entry)
            raise
        return lambda: self._remove(entry)

    def _remove(self, entry: _Entry) -> None:
        """An agent that goes away altogether leaves its manifest: what is sent to it waits until it is back."""
        if entry not in self._entries:
            return
        self._entries.remove(entry)
        is_less = any(name not in self.names for name in entry.offered)
        if not is_less or all(other.is_stopping() for other in self._entries):
            return
        renewal = asyncio.ensure_future(self._renew())
        self._renewals.add(renewal)
        renewal.add_done_callback(self._renewals.discard)

    async def _renew(self) -> None:
        base = self._weak()
        try:
            await self._register()
        except Exception as error:
            if base is not None:
                message = f"What {base.agent} no longer serves is still in its manifest: {message_of(error)}"
                base.warn("manifest_not_renewed", message)

    async def _register(self) -> None:
        base = self._weak()
        if base is None:
            return
        listed: dict[str, Listed] = {name: each for entry in self._entries for name, each in entry.elsewhere.items()}
        is_shared = len(listed) > 0
        for name in self.names:
            offered = self.find(name)
            if offered is not None:
                listed[name] = offered
        # Each process reads its own first, and all of them are to state the same manifest.
        names = sorted(listed) if is_shared else list(listed)
        costs = {name: cost for name in names if (cost := listed[name].cost) is not None}
        await base.register([listed[name].manifest for name in names], costs)
