"""What a node learns from the configuration that LangGraph runs it with: its thread, its task, and whether the state
from which it was started is on disk.

LangGraph has no public names for the last two; the tests hold them against the version that is installed.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Union

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver

from .._adapters import AnyClient
from .._client import AsyncClient
from .._protocol.ids import is_text_id
from .._serve import AsyncContext, Context
from .._sync import Client
from ..errors import UsageError

ClientSource = Union[Client, AsyncClient, Callable[[], Union[Client, AsyncClient]]]
"""A client, or how to come by one; called once."""

CONTEXT_KEY = "handfast_context"
"""In ``configurable``: the handoff that a served graph works on."""
CLIENT_KEY = "handfast_client"
"""In ``configurable``: the client that serves or resumes the graph, for nodes that name none."""

_LONGEST_THREAD_CHARS = 200
"""What a label can carry beside an idempotency key."""

_LOOKS_S = (0, 0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1)


def configurable_of(config: RunnableConfig) -> Mapping[str, Any]:
    return config.get("configurable") or {}


def handoff_of(config: RunnableConfig) -> Context | AsyncContext | None:
    """The handoff that a served graph works on, for its nodes; None: it is not served."""
    context: Context | AsyncContext | None = configurable_of(config).get(CONTEXT_KEY)
    return context


def thread_of(config: RunnableConfig) -> str:
    """As LangGraph keeps it: numbers and UUIDs as text. (The number 0 it does not take for an id.)"""
    return str(configurable_of(config).get("thread_id") or "")


def thread_label_of(config: RunnableConfig) -> str:
    """The same, for those whom an outcome is to find by it."""
    thread = thread_of(config)
    if len(thread) <= _LONGEST_THREAD_CHARS and is_text_id(thread):
        return thread
    what = f"is {thread!r}" if len(thread) <= _LONGEST_THREAD_CHARS else f"has {len(thread)} characters"
    wanted = f"of 1 to {_LONGEST_THREAD_CHARS} characters without control characters"
    raise UsageError(
        f"The thread id {what}." if thread else "A handoff needs a thread.",
        f'Run the graph with {{"configurable": {{"thread_id": …}}}}, {wanted}.',
    )


def task_of(config: RunnableConfig) -> str:
    """The same in every run of the same step from the same state: a node that is run again has it again."""
    return str(configurable_of(config).get("__pregel_task_id") or "")


def until_kept(config: RunnableConfig) -> None:
    """Returns once the state that this step began with is kept.

    A send before that could happen twice: a process that is killed right after it would find an older state, and
    another task for the same step.
    """
    saver, place = _place_of(config)
    for look in _LOOKS_S:
        time.sleep(look)
        if saver.get_tuple(place) is not None:
            return
    raise _not_kept()


async def auntil_kept(config: RunnableConfig) -> None:
    """The same for graphs that are awaited."""
    saver, place = _place_of(config)
    for look in _LOOKS_S:
        await asyncio.sleep(look)
        if await saver.aget_tuple(place) is not None:
            return
    raise _not_kept()


def is_kept_at_all(config: RunnableConfig) -> bool:
    """Whether there is a checkpointer that keeps each step."""
    given = configurable_of(config)
    is_saver = isinstance(given.get("__pregel_checkpointer"), BaseCheckpointSaver)
    return is_saver and given.get("__pregel_durability") != "exit"


def _place_of(config: RunnableConfig) -> tuple[BaseCheckpointSaver[Any], RunnableConfig]:
    given = configurable_of(config)
    saver = given.get("__pregel_checkpointer")
    if not isinstance(saver, BaseCheckpointSaver):
        raise no_saver()
    if not is_kept_at_all(config):
        raise _not_kept()
    parent = "|".join(str(given.get("checkpoint_ns") or "").split("|")[:-1])
    checkpoint = (given.get("checkpoint_map") or {}).get(parent)
    place = {"thread_id": thread_of(config), "checkpoint_ns": parent, "checkpoint_id": checkpoint}
    return saver, {"configurable": place}


def _not_kept() -> UsageError:
    return UsageError(
        "The state before this handoff is not kept, so it could be sent twice.",
        'Run the graph with durability="sync"; "exit" keeps nothing until the end.',
        "not_kept",
    )


def no_saver() -> UsageError:
    return UsageError(
        "The graph has no checkpointer, so it cannot wait for an outcome.",
        "Compile it with one: graph.compile(checkpointer=…).",
        "no_checkpointer",
    )


_making = threading.Lock()
_common: list[Client] = []
"""One for all graphs that name none, from the environment."""


def client_from(source: ClientSource | None) -> Callable[[RunnableConfig], AnyClient]:
    """The client of a node."""
    made: list[AnyClient] = []

    def client(config: RunnableConfig) -> AnyClient:
        if isinstance(source, (Client, AsyncClient)):
            return source
        if source is None:
            given: AnyClient | None = configurable_of(config).get(CLIENT_KEY)
            if given is not None:
                return given
        with _making:
            if source is not None:
                if not made:
                    made.append(source())
                return made[0]
            if not _common:
                _common.append(Client())
            return _common[0]

    return client
