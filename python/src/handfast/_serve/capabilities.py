"""What a worker serves: handlers by the name of their capability, and the manifest that follows from them."""

from __future__ import annotations

import functools
import inspect
import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final, Literal, TypeVar, Union

from typing_extensions import Unpack

from .._duration import Duration, to_ms
from .._protocol.ids import is_name
from .._text_list import text_list
from .._wire_json import plain_text
from ..errors import UsageError
from .limits import DESCRIPTION_CHARS
from .propose import Propose
from .schema import ReadSchema, Side, read_schema
from .signature import MISSING, Shape, shape_of
from .terms import TERM_NAMES, CapabilityTerms, Cost, DataPolicy, Latency, Sla, state_terms, stated_cost

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
    """Any type that pydantic knows, JSON Schema, or shorthand: ``{"query": "string"}``. Default: what the handler's
    annotations say; without, anything."""
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
    reliability: float | None = None
    """The share of attempts that it says will succeed, above 0 and up to 1. The relay measures it."""
    sla: Sla | None = None
    """Over which time that share holds, and on which conditions."""
    side_effects: Literal["none", "reversible", "irreversible"] | None = None
    """What a run changes in the world."""
    examples: Sequence[Mapping[str, Any]] | None = None
    """``{"input": ..., "output": ..., "title": ...}`` each; the relay checks that they fit the schemas."""
    max_concurrent: int | None = None
    """How many handoffs all workers of the agent together take on at once."""
    latency: Latency | None = None
    """How long half of the attempts, and nearly all of them, take at most."""
    cost: Cost | None = None
    """The price, in millionths of the unit of account. It is sealed: only whoever asks for an offer is told."""
    data_policy: DataPolicy | None = None
    """What the agent does with what it is given. What is left out is not promised."""
    questions: Sequence[Mapping[str, Any]] | None = None
    """What it may ask the sender meanwhile: ``{"name": ..., "description": ..., "schema": ...}`` each."""
    proposes: bool | None = None
    """Wants to be asked before an offer is made in its name, and may price or decline."""
    propose: Propose | None = None
    """Asked before an offer is made in this agent's name: it prices, narrows the terms, or declines (``raise
    Reject``). With it the capability ``proposes``, unless it says otherwise."""
    names: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """What could be named where the handler was defined, for annotations that are only text."""


Capabilities = Mapping[str, Union[Handler, CapabilityDefinition, Mapping[str, Any]]]
"""Handlers by capability: a definition each, or a bare function where there is nothing to say but the handler.

A definition may be a plain dict with the same members.
"""


@dataclass(frozen=True)
class Listed:
    """A capability as the manifest lists it."""

    name: str
    manifest: dict[str, Any]
    """Without its cost, which is sealed where it is stated."""
    cost: dict[str, Any] | None


@dataclass(frozen=True)
class Offered(Listed):
    """A capability as the loop uses it."""

    handler: Handler
    shape: Shape
    input: ReadSchema | None
    output: ReadSchema | None
    text: bool
    propose: Propose | None


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
        propose: Propose | None = None,
        **terms: Unpack[CapabilityTerms],
    ) -> Callable[[F], F]:
        """For a function of either kind, which stays callable as before. Without a name: the function's own."""
        if name is not None and not isinstance(name, str):
            raise UsageError(
                "capability is used without brackets.", 'Write @hf.capability("name"), or @hf.capability().'
            )

        strange = [key for key in terms if key not in TERM_NAMES]
        if strange:
            raise UsageError(f"{strange[0]!r} is not an option of a capability.", f"Use {', '.join(_option_names())}.")

        def keep(handler: F) -> F:
            own = name if name is not None else getattr(handler, "__name__", "")
            if own in self.definitions:
                raise UsageError(f"There are two handlers of {own}.", "Give each capability a name of its own.")
            names = _mentioned(handler, sys._getframe(1).f_locals)
            definition = CapabilityDefinition(
                handler,
                input,
                output,
                timeout,
                description,
                version,
                tags,
                idempotent,
                ext,
                text,
                propose=propose,
                names=names,
                **terms,
            )
            _check(own, definition)
            self.definitions[own] = definition
            return handler

        return keep

    def with_given(self, capabilities: Capabilities | None) -> Capabilities:
        """What is given, and what was put on functions before."""
        given = {} if capabilities is None else dict(capabilities)
        twice = [name for name in given if name in self.definitions]
        if twice:
            raise UsageError(f"There are two handlers of {twice[0]}.", "Give each capability a name of its own.")
        return {**self.definitions, **given}


