"""Schemas by what they can do: any type that pydantic knows, or plain JSON Schema.

Of a type, pydantic makes the schema that the relay checks, the value that a handler is given, and the JSON of what it
returns. Plain JSON Schema goes to the relay as it stands; the values stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol

import pydantic
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind
from pydantic_core import PydanticSerializationError

from .._relay_schema import for_relay
from .._typed import Unfit, faults, opened
from ..errors import UsageError

Side = Literal["input", "output"]


class NotJson(Exception):
    """A value fits and cannot be written as JSON."""


class ReadSchema(Protocol):
    """A schema that was read: as the relay checks it, and as this side does."""

    @property
    def json(self) -> dict[str, Any]:
        """As the relay has it."""

    def opened(self, value: Any) -> Any:
        """What a handler is given for a value off the wire. Raises Unfit."""

    def written(self, value: Any) -> Any:
        """The JSON of what a handler returned. Raises Unfit or NotJson."""


def read_schema(schema: Any, side: Side, where: str) -> ReadSchema:
    """``where`` is how a person finds it, such as "The input of web_research"."""
    if isinstance(schema, Mapping):
        return _Plain(dict(schema))
    try:
        adapter: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(schema)
        mode: Literal["validation", "serialization"] = "validation" if side == "input" else "serialization"
        written = adapter.json_schema(by_alias=True, mode=mode, schema_generator=_Generator)
    # A string is taken for a type's name, which need not be one.
    except (pydantic.PydanticUserError, pydantic.errors.PydanticInvalidForJsonSchema, SyntaxError, NameError) as error:
        raise UsageError(
            f"{where} cannot be written as JSON Schema: {str(error).splitlines()[0]}",
            "Describe what goes over the wire with types that pydantic knows, or give JSON Schema (input=, output=).",
        ) from error
    return _Typed(adapter, for_relay(written))


class _Generator(GenerateJsonSchema):
    """Without the titles that pydantic makes of names: they say nothing new, and a manifest has its bounds."""

    ignored_warning_kinds: set[JsonSchemaWarningKind] = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


class _Plain:
    def __init__(self, json: dict[str, Any]) -> None:
        self.json = json

    def opened(self, value: Any) -> Any:
        return value

    def written(self, value: Any) -> Any:
        return value


class _Typed:
    def __init__(self, adapter: pydantic.TypeAdapter[Any], json: dict[str, Any]) -> None:
        self.json = json
        self._adapter = adapter

    def opened(self, value: Any) -> Any:
        return opened(self._adapter, value)

    def written(self, value: Any) -> Any:
        try:
            fitting = self._adapter.validate_python(value)
        except pydantic.ValidationError as error:
            raise Unfit(faults(error)) from error
        try:
            return self._adapter.dump_python(fitting, mode="json", by_alias=True, warnings=False)
        except (PydanticSerializationError, ValueError) as error:
            raise NotJson(str(error)) from error
