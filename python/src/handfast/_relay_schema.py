"""Makes of a schema that pydantic wrote one that a relay takes.

A relay checks values of strangers in bounded time, so it refuses keywords that it does not check, references that go
round in a circle, and patterns that cannot run in linear time. What it would refuse is left out here: the schema then
says less, never something else, and pydantic itself still checks the whole on this side.
"""

from __future__ import annotations

import copy
import json
import math
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from ._protocol.limits import SAFE_INTEGER

Json = dict[str, Any]

_ONE: Final = frozenset(["not", "if", "then", "else", "additionalProperties", "propertyNames", "items", "contains"])
_LISTS: Final = frozenset(["allOf", "anyOf", "oneOf", "prefixItems"])
_MAPS: Final = frozenset(["properties", "patternProperties", "dependentSchemas", "$defs"])
_VALUES: Final = frozenset(["const", "enum", "default", "examples"])
_NUMBERS: Final = frozenset(
    [
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength"),
        *("minItems", "maxItems", "minContains", "maxContains", "minProperties", "maxProperties"),
    ]
)
_OTHERS: Final = frozenset(
    [
        *("$ref", "$schema", "$comment", "type", "required", "dependentRequired", "uniqueItems", "pattern", "title"),
        *("description", "deprecated", "readOnly", "writeOnly", "format", "contentEncoding", "contentMediaType"),
    ]
)
_KEYWORDS: Final = _ONE | _LISTS | _MAPS | _VALUES | _NUMBERS | _OTHERS
# In these, to say less of a part would be to say more of the whole.
_TURNED: Final = frozenset(["not", "if", "then", "else"])

_ENUM_VALUES: Final = 500
_PATTERNS: Final = 32
_PATTERN_CHARS: Final = 256
_REPEATS: Final = 1_000
# Looking around, back references, atomic groups, conditions, verbose mode, the end of a text as only Python has it.
_NOT_LINEAR: Final = re.compile(
    r"""\(\?(?:[=!>(]|<[=!]|P=|P>|[a-zA-Z]*x)|\\[1-9]|\\k<|\\Z|[*+?}]\+""",
)
_REPEAT: Final = re.compile(r"\{(\d+)(?:,(\d*))?\}")


def for_relay(schema: Json) -> Json:
    """The same schema, or one that says less. What is given is left as it is."""
    adapted = copy.deepcopy(schema)
    _cut_circles(adapted)
    _Adapter().adapt(adapted)
    return adapted


class _Adapter:
    def __init__(self) -> None:
        self._patterns = 0

    def adapt(self, schema: Any) -> None:
        """In place. A schema may be true or false too: nothing is to be done there."""
        if not isinstance(schema, dict):
            return
        if any(keyword in schema and self._loses(schema[keyword]) for keyword in _TURNED):
            for keyword in _TURNED & schema.keys():
                del schema[keyword]
        for keyword in list(schema):
            if not self._keeps(keyword, schema[keyword]):
                del schema[keyword]
        if "oneOf" in schema:
            # Of branches that say less, two may fit: then exactly one would be none.
            branches = schema.pop("oneOf")
            schema.setdefault("anyOf", branches)
        for below in _below(schema):
            self.adapt(below)

    def _loses(self, schema: Any) -> bool:
        trial = copy.deepcopy(schema)
        _Adapter().adapt(trial)
        return trial != schema or '"$ref"' in json.dumps(schema)

    def _keeps(self, keyword: str, value: Any) -> bool:
        if keyword not in _KEYWORDS:
            return False
        if keyword in _NUMBERS:
            return _is_plain(value)
        if keyword == "enum":
            return 0 < len(value) <= _ENUM_VALUES and _is_plain(value)
        if keyword in _VALUES:
            return _is_plain(value)
        if keyword == "pattern":
            return self._takes_pattern(value)
        if keyword == "patternProperties":
            return all(self._takes_pattern(name) for name in value)
        return True

    def _takes_pattern(self, pattern: str) -> bool:
        if self._patterns >= _PATTERNS or not is_linear(pattern):
            return False
        self._patterns += 1
        return True


def is_linear(pattern: str) -> bool:
    """Whether a relay can run it in time linear in its input, as far as its text tells."""
    if len(pattern) > _PATTERN_CHARS:
        return False
    # What is escaped or in a class is no operator; a class and an escaped letter that are one stay.
    bare = re.sub(r"\\[pP]\{[^}]*\}|\[\^?\]?(?:\\.|[^\]\\])*\]|\\[^1-9kZ]", "_", pattern)
    repeats = (int(number) for found in _REPEAT.finditer(bare) for number in found.groups() if number)
    return _NOT_LINEAR.search(bare) is None and all(number <= _REPEATS for number in repeats)


def _is_plain(value: Any) -> bool:
    """Whether every reader of JSON reads it alike."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return True
    if isinstance(value, (int, float)):
        return math.isfinite(value) and abs(value) <= SAFE_INTEGER
    if isinstance(value, list):
        return all(_is_plain(item) for item in value)
    return isinstance(value, dict) and all(_is_plain(member) for member in value.values())


def _below(schema: Json) -> Iterator[Any]:
    for keyword, value in schema.items():
        if keyword in _ONE:
            yield value
        elif keyword in _LISTS:
            yield from value
        elif keyword in _MAPS:
            yield from value.values()


def _cut_circles(schema: Json) -> None:
    """Where a definition comes back to itself, only the kind of value is said; deeper down pydantic checks alone."""
    definitions: Json = schema.get("$defs", {})
    # True while the walk is inside of it.
    met: dict[str, bool] = {}

    def walk(node: Any) -> None:
        if not isinstance(node, dict):
            return
        name = _referenced(node)
        if name is not None and name in definitions:
            if met.get(name):
                _cut(node, definitions[name])
            elif name not in met:
                _inside(name, walk)
        for below in _below({keyword: value for keyword, value in node.items() if keyword != "$defs"}):
            walk(below)

    def _inside(name: str, visit: Callable[[Any], None]) -> None:
        met[name] = True
        visit(definitions[name])
        met[name] = False

    walk(schema)


def _referenced(node: Json) -> str | None:
    reference = node.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#/$defs/"):
        return None
    return reference.removeprefix("#/$defs/").replace("~1", "/").replace("~0", "~")


def _cut(node: Json, definition: Any) -> None:
    del node["$ref"]
    if isinstance(definition, dict) and "type" in definition:
        node["type"] = definition["type"]
