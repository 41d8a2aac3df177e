"""What a served graph hands on, from the side of whoever serves it: outcomes are read for the graph, and taken once it
has used them.

A served graph always pauses for its outcomes, so there is one place that gives them to it. Given is not used: until
LangGraph has kept what the graph made of an outcome, a worker that dies leaves it to the next attempt to read it again,
and the relay keeps what was taken for a while only. So an outcome is taken when a run came back, or raised, and the
state that it left waits for it no longer. A worker that dies between the two leaves it untaken, and nobody follows it:
the attempt that ends the graph looks for what earlier ones left.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any

from .._adapters import AnyClient, Outcome, async_client_of, handle_of, outcome_of
from .._serve import AsyncContext, Context
from ..errors import HandoffError
from ._step import key_of


class HandedOn:
    """In one attempt of one handoff."""

    def __init__(self, hf: AnyClient, ctx: Context | AsyncContext) -> None:
        self._hf = async_client_of(hf)
        self._ctx = ctx
        self._given: dict[str, list[str]] = {}
        """What the graph was given an outcome for: the handoff, and those by which it was redriven."""

    @property
    def is_open(self) -> bool:
        """Whether the graph was given outcomes that are not taken yet."""
        return bool(self._given)

    async def outcome(self, handoff: str) -> Outcome:
        """Waits until it has ended."""
        line = [handoff]
        while True:
            handle = handle_of(self._ctx, line[-1])
            dead_letter = (await handle.outcome(take=False))["dead_letter"]
            if dead_letter is None or dead_letter["status"] != "redriven" or "id" not in dead_letter:
                break
            # As for whoever resumes: the outcome of its redrive counts.
            line.append(dead_letter["id"])
        outcome = await outcome_of(handle)
        self._given[handoff] = line
        return outcome

    async def take_used(self, waiting: Collection[str]) -> None:
        """Takes what the graph was given, but for what its state still waits for."""
        used = [handoff for handoff in self._given if handoff not in waiting]
        await self._take([each for handoff in used for each in self._given[handoff]])
        for handoff in used:
            del self._given[handoff]

    async def take_rest(self) -> None:
        """Takes what attempts before this one left. The graph has ended, so it wants none of it."""
        handoff = self._ctx.handoff["id"]
        query: dict[str, Any] = {"from": self._hf.agent, "causation_id": handoff}
        while True:
            page = await self._hf.call("list", query=query)
            ended = [each for each in page["handoffs"] if each["ended_at"] is not None and each["taken_at"] is None]
            # Others were sent by nodes on their own account: it is for them to take those.
            await self._take([each["id"] for each in ended if each["idempotency_key"].endswith(key_of("", handoff))])
            if page["cursor"] is None:
                return
            query = {**query, "cursor": page["cursor"]}

    async def _take(self, handoffs: list[str]) -> None:
        await asyncio.gather(*(self._take_one(handoff) for handoff in handoffs))

    async def _take_one(self, handoff: str) -> None:
        try:
            await handle_of(self._ctx, handoff).take()
        except HandoffError as error:
            # Retention may have dropped it: then there is nothing to take. The graph has its outcome.
            if error.code != 404:
                raise
