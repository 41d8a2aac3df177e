"""The two halves of a handoff in a graph, each a node of its own: the first sends, and is done; the second waits by an
interrupt. In between LangGraph keeps the state, so what was sent is known before anybody waits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.errors import GraphInterrupt
from langgraph.types import interrupt
from typing_extensions import NotRequired, TypedDict

from .._adapters import (
    AnyClient,
    AnySender,
    FailedOutcome,
    Outcome,
    async_client_of,
    awaited,
    blocked,
    outcome_of,
    refusal_as_outcome,
    sender_of,
)
from .._client import AsyncClient
from .._send.options import SendOptions, Target
from ..errors import HandoffError, UsageError
from ._config import auntil_kept, handoff_of, task_of, thread_label_of, until_kept

GRAPH_LABEL, THREAD_LABEL, NODE_LABEL = "langgraph.graph", "langgraph.thread", "langgraph.node"
"""The labels by which an outcome finds the thread that waits for it."""


class Sent(TypedDict, total=False):
    """What the first half hands to the second: a handoff, or an outcome because there is none."""

    handoff: str
    refused: FailedOutcome


class Told(TypedDict):
    handoff: str
    outcome: NotRequired[Outcome]


class Waiting(TypedDict):
    """The value of the interrupt, and what the thread is resumed with, both under one key. LangGraph takes a dict whose
    keys all look like ids of interrupts, and an empty one, for a map of them: this can never be taken for one."""

    handfast: Told


@dataclass(frozen=True)
class Sending:
    client: Callable[[RunnableConfig], AnyClient]
    graph: str
    node: str
    target: Target
    options: SendOptions

    def draft(self, config: RunnableConfig) -> tuple[AnySender, SendOptions]:
        """By whom it is sent, and how."""
        thread = thread_label_of(config)
        context = handoff_of(config)
        # A served graph waits for its own handoffs, so nobody is to look for its thread.
        marks = {GRAPH_LABEL: self.graph, THREAD_LABEL: thread, NODE_LABEL: self.node} if context is None else {}
        options: SendOptions = {
            **self.options,
            "idempotency_key": key_of(task_of(config), thread),
            "labels": {**self.options.get("labels", {}), **marks},
        }
        return self.client(config) if context is None else context, options


def key_of(task: str, thread: str) -> str:
    """The idempotency key of what a node of a thread sends."""
    return f"{task}:{thread}"


def send_once(sending: Sending, input: Any, config: RunnableConfig) -> Sent:
    until_kept(config)
    sender, options = sending.draft(config)
    return blocked(sender, _submit(sender, sending.target, input, options))


async def asend_once(sending: Sending, input: Any, config: RunnableConfig) -> Sent:
    await auntil_kept(config)
    sender, options = sending.draft(config)
    return await awaited(sender, _submit(sender, sending.target, input, options))


async def _submit(sender: AnySender, target: Target, input: Any, options: SendOptions) -> Sent:
    try:
        handle = await sender_of(sender).send(target, input, **options)
    except Exception as error:
        return {"refused": refusal_as_outcome(error)}
    return {"handoff": handle.id}


def wait_for(sent: Sent, config: RunnableConfig, client: Callable[[], AnyClient]) -> Outcome:
    """Pauses the graph until it is resumed with the outcome of this very handoff.

    A served graph does so in any case: whoever serves it takes what he gave it. In one that is not, an outcome that is
    there already is used at once; it is taken by whoever resumes the graph's threads."""
    if "refused" in sent:
        return sent["refused"]
    try:
        return _resumed_with(sent["handoff"])
    except GraphInterrupt:
        if handoff_of(config) is not None:
            raise
        hf = client()
        ended = blocked(hf, _ended_already(async_client_of(hf), sent["handoff"]))
        if ended is None:
            raise
        return ended


async def await_for(sent: Sent, config: RunnableConfig, client: Callable[[], AnyClient]) -> Outcome:
    """The same for graphs that are awaited."""
    if "refused" in sent:
        return sent["refused"]
    try:
        return _resumed_with(sent["handoff"])
    except GraphInterrupt:
        if handoff_of(config) is not None:
            raise
        hf = client()
        ended = await awaited(hf, _ended_already(async_client_of(hf), sent["handoff"]))
        if ended is None:
            raise
        return ended


def _resumed_with(handoff: str) -> Outcome:
    """Raises GraphInterrupt while there is nothing. What resumed the thread without meaning this is passed over."""
    waiting: Waiting = {"handfast": {"handoff": handoff}}
    while True:
        outcome = _outcome_in(interrupt(waiting), handoff)
        if outcome is not None:
            return outcome


def _outcome_in(resumed: Any, handoff: str) -> Outcome | None:
    told = handoff_in(resumed)
    return told.get("outcome") if told is not None and told["handoff"] == handoff else None


def handoff_in(value: Any) -> Told | None:
    """What an interrupt, or a resume, says of a handoff; None: it is another's."""
    told = value.get("handfast") if isinstance(value, dict) else None
    return cast(Told, told) if isinstance(told, dict) and isinstance(told.get("handoff"), str) else None


async def _ended_already(hf: AsyncClient, handoff: str) -> Outcome | None:
    """Its outcome may have been taken long ago, when this is a run from an earlier state: then nobody would wake the
    thread. One that has just ended need not pause at all. A relay that is away is no reason to fail: the thread
    waits."""
    handle = hf.handle(handoff)
    try:
        view = await handle.status()
        dead_letter = view["dead_letter"]
        # As for whoever resumes: the outcome of its redrive counts.
        if dead_letter is not None and dead_letter["status"] == "redriven" and "id" in dead_letter:
            return await _ended_already(hf, dead_letter["id"])
        return None if view["ended_at"] is None else await outcome_of(handle)
    except HandoffError as error:
        if error.problem is None:
            raise
        return None
    except UsageError:
        raise
    except Exception:
        return None


def node(
    name: str,
    plain: Callable[[Any, RunnableConfig], Any],
    coroutine: Callable[[Any, RunnableConfig], Awaitable[Any]],
) -> Any:
    """A node that can be run and awaited."""

    def run(state: Any, config: RunnableConfig) -> Any:
        return plain(state, config)

    async def arun(state: Any, config: RunnableConfig) -> Any:
        return await coroutine(state, config)

    return RunnableLambda(run, arun, name=name)
