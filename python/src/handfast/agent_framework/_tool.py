"""A capability as a tool for agents: its name, description and arguments are those of the manifest."""

from __future__ import annotations

from typing import Any

from agent_framework import FunctionTool
from typing_extensions import Unpack

from .._adapters import error_text, hand_off, outcome_text, target_of, tool_shape_of
from .._client import AsyncClient
from .._send.options import SendOptions
from .._serve import AsyncContext
from ..errors import HandfastError
from ._executor import sender_now
from ._kept import running_now


async def handoff_tool(
    hf: AsyncClient,
    capability: str,
    *,
    to: str | None = None,
    name: str | None = None,
    description: str | None = None,
    input: Any = None,
    **options: Unpack[SendOptions],
) -> FunctionTool:
    """Waits in place for the outcome. A failure is told to the model, with its code and whether a retry may help.

    The options of ``send()``, and:

    :param to: A certain agent. Default: whoever offers the capability.
    :param name: What the model calls it. Default: the capability's name.
    :param description: Default: that of the manifest.
    :param input: A type that pydantic knows, or JSON Schema. Default: that of the manifest. With it and a description
        nobody needs to offer the capability yet.
    """
    shape = await tool_shape_of(hf, capability=capability, to=to, name=name, description=description, input=input)
    target = target_of(capability, to)

    async def call(**arguments: Any) -> str:
        running = running_now()
        given = shape.input_of(arguments)
        key = None if running is None else running.keys.next(target, given)
        sender = sender_now(hf)
        try:
            outcome = await hand_off(sender, target, given, options, key=key, is_child=isinstance(sender, AsyncContext))
        except HandfastError as error:
            return error_text(error)
        return outcome_text(outcome)

    return FunctionTool(name=shape.name, description=shape.description, func=call, input_model=shape.schema)
