"""Checks values against the protocol's own schemas: the few words of JSON Schema that they are written in, and no
others.

It is not for schemas of users: those are checked by the relay, and by pydantic in a handler.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any


class SchemaFault(Exception):
    """The first misfit: a JSON pointer and a few words."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(path, message)
        self.path = path
        self.message = message


_KNOWN = {
    "type", "const", "enum", "pattern", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "required",
    "properties", "additionalProperties", "propertyNames", "maxProperties", "items", "minItems", "maxItems", "anyOf",
    "description",
}  # fmt: skip


def check_schema(schema: dict[str, Any], value: Any, path: str = "") -> None:
    """Raises SchemaFault. A word that is not known here would be a rule that is not kept: it is an error of its own."""
    unknown = schema.keys() - _KNOWN
    if unknown:
        raise NotImplementedError(f"The schemas of the protocol use {', '.join(sorted(unknown))}.")
    if "anyOf" in schema and not any(_fits(option, value) for option in schema["anyOf"]):
        is_target = all("required" in option for option in schema["anyOf"])
        raise SchemaFault(path, "must name an agent (to) or a capability" if is_target else "fits none of its forms")
    if "const" in schema and not _is_equal(value, schema["const"]):
        raise SchemaFault(path, f"must be {schema['const']!r}")
    if "enum" in schema and not any(_is_equal(value, each) for each in schema["enum"]):
        raise SchemaFault(path, f"must be one of {', '.join(map(str, schema['enum']))}")
    if "type" in schema and not _is_type(value, schema["type"]):
        raise SchemaFault(path, f"must be {schema['type']}")
    if isinstance(value, str):
        _check_string(schema, value, path)
    elif isinstance(value, dict):
        _check_object(schema, value, path)
    elif isinstance(value, list):
        _check_array(schema, value, path)
    elif _is_number(value):
        _check_number(schema, value, path)


def _fits(schema: dict[str, Any], value: Any) -> bool:
    try:
        check_schema(schema, value)
    except SchemaFault:
        return False
    return True


def _is_equal(left: Any, right: Any) -> bool:
    return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)


def _is_type(value: Any, name: str) -> bool:
    if name == "integer":
        return _is_number(value) and value == int(value)
    if name == "number":
        return _is_number(value)
    kinds: dict[str, type] = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
    return isinstance(value, kinds[name])


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


@cache
def _pattern(text: str) -> re.Pattern[str]:
    # Python's $ also matches before a line feed at the end.
    return re.compile(text[:-1] + r"\Z" if text.endswith("$") else text)


def _check_number(schema: dict[str, Any], value: float, path: str) -> None:
    if not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        raise SchemaFault(path, f"must be from {schema.get('minimum')} to {schema.get('maximum')}")
    if "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
        raise SchemaFault(path, f"must be above {schema['exclusiveMinimum']}")


def _check_string(schema: dict[str, Any], value: str, path: str) -> None:
    if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)):
        raise SchemaFault(path, f"must have {schema.get('minLength', 0)} to {schema.get('maxLength')} characters")
    if "pattern" in schema and _pattern(schema["pattern"]).search(value) is None:
        raise SchemaFault(path, f"must match {schema['pattern']}")


def _check_object(schema: dict[str, Any], value: dict[str, Any], path: str) -> None:
    for name in schema.get("required", ()):
        if name not in value:
            raise SchemaFault(path, f"must have {name}")
    if len(value) > schema.get("maxProperties", len(value)):
        raise SchemaFault(path, f"must have at most {schema['maxProperties']} members")
    properties = schema.get("properties", {})
    others = schema.get("additionalProperties", True)
    for name, member in value.items():
        below = f"{path}/{name.replace('~', '~0').replace('/', '~1')}"
        if "propertyNames" in schema:
            check_schema(schema["propertyNames"], name, below)
        if name in properties:
            check_schema(properties[name], member, below)
        elif others is False:
            raise SchemaFault(below, "is not a field of this document")
        elif others is not True:
            check_schema(others, member, below)


def _check_array(schema: dict[str, Any], value: list[Any], path: str) -> None:
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        raise SchemaFault(path, f"must have {schema.get('minItems', 0)} to {schema.get('maxItems')} items")
    for at, item in enumerate(value):
        check_schema(schema.get("items", {}), item, f"{path}/{at}")
