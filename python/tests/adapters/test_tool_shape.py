"""What a model is told of an input that is no object."""

from __future__ import annotations

from typing import Any

import pytest

from handfast._adapters import tool_shape_of


@pytest.mark.parametrize("place", ["$defs", "definitions"])
async def test_what_a_schema_refers_to_is_found_at_the_top(place: str) -> None:
    item = {"type": "object", "properties": {"name": {"type": "string"}}}
    items = {"type": "array", "items": {"$ref": f"#/{place}/Item"}}
    nobody: Any = None  # With a description and a schema nobody is asked.
    shape = await tool_shape_of(nobody, capability="bulk", description="Many.", input={**items, place: {"Item": item}})
    assert shape.schema == {
        "type": "object",
        "properties": {"input": items},
        "required": ["input"],
        "additionalProperties": False,
        place: {"Item": item},
    }
