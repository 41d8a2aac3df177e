"""What a worker serves: handlers by the name of their capability, and the manifest that follows from them."""

from __future__ import annotations

import functools
import inspect
import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final, TypeVar, Union

from .._duration import Duration, to_ms
from .._protocol.ids import is_name
from ..errors import UsageError
from .limits import DESCRIPTION_CHARS
from .schema import ReadSchema, Side, read_schema
from .signature import MISSING, Shape, shape_of

Handler = Callable[..., Any]
"""Does the work of one handoff and returns its output: ``handler(input)`` or ``handler(input, ctx)``, plain or async.

What it raises decides what happens: ``Fail`` ends the handoff, ``Retry`` asks for another attempt, ``Reject`` leaves
it to another agent, any other exception is retried.
"""

F = TypeVar("F", bound=Handler)

_NAME_REMEDY: Final = "Use up to 128 letters, digits, dots, underscores and hyphens, beginning with a letter or digit."


@dataclass(frozen=True)
class CapabilityDefinition:
    """One capability in full. Its schemas are checked by the relay: input before it is accepted, output before it
    counts."""

    handler: Handler
    input: Any = None
    """Any type that pydantic knows, or JSON Schema. Default: what the handler's annotations say; without, anything."""
    output: Any = None
    timeout: Duration | None = None
    """The attempt clock: how long one attempt may run. Default: the relay's, 5 minutes."""
    description: str | None = None
    """Default: the handler's docstring."""
    version: str | None = None
    tags: Sequence[str] | None = None
    idempotent: bool | None = None
    """False: never run a second time once it was acknowledged; a lost worker makes a dead letter. Default: true."""
    ext: Mapping[str, Any] | None = None
    text: bool = False
    """The handler is given text and returns text, sent as plain text and not as JSON."""
    names: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """What could be named where the handler was defined, for annotations that are only text."""


Capabilities = Mapping[str, Union[Handler, CapabilityDefinition, Mapping[str, Any]]]
"""Handlers by capability: a definition each, or a bare function where there is nothing to say but the handler.

A definition may be a plain dict with the same members.
"""


@dataclass(frozen=True)
class Offered:
    """A capability as the loop uses it."""

    name: str
    manifest: dict[str, Any]
    handler: Handler
    shape: Shape
    input: ReadSchema | None
    output: ReadSchema | None
    text: bool


def _mentioned(handler: Any, names: Mapping[str, Any]) -> dict[str, Any]:
    """Of these names, those in its annotations: they may be only text, and their classes local to where the handler
    is."""
    texts = " ".join(str(hint) for hint in getattr(handler, "__annotations__", {}).values())
    return {name: names[name] for name in re.findall(r"[^\W\d]\w*", texts) if name in names}


class Registry:
    """The capabilities that were put on functions of one client, until it serves."""

    def __init__(self) -> None:
        self.definitions: dict[str, CapabilityDefinition] = {}

    def capability(
        self,
        name: str | None = None,
        *,
        input: Any = None,
        output: Any = None,
        timeout: Duration | None = None,
        description: str | None = None,
        version: str | None = None,
        tags: Sequence[str] | None = None,
        idempotent: bool | None = None,
        ext: Mapping[str, Any] | None = None,
        text: bool = False,
    ) -> Callable[[F], F]:
        """For a function of either kind, which stays callable as before. Without a name: the function's own."""
        if name is not None and not isinstance(name, str):
            raise UsageError(
                "capability is used without brackets.", 'Write @hf.capability("name"), or @hf.capability().'
            )

        def keep(handler: F) -> F:
            own = name if name is not None else getattr(handler, "__name__", "")
            if own in self.definitions:
                raise UsageError(f"There are two handlers of {own}.", "Give each capability a name of its own.")
            names = _mentioned(handler, sys._getframe(1).f_locals)
            self.definitions[own] = CapabilityDefinition(
                handler, input, output, timeout, description, version, tags, idempotent, ext, text, names
            )
            return handler

        return keep

    def with_given(self, capabilities: Capabilities | None) -> Capabilities:
        """What is given, and what was put on functions before."""
        given = {} if capabilities is None else dict(capabilities)
        twice = [name for name in given if name in self.definitions]
        if twice:
            raise UsageError(f"There are two handlers of {twice[0]}.", "Give each capability a name of its own.")
        return {**self.definitions, **given}


