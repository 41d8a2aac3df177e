"""Tools of which some hand work off, as a part of a graph, so that the thread sleeps meanwhile.

Interrupts of several tools in one ToolNode share one identity, and one gets the other's outcome: so here each call is
a task of its own, sent to a node by a ``Send``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Union

from langchain_core.messages import AIMessage, ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.graph import StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, Send
from langgraph.typing import ContextT, InputT, OutputT, StateT
from typing_extensions import TypedDict

from .._adapters import AnyClient, Outcome
from ..errors import UsageError
from ._runs import watch_compiled
from ._step import Sending, Sent, asend_once, await_for, node, send_once, wait_for
from ._tool import HandoffTool, tool_message


class _Call(TypedDict):
    call: ToolCall
    state: Any


class _Waits(TypedDict):
    call: ToolCall
    sent: Sent


class _Answered(TypedDict):
    messages: list[Any]


_Called = Union[_Waits, _Answered]
"""What a call's node hands to the outcome's: something to wait for, or messages that are there."""


def add_handoff_tools(
    builder: StateGraph[StateT, ContextT, InputT, OutputT],
    name: str,
    /,
    *,
    tools: Sequence[BaseTool],
    next: str | None = None,
    graph: str = "graph",
) -> StateGraph[StateT, ContextT, InputT, OutputT]:
    """Adds three nodes: ``<name>`` looks at the last message of the model, ``<name>_call`` runs once for each call, and
    ``<name>_outcome`` puts the answers into ``messages``.

    Edges lead into the first and out of the last, which is reached when every call has its answer.

    :param tools: Those of `handoff_tool`, and any others.
    :param next: Where the graph goes on. Default: wherever edges from ``<name>_outcome`` lead.
    :param graph: As in `add_handoff`.
    """
    handoffs = {tool.name: tool for tool in tools if isinstance(tool, HandoffTool)}
    others = ToolNode([tool for tool in tools if not isinstance(tool, HandoffTool)])
    call_node, outcome_node = f"{name}_call", f"{name}_outcome"

    def fan_out(state: Any, _config: RunnableConfig) -> Command[str]:
        calls = _open_calls(_messages_in(state))
        given = [_Call(call=call, state=None if call["name"] in handoffs else state) for call in calls]
        return Command(goto=[Send(call_node, each) for each in given])

    async def afan_out(state: Any, config: RunnableConfig) -> Command[str]:
        return fan_out(state, config)

    def sending(tool: HandoffTool) -> Sending:
        return Sending(lambda _: tool._hf, graph, name, tool._target, tool._options)

    def go_on(called: _Called) -> Command[str]:
        return Command(goto=Send(outcome_node, called))

    def run(given: _Call, config: RunnableConfig) -> Command[str]:
        call = given["call"]
        tool = handoffs.get(call["name"])
        if tool is None:
            return go_on(_answered(others.invoke(_with_context(given), config), call))
        return go_on({"call": call, "sent": send_once(sending(tool), tool._shape.input_of(call["args"]), config)})

    async def arun(given: _Call, config: RunnableConfig) -> Command[str]:
        call = given["call"]
        tool = handoffs.get(call["name"])
        if tool is None:
            return go_on(_answered(await others.ainvoke(_with_context(given), config), call))
        input = tool._shape.input_of(call["args"])
        return go_on({"call": call, "sent": await asend_once(sending(tool), input, config)})

    def client_of(call: ToolCall) -> AnyClient:
        tool = handoffs.get(call["name"])
        if tool is None:
            name = call["name"]
            raise UsageError(f"The thread waits for the tool {name}, which this graph no longer has.", "Put it back.")
        return tool._hf

    def wait(called: _Called, config: RunnableConfig) -> Any:
        if "messages" in called:
            return called
        call = called["call"]
        return _told(call, wait_for(called["sent"], config, lambda: client_of(call)))

    async def await_(called: _Called, config: RunnableConfig) -> Any:
        if "messages" in called:
            return called
        call = called["call"]
        return _told(call, await await_for(called["sent"], config, lambda: client_of(call)))

    watch_compiled(builder)
    builder.add_node(name, node(name, fan_out, afan_out), destinations=(call_node,))
    builder.add_node(call_node, node(call_node, run, arun), destinations=(outcome_node,))
    builder.add_node(outcome_node, node(outcome_node, wait, await_))
    if next is not None:
        builder.add_edge(outcome_node, next)
    return builder


def _told(call: ToolCall, outcome: Outcome) -> dict[str, Any]:
    return {"messages": [tool_message(outcome, call["name"], call["id"] or "")]}


def _with_context(given: _Call) -> dict[str, Any]:
    """As a ToolNode takes one call together with the state, which its tools may want."""
    return {"__type": "tool_call_with_context", "tool_call": given["call"], "state": given["state"]}


def _messages_in(state: Any) -> Sequence[Any]:
    found: Sequence[Any] = state["messages"] if isinstance(state, dict) else state.messages
    return found


def _open_calls(messages: Sequence[Any]) -> list[ToolCall]:
    """Calls of the last message of the model that have no answer yet."""
    last = next((message for message in reversed(messages) if isinstance(message, AIMessage)), None)
    answered = {message.tool_call_id for message in messages if isinstance(message, ToolMessage)}
    calls = [] if last is None else [call for call in last.tool_calls if call["id"] not in answered]
    if calls:
        return calls
    raise UsageError(
        "The last message of the model calls no tool.",
        "Lead here only if it does: tools_condition of langgraph.prebuilt tells.",
    )


def _answered(result: Any, call: ToolCall) -> _Answered:
    messages = result.get("messages") if isinstance(result, dict) else result
    if isinstance(messages, list) and not any(isinstance(each, Command) for each in messages):
        return {"messages": messages}
    raise UsageError(
        f"The tool {call['name']} returns a command.", "Beside tools that hand off, let tools return messages."
    )
