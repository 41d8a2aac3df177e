"""A capability as a tool for models: its name, description and arguments are those of the manifest."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from pydantic import PrivateAttr
from typing_extensions import Unpack

from .._adapters import (
    AnyClient,
    AnySender,
    Outcome,
    ToolShape,
    async_client_of,
    awaited,
    blocked,
    hand_off,
    outcome_text,
    sender_of,
    target_of,
    tool_shape_of,
)
from .._adapters.keys import short_key
from .._client import AsyncClient
from .._send.options import SendOptions, Target, check_option_names
from .._serve import current
from .._sync import Client
from ..errors import UsageError
from ._config import auntil_kept, handoff_of, is_kept_at_all, task_of, thread_of, until_kept


class HandoffTool(BaseTool):
    """Made by `handoff_tool`.

    Called by a ToolNode it waits in place: no interrupt is raised, so that tools that are called side by side cannot
    get each other's outcome. Should the node be run again after a crash, the same handoff is found and waited for.
    `add_handoff_tools` lets the thread sleep meanwhile instead.
    """

    _hf: AnyClient = PrivateAttr()
    _shape: ToolShape = PrivateAttr()
    _target: Target = PrivateAttr()
    _options: SendOptions = PrivateAttr()

    def __init__(self, hf: AnyClient, shape: ToolShape, target: Target, options: SendOptions) -> None:
        super().__init__(name=shape.name, description=shape.description, args_schema=shape.schema)
        self._hf, self._shape, self._target, self._options = hf, shape, target, options

    def _to_args_and_kwargs(
        self, tool_input: str | dict[str, Any], tool_call_id: str | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments as a whole: they are the input of a handoff, and the relay checks them."""
        return (), {"arguments": self._parse_input(tool_input, tool_call_id), "call": tool_call_id}

    def _run(self, arguments: dict[str, Any], call: str | None, config: RunnableConfig) -> Any:
        if is_kept_at_all(config):
            until_kept(config)
        sender = self._sender(config)
        return self._told(blocked(sender, self._hand_off(sender, arguments, call, config)), call)

    async def _arun(self, arguments: dict[str, Any], call: str | None, config: RunnableConfig) -> Any:
        if is_kept_at_all(config):
            await auntil_kept(config)
        sender = self._sender(config)
        return self._told(await awaited(sender, self._hand_off(sender, arguments, call, config)), call)

    def _sender(self, config: RunnableConfig) -> AnySender:
        """Within a handler, what it hands on is below the handoff being worked on."""
        return handoff_of(config) or current() or self._hf

    async def _hand_off(
        self, sender: AnySender, arguments: dict[str, Any], call: str | None, config: RunnableConfig
    ) -> Outcome:
        task = task_of(config)
        is_found_again = call is not None and task != "" and is_kept_at_all(config)
        key = short_key(f"{task}:{call}:{thread_of(config)}") if is_found_again else None
        input = self._shape.input_of(arguments)
        is_child = not isinstance(sender, (Client, AsyncClient))
        return await hand_off(sender_of(sender), self._target, input, self._options, key=key, is_child=is_child)

    def _told(self, outcome: Outcome, call: str | None) -> Any:
        return outcome_text(outcome) if call is None else tool_message(outcome, self.name, call)


def tool_message(outcome: Outcome, name: str, call: str) -> ToolMessage:
    """For a model; the outcome itself goes along as its artifact."""
    status: Any = "success" if outcome["status"] == "completed" else "error"
    return ToolMessage(outcome_text(outcome), artifact=outcome, name=name, tool_call_id=call, status=status)


def handoff_tool(
    hf: Client,
    capability: str,
    *,
    to: str | None = None,
    name: str | None = None,
    description: str | None = None,
    input: Any = None,
    **options: Unpack[SendOptions],
) -> HandoffTool:
    """A tool that hands work to whoever offers the capability, and ends with a value however the handoff ended.

    It can be called and awaited. Other options are those of ``send()``.

    :param to: A certain agent. Default: whoever offers the capability.
    :param name: What the model calls it. Default: the capability's name.
    :param description: Default: that of the manifest.
    :param input: What the input must fit: a type that pydantic knows, or JSON Schema. Default: that of the manifest.
    """
    if isinstance(hf, AsyncClient):
        raise UsageError("An AsyncClient must be awaited.", "Use await ahandoff_tool(hf, …), or a Client.")
    check = _checked(options)
    shape = tool_shape_of(
        async_client_of(hf), capability=capability, to=to, name=name, description=description, input=input
    )
    return HandoffTool(hf, blocked(hf, shape), target_of(capability, to), check)


async def ahandoff_tool(
    hf: AnyClient,
    capability: str,
    *,
    to: str | None = None,
    name: str | None = None,
    description: str | None = None,
    input: Any = None,
    **options: Unpack[SendOptions],
) -> HandoffTool:
    """The same for an AsyncClient; the tool is then one to be awaited."""
    check = _checked(options)
    shape = tool_shape_of(
        async_client_of(hf), capability=capability, to=to, name=name, description=description, input=input
    )
    return HandoffTool(hf, await awaited(hf, shape), target_of(capability, to), check)


def _checked(options: SendOptions) -> SendOptions:
    check_option_names(options)
    if "idempotency_key" in options:
        raise UsageError("The idempotency key of a tool is made of its call.", "Leave idempotency_key out.")
    return options
