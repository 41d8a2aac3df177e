"""Runs of a workflow that sleep while their work is with other agents, and go on in this process or a later one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from agent_framework import CheckpointStorage, Workflow

from .._adapters import Lock, WakeCall
from .._adapters.durable_runs import DurableRuns
from .._adapters.keys import check_run
from .._client import AsyncClient
from ._kept import Kept, WorkflowRun, advance


class WorkflowRuns(DurableRuns):
    """The runs of one workflow, each under an id of yours."""

    def __init__(
        self,
        hf: AsyncClient,
        workflow: Callable[[], Workflow],
        storage: CheckpointStorage | Callable[[str], CheckpointStorage],
        *,
        name: str = "workflow",
        lock: Lock | None = None,
        on_end: Callable[[WorkflowRun], Awaitable[None]] | None = None,
    ) -> None:
        """
        :param workflow: Builds it: each run has one of its own, of the same shape.
        :param storage: Where runs are kept, such as a ``FileCheckpointStorage``; or one for each run, by its id.
        :param name: Tells these from other runs of the same agent.
        :param lock: One that holds across processes, where several of them run and wake the same runs.
        :param on_end: Told of a run that ended after an outcome came. At least once: it may be told again by a process
            that was started after another was killed.
        """
        super().__init__("agent-framework", hf, name.replace("/", "_"), lock)
        self._workflow = workflow
        self._storage = storage
        self._on_end = on_end

    async def start(self, run: str, message: Any) -> WorkflowRun:
        """Runs until the workflow ends or waits. Called again for the same run, it begins nothing anew: it goes on
        with one that was cut off."""
        async with self._turn(run):
            kept = self._kept(run)
            if await kept.open() is None:
                return await advance(self._workflow(), kept, message=message)
            standing = kept.standing()
            return await advance(self._workflow(), kept) if standing.unfinished else standing

    async def respond(self, run: str, responses: Mapping[str, Any]) -> WorkflowRun:
        """Answers what a run asks besides handoffs (``requests``), by request id."""
        async with self._turn(run):
            return await advance(self._workflow(), await self._known(run), responses=dict(responses))

    async def look(self, run: str) -> WorkflowRun | None:
        """How a run stands; None: there is none."""
        kept = self._kept(run)
        return None if await kept.open() is None else kept.standing()

    async def _wake(self, run: str, call: WakeCall) -> str:
        kept = await self._known(run)
        standing = kept.standing()
        waiting = _first(call.handoffs, standing.waiting)
        was_cut_off = waiting is None and standing.unfinished
        if was_cut_off:
            # Sends again what was not kept as sent, under the same key, and goes on from there.
            standing = await advance(self._workflow(), kept)
            waiting = _first(call.handoffs, standing.waiting)
        if waiting is not None:
            standing = await advance(self._workflow(), kept, responses={waiting: dict(call.outcome)})
        if standing.ended and self._on_end is not None:
            await self._on_end(standing)
        return "continued" if was_cut_off else "not_waiting" if waiting is None else "resumed"

    def _kept(self, run: str) -> Kept:
        check_run(run)
        storage = self._storage(run) if callable(self._storage) else self._storage
        return Kept(storage, self._name, run)

    async def _known(self, run: str) -> Kept:
        kept = self._kept(run)
        if await kept.open() is not None:
            return kept
        raise self._unknown(run, "storage")


def _first(wanted: tuple[str, ...], among: tuple[str, ...]) -> str | None:
    return next((each for each in wanted if each in among), None)
