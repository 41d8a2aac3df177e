"""A node of a workflow that hands off. It sends and asks for the outcome under the handoff's own id; the workflow then
stands still, is kept, and goes on when the outcome is given to it, as the message of this node."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from typing import Any, cast

from agent_framework import Executor, WorkflowContext, WorkflowRunResult, handler, response_handler
from typing_extensions import Unpack

from .._adapters import Outcome, outcome_of, refusal_as_outcome, target_of
from .._adapters.keys import Keys, joined
from .._client import AsyncClient
from .._send.options import SendOptions
from .._serve import AsyncContext, current
from ._kept import Kept, is_handoff, request_of, running_now

LABELS = {"name": "agent-framework.name", "run": "agent-framework.run", "executor": "agent-framework.executor"}
"""By which an outcome finds the run that waits for it."""


class HandoffExecutor(Executor):
    """Hands each message that it is given to an agent, and passes the outcome on: as a value, however it ended."""

    def __init__(
        self,
        hf: AsyncClient,
        *,
        id: str,
        capability: str | None = None,
        to: str | None = None,
        input: Callable[[Any], Any] | None = None,
        output: Callable[[Outcome, Any], Any] | None = None,
        **options: Unpack[SendOptions],
    ) -> None:
        """The options of ``send()``, and:

        :param id: The node's name in the workflow, the same in every process.
        :param to: A certain agent. Default: whoever offers the capability.
        :param input: The handoff's input, out of the message. It must come to the same when it is run again.
            Default: the message.
        :param output: What the next node is given, out of the outcome and the message. Default: the outcome.
        """
        super().__init__(id=id)
        self._hf = hf
        self._target = target_of(capability, to)
        self._input = input or (lambda message: message)
        self._output = output or (lambda outcome, _: outcome)
        self._options = options
        self._keys: Keys | None = None

    @handler
    async def hand_off(self, message: Any, ctx: WorkflowContext[Any]) -> None:
        """Sends, and asks for the outcome; where the relay refuses it, the refusal is the outcome."""
        sent = await self._send(message)
        if isinstance(sent, str):
            await ctx.request_info({**request_of(sent), "message": message}, dict, request_id=sent)
        else:
            await ctx.send_message(self._output(sent, message))

    @response_handler
    async def pass_on(self, request: dict, outcome: dict, ctx: WorkflowContext[Any]) -> None:  # type: ignore[type-arg]
        """The outcome is there."""
        await ctx.send_message(self._output(cast(Outcome, outcome), request["message"]))

    async def on_checkpoint_save(self) -> dict[str, Any]:
        """Called before the first step too: a run that begins anew from there sends under the same keys."""
        keys = self._keys_now()
        return {"run": keys.run, "counts": dict(keys.counts)}

    async def on_checkpoint_restore(self, state: dict[str, Any]) -> None:
        self._keys = Keys(state["run"], state["counts"])

    def _keys_now(self) -> Keys:
        if self._keys is None:
            running = running_now()
            run = uuid.uuid4().hex if running is None else running.keys.run
            self._keys = Keys(f"{run}/{joined(self.id)}")
        return self._keys

    async def _send(self, message: Any) -> str | Outcome:
        """The handoff's id; its outcome, where nobody has to wait for it."""
        running = running_now()
        if running is not None:
            running.check()
        # Of the message and not of the input: it is in the checkpoint, and the same when the step is run again.
        key = self._keys_now().next(self._target, message)
        labels = {**self._options.get("labels", {}), **self._labels(running)}
        options: SendOptions = {**self._options, "idempotency_key": key, "labels": labels}
        try:
            handle = await sender_now(self._hf).send(self._target, self._input(message), **options)
        except Exception as error:
            return refusal_as_outcome(error)
        # One that had ended before may have been taken: then nobody would wake the run.
        view = handle.view
        if view is not None and view["ended_at"] is not None:
            return await outcome_of(handle)
        return handle.id

    def _labels(self, running: Kept | None) -> dict[str, str]:
        # A served workflow waits for its own handoffs, and nobody is to look for it.
        if running is None or running.sender is not None:
            return {}
        name, _, _ = running.keys.run.partition("/")
        return {LABELS["name"]: name, LABELS["run"]: running.run, LABELS["executor"]: self.id}


def sender_now(hf: AsyncClient) -> AsyncClient | AsyncContext:
    """The client, or the handoff that is being worked on: what is sent is then below it."""
    running = running_now()
    if running is not None:
        return running.sender or hf
    context = current()
    return context if isinstance(context, AsyncContext) else hf


async def outcomes_of(hf: AsyncClient, result: WorkflowRunResult) -> dict[str, Outcome]:
    """Waits for what a workflow waits for, in place, for runs that nobody keeps: ``workflow.run(responses=…)``."""
    waiting = [event.request_id for event in result.get_request_info_events() if is_handoff(event.data)]
    found = await asyncio.gather(*(outcome_of(hf.handle(id), take=True) for id in waiting))
    return dict(zip(waiting, found, strict=True))
