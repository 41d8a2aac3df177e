"""Asking for work.

The slots of the open claims are the worker's credit: never more leases than free slots. Each claim has a request id
and is repeated under it until it brought leases, so that a broken connection loses none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._base import Base
from .._protocol.ids import make_id
from .._protocol.limits import CLAIM_SLOTS
from ..errors import HandfastError
from .faults import message_of
from .limits import CLAIM_PAUSE_S, CLAIM_WAIT_S, CLAIMS, ERRAND_PATIENCE_S

Lease = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class _Claim:
    request_id: str
    slots: int


class Claims:
    """``only``: work for these capabilities alone; None: for all that the agent offers. ``on_leases`` is called when a
    claim is answered, after its slots are free again."""

    def __init__(
        self, base: Base, worker: str, only: Sequence[str] | None, on_leases: Callable[[Sequence[Lease]], None]
    ) -> None:
        self._base = base
        self._asks: dict[str, Any] = {"worker": worker} if only is None else {"worker": worker, "capabilities": [*only]}
        self._worker = worker
        self._on_leases = on_leases
        self._open: dict[_Claim, asyncio.Task[None]] = {}
        self._is_ended = False
        self._warned: set[str] = set()

    @property
    def credit(self) -> int:
        """Slots lent to open claims."""
        return sum(claim.slots for claim in self._open)

    def ask(self, slots: int) -> None:
        """Claims as many as are free.

        While claims with more slots than that are open there is no hurry: the next answer, or more that come free,
        bring their turn. So a busy worker asks once for many, and always has asked for half of them.
        """
        if slots < 1 or slots < self.credit or len(self._open) >= CLAIMS or self._is_ended:
            return
        surroundings = self._base.surroundings
        request_id = make_id(surroundings.now(), surroundings.random_bytes(10))
        claim = _Claim(request_id, min(slots, CLAIM_SLOTS))
        self._open[claim] = asyncio.create_task(self._until_answered(claim))

    def abandon(self) -> None:
        """At once, and without a word."""
        self._end()

    async def take_back(self) -> list[Lease]:
        """Each open claim once more, which ends its wait: what was on its way under its id comes now.

        One slot is the least that can be asked for, so it may bring a new lease too; the caller gives all of them back.
        """
        calls = [
            self._base.link.call(
                "claim",
                body={**self._asks, "request_id": claim.request_id, "slots": 1},
                patience=ERRAND_PATIENCE_S,
            )
            for claim in self._end()
        ]
        replies = await asyncio.gather(*calls, return_exceptions=True)
        return [lease for reply in replies if not isinstance(reply, BaseException) for lease in reply["leases"]]

    def _end(self) -> list[_Claim]:
        self._is_ended = True
        ended, self._open = self._open, {}
        for task in ended.values():
            task.cancel()
        return list(ended)

    async def _until_answered(self, claim: _Claim) -> None:
        leases = await self._answer(claim)
        # Taken back meanwhile: then it is asked once more there, and answered there.
        if self._open.pop(claim, None) is not None:
            self._on_leases(leases)

    async def _answer(self, claim: _Claim) -> Sequence[Lease]:
        body = {
            **self._asks,
            "request_id": claim.request_id,
            "slots": claim.slots,
            "proofs": True,
        }
        while True:
            try:
                reply = await self._base.link.call("claim", body=body, wait=CLAIM_WAIT_S)
                self._warned.clear()
                if reply["leases"]:
                    leases: Sequence[Lease] = reply["leases"]
                    return leases
            except Exception as error:
                self._warn(error)
                await self._base.surroundings.sleep(CLAIM_PAUSE_S)

    def _warn(self, error: Exception) -> None:
        """Once for each reason, until a claim succeeds."""
        reason = error.reason if isinstance(error, HandfastError) else "claim_failed"
        if reason in self._warned:
            return
        self._warned.add(reason)
        message = f"The worker {self._worker} gets no work, and goes on asking: {message_of(error)}"
        self._base.warn(reason, message)
