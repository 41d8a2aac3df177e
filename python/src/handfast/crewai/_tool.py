"""A capability as a tool for agents: its name, description and arguments are those of the manifest."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from crewai.tools import BaseTool
from crewai.tools.tool_failure import ToolFailure
from pydantic import BaseModel, PrivateAttr
from pydantic_core import to_jsonable_python
from typing_extensions import Unpack

from .._adapters import (
    AnySender,
    Outcome,
    ToolShape,
    async_client_of,
    blocked,
    hand_off,
    outcome_text,
    sender_of,
    sentence,
    target_of,
    tool_shape_of,
)
from .._send.options import SendOptions, Target
from .._sync import Client
from ..errors import HandoffError, RelayUnreachable
from ._arguments import model_of, without_nulls
from ._scene import context_now, key_within


def _never(_arguments: Any = None, _result: Any = None) -> bool:
    """A handoff is not its arguments: what failed may succeed the next time, and what was done is to be done again."""
    return False


class HandoffTool(BaseTool):
    """Hands work off and waits for its outcome. Made by `handoff_tool`."""

    cache_function: Any = _never
    _shape: ToolShape = PrivateAttr()
    _owner: Client = PrivateAttr()
    _target: Target = PrivateAttr()
    _options: SendOptions = PrivateAttr()

    reports: ClassVar[tuple[type[Exception], ...]] = (HandoffError, RelayUnreachable)
    """What the model is told of. Anything else is a mistake in the program."""

    def run(self, /, *args: Any, **arguments: Any) -> Any:
        """As CrewAI's own, which cannot be given an argument called "self"."""
        if args:
            return super().run(*args, **arguments)
        given = self._validate_kwargs(arguments)
        return self._claim_usage() or self._run(**given)

    async def arun(self, /, *args: Any, **arguments: Any) -> Any:
        if args:
            return await super().arun(*args, **arguments)
        given = self._validate_kwargs(arguments)
        return self._claim_usage() or await self._arun(**given)

    def _run(self, /, **arguments: Any) -> str | ToolFailure:
        given = without_nulls(self._shape.schema, to_jsonable_python(arguments))
        context = context_now()
        owner: AnySender = self._owner if context is None else context
        input = self._shape.input_of(given)
        key = None if context is None else key_within(context, [self._target, input])
        work = hand_off(sender_of(owner), self._target, input, self._options, key=key, is_child=context is not None)
        try:
            return _told(blocked(owner, work))
        except self.reports as error:
            return _failure(error)

    async def _arun(self, /, **arguments: Any) -> str | ToolFailure:
        return await asyncio.to_thread(lambda: self._run(**arguments))


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
    """A tool that hands work to whoever offers the capability, and waits.

    In a crew that is served, what it sends is below the handoff that the crew works on, and a redelivery that comes the
    same way sends nothing twice. How it failed is told to the model, with its code and whether another try may help.

    :param hf: The kind that blocks, as CrewAI's tools do.
    :param to: A certain agent. Default: whoever offers the capability.
    :param name: What the model calls it. Default: the capability's name.
    :param description: Default: that of the manifest.
    :param input: What the input must fit: a pydantic model, or JSON Schema. Default: that of the manifest. With it and
        a description nobody needs to offer the capability yet.
    :param options: Those of `send`.
    """
    client = async_client_of(hf)
    shape = blocked(
        hf,
        tool_shape_of(client, capability=capability, to=to, name=name, description=description, input=input),
    )
    is_model = isinstance(input, type) and issubclass(input, BaseModel)
    arguments = input if is_model else model_of(shape, capability)
    tool = HandoffTool(name=shape.name, description=shape.description, args_schema=arguments)
    tool._shape, tool._owner, tool._target, tool._options = shape, hf, target_of(capability, to), options
    return tool


def _told(outcome: Outcome) -> str | ToolFailure:
    text = outcome_text(outcome)
    if outcome["status"] == "completed":
        return text
    details = {"handoff": outcome["handoff"], "status": outcome["status"], "reason": outcome["error"]["reason"]}
    return ToolFailure(message=text, code=str(outcome["code"]), retryable=outcome["retryable"], details=details)


def _failure(error: Any) -> ToolFailure:
    again = "Trying again may help." if error.retryable else "Trying the same again does not help."
    code = str(getattr(error, "code", error.reason))
    return ToolFailure(message=f"{sentence(error.message)} {again}", code=code, retryable=error.retryable)
