"""A tool out of a manifest: what a model must know of a capability in order to hand work to it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .._client import AsyncClient
from .._send.options import Target, TargetDict
from .._serve.schema import read_schema
from ..errors import UsageError

_Manifest = dict[str, Any]


@dataclass(frozen=True)
class ToolShape:
    """As frameworks want it."""

    name: str
    """As model providers take it: letters, digits, underscores and hyphens, up to 64."""
    description: str
    schema: dict[str, Any]
    """JSON Schema of an object: models give arguments by name."""
    input_of: Callable[[dict[str, Any]], Any]
    """From the model's arguments to the handoff's input."""


async def tool_shape_of(
    hf: AsyncClient,
    *,
    capability: str,
    to: str | None = None,
    name: str | None = None,
    description: str | None = None,
    input: Any = None,
) -> ToolShape:
    """Runs on the client's event loop.

    :param to: A certain agent. Default: whoever offers the capability.
    :param name: What the model calls it. Default: the capability's name.
    :param description: Default: that of the manifest.
    :param input: What the input must fit: a type that pydantic knows, or JSON Schema. Default: that of the manifest.
        With both, nobody needs to offer the capability yet.
    """
    manifest: _Manifest = {}
    if input is None or description is None:
        manifest = await _manifest_of(hf, capability, to, is_needed=input is None)
    schema: dict[str, Any] = dict(manifest.get("input_schema") or {})
    if input is not None:
        schema = dict(read_schema(input, "input", f"The input of the tool for {capability}").json)
    own_name = re.sub(r"[^A-Za-z0-9_-]", "_", name or capability)[:64]
    told = description or manifest.get("description") or f"Hands work to an agent that offers {capability}."
    if schema.get("type") == "object":
        return ToolShape(own_name, told, {"properties": {}, **schema}, lambda args: args)
    # Text, a list, or anything: by a name of its own.
    referred = {key: value for key, value in schema.items() if key in ("$defs", "definitions")}
    own = {key: value for key, value in schema.items() if key not in referred}
    wrapped = {"type": "object", "properties": {"input": own}, "required": ["input"], "additionalProperties": False}
    # What the schema refers to is looked for at its top.
    return ToolShape(own_name, told, {**wrapped, **referred}, lambda args: args.get("input"))


def target_of(capability: str | None, to: str | None) -> Target:
    """Who is to do it."""
    if capability is None and to is None:
        raise UsageError("The handoff has no target.", "Give the option capability, or to, or both.")
    target: TargetDict = {}
    if capability is not None:
        target["capability"] = capability
    if to is not None:
        target["to"] = to
    return target


async def _manifest_of(hf: AsyncClient, capability: str, to: str | None, *, is_needed: bool) -> _Manifest:
    if to is None:
        agents = (await hf.call("agents", query={"capability": capability, "limit": 1}))["agents"]
    else:
        agents = [await hf.call("agent", params={"name": to})]
    offered = (manifest for agent in agents for manifest in agent["capabilities"])
    found: _Manifest | None = next((manifest for manifest in offered if manifest["name"] == capability), None)
    if found is not None or not is_needed:
        return found or {}
    who = "No agent offers" if to is None else f"{to} does not offer"
    raise UsageError(
        f"{who} {capability}, so nothing is known of its input.",
        "Start its worker first, or give the options description and input (a type, or JSON Schema).",
        "nobody_offers",
    )
