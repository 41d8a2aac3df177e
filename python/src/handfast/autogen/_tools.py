"""A capability as a tool for agents: its name, description and arguments are those of the manifest."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, cast

from autogen_agentchat.base import Handoff
from autogen_core import CancellationToken
from autogen_core.tools import BaseTool, ToolSchema
from pydantic import BaseModel, ConfigDict, PrivateAttr
from typing_extensions import Unpack

from .._adapters import ToolShape, error_text, outcome_text, target_of, tool_shape_of
from .._client import AsyncClient
from .._send.options import SendOptions, Target
from ..errors import HandfastError
from ._sending import PAUSED, send_and_pause, send_and_wait


class _Arguments(BaseModel):
    """Whatever the manifest says: the relay checks them."""

    model_config = ConfigDict(extra="allow")


class HandoffTool(BaseTool[_Arguments, Any]):
    """Hands off, and waits in place for the outcome. Made by ``handoff_tool``."""

    def __init__(
        self, hf: AsyncClient, target: Target, shape: ToolShape, options: SendOptions, pauses: bool = False
    ) -> None:
        super().__init__(_Arguments, str, shape.name, shape.description)
        self._hf = hf
        self._target = target
        self._shape = shape
        self._options = options
        self._pauses = pauses

    @property
    def schema(self) -> ToolSchema:
        """As the manifest has it."""
        parameters: Any = self._shape.schema
        return ToolSchema(name=self.name, description=self.description, parameters=parameters, strict=False)

    async def run(self, args: _Arguments, cancellation_token: CancellationToken) -> str:
        """As the framework calls it."""
        return await self.run_json(args.model_dump(), cancellation_token)

    async def run_json(
        self, args: Mapping[str, Any], cancellation_token: CancellationToken, call_id: str | None = None
    ) -> str:
        """The outcome as text, also where it failed: with its code, and whether a retry may help."""
        input = self._shape.input_of(dict(args))
        send = self._pause(input) if self._pauses else self._wait(input)
        work = asyncio.ensure_future(send)
        cancellation_token.link_future(work)
        try:
            return await work
        except HandfastError as error:
            return error_text(error)

    async def _wait(self, input: Any) -> str:
        return outcome_text(await send_and_wait(self._hf, self._target, input, self._options))

    async def _pause(self, input: Any) -> str:
        return await send_and_pause(self._hf, self._target, input, self._options)


class PausingHandoff(Handoff):
    """One of an AssistantAgent's ``handoffs``: it is sent, and the team hands over to nobody here. Made by
    ``pausing_handoff``."""

    _tool: HandoffTool = PrivateAttr()

    @classmethod
    def of(cls, tool: HandoffTool) -> PausingHandoff:
        """By the tool that sends."""
        name = tool.name if tool.name.isidentifier() else "".join(c if c.isalnum() else "_" for c in f"to_{tool.name}")
        made = cls(target=PAUSED, name=name, description=tool.description)
        tool._name = name
        made._tool = tool
        return made

    @property
    def handoff_tool(self) -> BaseTool[BaseModel, BaseModel]:
        """What the model calls."""
        return cast("BaseTool[BaseModel, BaseModel]", self._tool)


async def handoff_tool(
    hf: AsyncClient,
    capability: str,
    *,
    to: str | None = None,
    name: str | None = None,
    description: str | None = None,
    input: Any = None,
    **options: Unpack[SendOptions],
) -> HandoffTool:
    """A tool that waits in place. A failure is told to the model, with its code and whether a retry may help.

    The options of ``send()``, and:

    :param to: A certain agent. Default: whoever offers the capability.
    :param name: What the model calls it. Default: the capability's name.
    :param description: Default: that of the manifest.
    :param input: A type that pydantic knows, or JSON Schema. Default: that of the manifest. With it and a description
        nobody needs to offer the capability yet.
    """
    shape = await tool_shape_of(hf, capability=capability, to=to, name=name, description=description, input=input)
    return HandoffTool(hf, target_of(capability, to), shape, options)


async def pausing_handoff(
    hf: AsyncClient,
    capability: str,
    *,
    to: str | None = None,
    name: str | None = None,
    description: str | None = None,
    input: Any = None,
    **options: Unpack[SendOptions],
) -> PausingHandoff:
    """For the ``handoffs`` of an AssistantAgent in a team that TeamRuns runs. Parameters as of ``handoff_tool``.

    The team needs ``HandoffTermination(target=PAUSED)``.
    """
    shape = await tool_shape_of(hf, capability=capability, to=to, name=name, description=description, input=input)
    return PausingHandoff.of(HandoffTool(hf, target_of(capability, to), shape, options, pauses=True))
