"""A tool's arguments between JSON Schema, in which the relay checks them, and the pydantic models that CrewAI makes.

On its way through such a model a value changes: what was left out becomes null, and text with a format becomes an
object of Python, which is written otherwise ("http://example.com/" with a slash, a password as asterisks).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from crewai.utilities.pydantic_schema_utils import create_model_from_schema
from pydantic import BaseModel, ConfigDict

from .._adapters import ToolShape
from ..errors import UsageError

Schema = Any
"""An object, or true or false."""


def model_of(shape: ToolShape, capability: str) -> type[BaseModel]:
    """What CrewAI shows to the language model and reads its calls with."""
    # Unless the manifest says that there is nothing else, there may be.
    extra: Any = "forbid" if shape.schema.get("additionalProperties") is False else "allow"
    schema = _with_formats_in_words(shape.schema)
    try:
        return create_model_from_schema(schema, model_name=shape.name, __config__=ConfigDict(extra=extra))
    except Exception as error:
        raise UsageError(
            f"CrewAI cannot make arguments of the input schema of {capability}: {error}",
            "Give the option input, a pydantic model of what is sent.",
        ) from error


_OF_SCHEMAS = frozenset(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"])
"""Keywords that hold schemas by names: a property may be called "format" too."""
_AS_THEY_ARE = frozenset(["const", "default", "enum", "examples"])


def _with_formats_in_words(schema: Schema) -> Schema:
    if isinstance(schema, list):
        return [_with_formats_in_words(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    changed: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in _OF_SCHEMAS and isinstance(value, dict):
            changed[keyword] = {name: _with_formats_in_words(each) for name, each in value.items()}
        elif keyword != "format":
            changed[keyword] = value if keyword in _AS_THEY_ARE else _with_formats_in_words(value)
    if isinstance(schema.get("format"), str):
        told = schema.get("description")
        changed["description"] = f"{told} (format: {schema['format']})" if told else f"Format: {schema['format']}"
    return changed


def without_nulls(root: Schema, value: Any) -> Any:
    """Without those that stand for what was left out: the schema does not ask for the member, and knows no null."""
    return _without(root, [root], value)


def _without(root: Schema, schemas: Sequence[Schema], value: Any) -> Any:
    parts = [part for schema in schemas for part in _parts_of(root, schema, value)]
    if isinstance(value, list):
        items = [part["items"] for part in parts if "items" in part]
        return [_without(root, items, each) for each in value]
    if not isinstance(value, dict):
        return value
    kept: dict[str, Any] = {}
    for name, each in value.items():
        owners = [part for part in parts if name in part.get("properties", {})]
        own = [part["properties"][name] for part in owners]
        is_asked_for = all(name in part.get("required", []) for part in owners)
        if each is not None or is_asked_for or any(_takes_null(root, schema) for schema in own):
            others = [part["additionalProperties"] for part in parts if "additionalProperties" in part]
            kept[name] = _without(root, own or others, each)
    return kept


def _parts_of(root: Schema, schema: Schema, value: Any) -> list[dict[str, Any]]:
    """The schema, and those that it is made of; of alternatives, those that the value may be meant for."""
    if not isinstance(schema, dict):
        return []
    parts = [schema]
    for each in (_target_of(root, schema.get("$ref")), *schema.get("allOf", [])):
        parts += _parts_of(root, each, value)
    for keyword in ("anyOf", "oneOf"):
        options = [_parts_of(root, each, value) for each in schema.get(keyword, [])]
        meant = [option for option in options if all(_may_be_meant(part, value) for part in option)]
        parts += [part for option in meant or options for part in option]
    return parts


def _may_be_meant(schema: dict[str, Any], value: Any) -> bool:
    """By what tells alternatives apart: whether it is an object, and the members that are there or have one value."""
    kinds: object = schema.get("type", "object")
    if not isinstance(value, dict):
        return kinds != "object"
    properties = schema.get("properties", {})
    if kinds != "object" and not (isinstance(kinds, list) and "object" in kinds):
        return False
    if any(name not in value for name in schema.get("required", [])):
        return False
    if schema.get("additionalProperties") is False and not properties.keys() >= value.keys():
        return False
    return all(_is_one_value(properties.get(name, {}), each) for name, each in value.items() if each is not None)


def _is_one_value(schema: Schema, value: Any) -> bool:
    given = schema if isinstance(schema, dict) else {}
    return value == given.get("const", value) and value in given.get("enum", [value])


def _takes_null(root: Schema, schema: Schema) -> bool:
    if not isinstance(schema, dict):
        return schema is not False
    kinds = schema.get("type", "null")
    holds = [
        kinds == "null" or (isinstance(kinds, list) and "null" in kinds),
        None in schema.get("enum", [None]),
        schema.get("const") is None,
        _takes_null(root, _target_of(root, schema.get("$ref"))),
        *(_takes_null(root, each) for each in schema.get("allOf", [])),
        *(any(_takes_null(root, each) for each in schema[one]) for one in ("anyOf", "oneOf") if one in schema),
    ]
    return all(holds)


def _target_of(root: Schema, ref: object) -> Schema:
    """What a reference within the schema leads to; relays take no others, and none that lead round in a circle."""
    if not isinstance(ref, str) or not ref.startswith("#"):
        return True
    found = root
    for step in ref[1:].split("/")[1:]:
        name = unquote(step).replace("~1", "/").replace("~0", "~")
        if not isinstance(found, Mapping) or name not in found:
            return True
        found = found[name]
    return found
