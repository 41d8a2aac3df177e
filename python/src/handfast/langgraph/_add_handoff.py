"""A handoff as a part of a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph import StateGraph
from langgraph.types import Command, Send
from langgraph.typing import ContextT, InputT, OutputT, StateT
from typing_extensions import Unpack

from .._adapters import Outcome, target_of
from .._send.options import SendOptions, check_option_names
from ..errors import UsageError
from ._config import ClientSource, client_from
from ._runs import watch_compiled
from ._step import Sending, Sent, asend_once, await_for, node, send_once, wait_for


def add_handoff(
    builder: StateGraph[StateT, ContextT, InputT, OutputT],
    name: str,
    /,
    *,
    capability: str | None = None,
    to: str | None = None,
    input: Callable[[StateT], Any],
    output: str | Callable[[Outcome], Any],
    next: str | None = None,
    hf: ClientSource | None = None,
    graph: str = "graph",
    **options: Unpack[SendOptions],
) -> StateGraph[StateT, ContextT, InputT, OutputT]:
    """Adds two nodes: ``<name>`` sends, ``<name>_outcome`` waits and puts the outcome into the state, however it ended.

    Edges lead into the first and out of the second. Other options are those of ``send()``, such as ``timeout=60``.

    :param capability: What is to be done.
    :param to: By a certain agent. Default: whoever offers the capability.
    :param input: The handoff's input, out of the graph's state, and of nothing else: a node that is run again after a
        crash must send the same.
    :param output: The key of the state that gets the outcome, or how the state changes by it.
    :param next: Where the graph goes on. Default: wherever edges from ``<name>_outcome`` lead.
    :param hf: Default: that of whoever serves or resumes the graph, else one for all graphs, from the environment.
    :param graph: Which graph this is, as `resume_outcomes` names it too, where an agent has several.
    """
    check_option_names(options)
    if "idempotency_key" in options:
        raise UsageError("The idempotency key of a node is made of its thread and task.", "Leave idempotency_key out.")
    if isinstance(output, str):
        _check_key(builder, name, output)
    client = client_from(hf)
    sending = Sending(client, graph, name, target_of(capability, to), options)
    outcome_node = f"{name}_outcome"

    def go_on(sent: Sent) -> Command[str]:
        return Command(goto=Send(outcome_node, sent))

    def send(state: StateT, config: RunnableConfig) -> Command[str]:
        return go_on(send_once(sending, input(state), config))

    async def asend(state: StateT, config: RunnableConfig) -> Command[str]:
        return go_on(await asend_once(sending, input(state), config))

    def update(outcome: Outcome) -> Any:
        return {output: outcome} if isinstance(output, str) else output(outcome)

    def wait(sent: Sent, config: RunnableConfig) -> Any:
        return update(wait_for(sent, config, lambda: client(config)))

    async def await_(sent: Sent, config: RunnableConfig) -> Any:
        return update(await await_for(sent, config, lambda: client(config)))

    watch_compiled(builder)
    builder.add_node(name, node(name, send, asend), destinations=(outcome_node,))
    builder.add_node(outcome_node, node(outcome_node, wait, await_))
    if next is not None:
        builder.add_edge(outcome_node, next)
    return builder


def _check_key(builder: StateGraph[Any, Any, Any, Any], name: str, key: str) -> None:
    """LangGraph drops what a node writes to a key that no state has, in silence: the outcome would be lost."""
    known = builder.channels
    # A state that is one value has no keys.
    if key in known or "__root__" in known:
        return
    raise UsageError(
        f"The outcome of {name} was to go to {key!r}, and the graph's state has no such key.",
        f"It has {', '.join(sorted(known)) or 'none'}: add {key!r} to the state, or give another key as output. A key "
        "that only the input of a later node has is known once that node was added.",
    )