_NOT_YET: Final = frozenset(["class-not-fully-defined", "undefined-annotation"])
"""Pydantic's words for a type whose parts are defined further down."""


def _check(name: str, definition: CapabilityDefinition) -> None:
    """What is wrong with a handler is said where it stands, and not where it is served.

    Only what is defined further down in its module cannot be told yet: `serve()` reads it all again.
    """
    try:
        read_capability(name, definition)
    except UsageError as error:
        cause = error.__cause__
        if not isinstance(cause, NameError) and getattr(cause, "code", None) not in _NOT_YET:
            raise


def read_capabilities(capabilities: Capabilities) -> dict[str, Offered]:
    """Each as the loop uses it. Raises a UsageError that says what is wrong with which."""
    if not capabilities:
        raise UsageError(
            "There is no capability to serve.",
            'Put @hf.capability("name") on a function, or name one here: serve({"shout": lambda text: text.upper()}).',
        )
    read = [read_capability(name, entry) for name, entry in capabilities.items()]
    return {offered.name: offered for offered in read}


def read_elsewhere(capabilities: Capabilities) -> dict[str, Listed]:
    """Of what other processes serve only what stands in the manifest. Their handlers need not be here; where they are,
    they tell the same as in the process that serves them."""
    read: dict[str, Listed] = {}
    for name, entry in capabilities.items():
        told = {"handler": _nobody, **entry} if isinstance(entry, Mapping) else entry
        offered = read_capability(name, told)
        read[offered.name] = Listed(offered.name, offered.manifest, offered.cost)
    return read


def _nobody(_input):  # type: ignore[no-untyped-def]
    # Without a docstring or annotations: it would tell the manifest what it is for.
    raise NotImplementedError("another process serves this capability")


def read_capability(name: str, entry: Handler | CapabilityDefinition | Mapping[str, Any]) -> Offered:
    if not is_name(name):
        raise UsageError(f"{name!r} is no name for a capability.", _NAME_REMEDY)
    name = plain_text(name)
    definition = _definition(name, entry)
    shape = shape_of(definition.handler, name, definition.names, must_read=_needs_hints(definition))
    reads = functools.partial(_schema, name, definition, shape)
    input, output = reads("input"), reads("output")
    return Offered(
        name=name,
        manifest=_manifest(name, definition, input, output),
        cost=stated_cost(name, definition.cost),
        handler=definition.handler,
        shape=shape,
        input=input,
        output=output,
        text=definition.text,
        propose=definition.propose,
    )


def _definition(name: str, entry: Any) -> CapabilityDefinition:
    if isinstance(entry, Mapping):
        known = _option_names()
        strange = [key for key in entry if key not in known]
        if strange:
            raise UsageError(f"{strange[0]!r} is not an option of the capability {name}.", f"Use {', '.join(known)}.")
        entry = CapabilityDefinition(**{"handler": None, **entry})
    definition = entry if isinstance(entry, CapabilityDefinition) else CapabilityDefinition(entry)
    if not callable(definition.handler):
        raise UsageError(f"The capability {name} has no handler.", f'Give one: {{"{name}": lambda input, ctx: ...}}.')
    if definition.propose is not None and not callable(definition.propose):
        raise UsageError(f"The propose of {name} is {definition.propose!r}.", "Give a function of one call.")
    return definition


def _option_names() -> list[str]:
    return [each.name for each in fields(CapabilityDefinition) if each.name != "names"]


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
    terms = {term: getattr(definition, term) for term in TERM_NAMES}
    if definition.propose is not None and definition.proposes is None:
        terms["proposes"] = True
    said = {
        "description": _description(definition),
        "version": definition.version,
        "input_schema": None if input is None else input.json,
        "output_schema": None if output is None else output.json,
        "timeout_seconds": _seconds(name, definition.timeout),
        "idempotent": definition.idempotent,
        "tags": None if definition.tags is None else text_list(definition.tags, f"The tags of {name}"),
        **state_terms(name, terms),
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