def read_capabilities(capabilities: Capabilities) -> dict[str, Offered]:
    """Each as the loop uses it. Raises a UsageError that says what is wrong with which."""
    if not capabilities:
        raise UsageError(
            "There is no capability to serve.",
            'Put @hf.capability("name") on a function, or name one here: serve({"shout": lambda text: text.upper()}).',
        )
    return {name: read_capability(name, entry) for name, entry in capabilities.items()}


def read_capability(name: str, entry: Handler | CapabilityDefinition | Mapping[str, Any]) -> Offered:
    if not is_name(name):
        raise UsageError(f"{name!r} is no name for a capability.", _NAME_REMEDY)
    definition = _definition(name, entry)
    shape = shape_of(definition.handler, name, definition.names, must_read=_needs_hints(definition))
    reads = functools.partial(_schema, name, definition, shape)
    input, output = reads("input"), reads("output")
    return Offered(
        name=name,
        manifest=_manifest(name, definition, input, output),
        handler=definition.handler,
        shape=shape,
        input=input,
        output=output,
        text=definition.text,
    )


def _definition(name: str, entry: Any) -> CapabilityDefinition:
    if isinstance(entry, Mapping):
        known = [each.name for each in fields(CapabilityDefinition) if each.name != "names"]
        strange = [key for key in entry if key not in known]
        if strange:
            raise UsageError(f"{strange[0]!r} is not an option of the capability {name}.", f"Use {', '.join(known)}.")
        entry = CapabilityDefinition(**{"handler": None, **entry})
    definition = entry if isinstance(entry, CapabilityDefinition) else CapabilityDefinition(entry)
    if not callable(definition.handler):
        raise UsageError(f"The capability {name} has no handler.", f'Give one: {{"{name}": lambda input, ctx: ...}}.')
    return definition


def _needs_hints(definition: CapabilityDefinition) -> bool:
    """Where all types are given, annotations that cannot be read are no hindrance."""
    return not definition.text and (definition.input is None or definition.output is None)


def _schema(name: str, definition: CapabilityDefinition, shape: Shape, side: Side) -> ReadSchema | None:
    given = getattr(definition, side)
    if given is None and not definition.text:
        hint = shape.input_type if side == "input" else shape.output_type
        return None if hint is MISSING else read_schema(hint, side, f"The {side} of {name}")
    return None if given is None else read_schema(given, side, f"The {side} of {name}")


def _manifest(
    name: str, definition: CapabilityDefinition, input: ReadSchema | None, output: ReadSchema | None
) -> dict[str, Any]:
    said = {
        "description": _description(definition),
        "version": definition.version,
        "input_schema": None if input is None else input.json,
        "output_schema": None if output is None else output.json,
        "timeout_seconds": _seconds(name, definition.timeout),
        "idempotent": definition.idempotent,
        "tags": None if definition.tags is None else list(definition.tags),
        "ext": None if definition.ext is None else dict(definition.ext),
    }
    return {"name": name, **{key: value for key, value in said.items() if value is not None}}


def _seconds(name: str, timeout: Duration | None) -> int | None:
    return None if timeout is None else max(1, math.ceil(to_ms(timeout, f"The timeout of {name}") / 1_000))


def _description(definition: CapabilityDefinition) -> str | None:
    if definition.description is not None:
        return definition.description
    handler: Any = definition.handler
    while isinstance(handler, functools.partial):
        handler = handler.func
    # Of an object that can be called, its class says what it is for; a lambda says nothing.
    told = inspect.getdoc(handler if inspect.isroutine(handler) else type(handler))
    if not told:
        return None
    return told if len(told) <= DESCRIPTION_CHARS else told[: DESCRIPTION_CHARS - 1] + "…"
