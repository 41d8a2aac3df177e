"""One run of a workflow, kept step by step.

The framework keeps a checkpoint after every step under the workflow's name, and says nothing of which run it belongs
to; what a run has put out is in none of them; and where a checkpoint cannot be saved it goes on without. So its storage
is wrapped here: each run has a name of its own, outputs go into the same checkpoint as the step that made them, and a
checkpoint counts only if it can be read again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

from agent_framework import AgentResponse, AgentResponseUpdate, CheckpointStorage, Workflow, WorkflowCheckpoint

from .._adapters.keys import Keys, joined
from .._serve import AsyncContext
from ..errors import HandfastError

_OURS = "handfast"


@dataclass(frozen=True)
class WorkflowRun:
    """How a run stands."""

    id: str
    outputs: list[Any]
    """What it has put out so far."""
    waiting: tuple[str, ...]
    """Handoffs whose outcomes it waits for."""
    requests: Mapping[str, Any]
    """What it asks besides, by request id: events of type ``request_info``."""
    unfinished: bool
    """Something is still to run: it runs now, or was cut off."""

    @property
    def ended(self) -> bool:
        return not (self.waiting or self.requests or self.unfinished)


class Kept:
    """The storage of one run. It is given to the framework in place of the user's own."""

    def __init__(self, storage: CheckpointStorage, name: str, run: str, sender: AsyncContext | None = None) -> None:
        self.run = run
        self.sender = sender
        """What is sent is a child of the handoff being worked on; None: it is sent by the client."""
        self.keys = Keys(joined(name, run))
        self.latest: WorkflowCheckpoint | None = None
        self._storage = storage
        self._as = joined(_OURS, name, run)
        self._outputs: list[Any] = []
        self._parts: dict[str, list[AgentResponseUpdate]] = {}
        self._step = 0
        self._fault: Exception | None = None

    async def open(self) -> WorkflowCheckpoint | None:
        """The newest that is kept, by its number: clocks may go back. None: there is no such run."""
        found = await self._storage.list_checkpoints(workflow_name=self._as)
        if found:
            self.latest = max(found, key=lambda each: int(each.metadata[_OURS]["step"]))
            ours = self.latest.metadata[_OURS]
            self._step, self._outputs = ours["step"], list(ours["outputs"])
            self.keys = Keys(self.keys.run, ours["counts"])
        return self.latest

    def check(self) -> None:
        """Raises if the state before this step is not kept: what is sent now could be sent twice."""
        if self._fault is None:
            return
        raise HandfastError(
            f"The state of run {self.run} cannot be kept: {type(self._fault).__name__}: {self._fault}",
            reason="not_kept",
            remedy="Send plain values between executors, or let the storage read your own types"
            " (allowed_checkpoint_types), and look whether it can write.",
            retryable=False,
            anchor="usage",
        )

    def standing(self) -> WorkflowRun:
        pending: dict[str, Any] = {} if self.latest is None else dict(self.latest.pending_request_info_events)
        waiting = tuple(id for id, event in pending.items() if is_handoff(event.data))
        others = {id: event for id, event in pending.items() if id not in waiting}
        return WorkflowRun(self.run, list(self._outputs), waiting, others, self._is_unfinished())

    def _is_unfinished(self) -> bool:
        return self.latest is not None and any(self.latest.messages.values())

    def hear(self, event: Any) -> str:
        """Of what the run does. Returns text that an agent has just said."""
        if event.type != "output":
            return ""
        if isinstance(event.data, AgentResponseUpdate):
            self._parts.setdefault(event.executor_id or "", []).append(event.data)
            return event.data.text or ""
        self._outputs.append(event.data)
        return ""

    def fold(self) -> None:
        """Agents put out piece by piece; what counts is the whole."""
        parts, self._parts = self._parts, {}
        self._outputs.extend(AgentResponse.from_updates(each) for each in parts.values())

    # What the framework calls.

    async def save(self, checkpoint: WorkflowCheckpoint) -> str:
        self.fold()
        ours = {"step": self._step + 1, "outputs": list(self._outputs), "counts": dict(self.keys.counts)}
        mine = replace(checkpoint, workflow_name=self._as, metadata={**checkpoint.metadata, _OURS: ours})
        try:
            await self._storage.save(mine)
            self.latest = await self._storage.load(mine.checkpoint_id)
        except Exception as error:
            self._fault = error
            raise
        self._fault = None
        self._step += 1
        return mine.checkpoint_id

    async def load(self, checkpoint_id: str) -> WorkflowCheckpoint:
        return await self._storage.load(checkpoint_id)

    async def list_checkpoints(self, *, workflow_name: str) -> list[WorkflowCheckpoint]:
        return await self._storage.list_checkpoints(workflow_name=self._as)

    async def delete(self, checkpoint_id: str) -> bool:
        return await self._storage.delete(checkpoint_id)

    async def get_latest(self, *, workflow_name: str) -> WorkflowCheckpoint | None:
        return await self._storage.get_latest(workflow_name=self._as)

    async def list_checkpoint_ids(self, *, workflow_name: str) -> list[str]:
        return await self._storage.list_checkpoint_ids(workflow_name=self._as)


_running: ContextVar[Kept | None] = ContextVar("handfast_agent_framework_run", default=None)


def running_now() -> Kept | None:
    """The run that the calling executor or tool is part of; None: a run that is not kept here."""
    return _running.get()


async def advance(
    workflow: Workflow,
    kept: Kept,
    *,
    on_text: Callable[[str], Awaitable[None]] | None = None,
    **how: Any,
) -> WorkflowRun:
    """Runs it until it ends or waits. Raises what an executor raises.

    :param how: ``message``, or ``responses`` to go on with; without, it goes on from where it was kept last.
    """
    if "message" not in how and kept.latest is not None:
        how["checkpoint_id"] = kept.latest.checkpoint_id
    token = _running.set(kept)
    try:
        async for event in workflow.run(stream=True, checkpoint_storage=kept, **how):
            text = kept.hear(event)
            if text and on_text is not None:
                await on_text(text)
    finally:
        _running.reset(token)
    kept.fold()
    kept.check()
    return kept.standing()


def request_of(handoff: str) -> dict[str, Any]:
    """What a workflow asks for while it waits for a handoff."""
    return {_OURS: {"handoff": handoff}}


def is_handoff(data: Any) -> bool:
    return isinstance(data, dict) and isinstance(data.get(_OURS), dict) and "handoff" in data[_OURS]
