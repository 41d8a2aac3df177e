"""What a sender expects of an output: the schema that the relay holds it against, and the value that it is given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import PydanticUserError, TypeAdapter

from .._relay_schema import for_relay
from .._typed import Unfit, opened
from .._wire_json import plain_json
from ..errors import UsageError
from .faults import output_unfit


def schema_of(expects: Any) -> Any:
    """JSON Schema as it is; of a pydantic model or any other type, the schema of what it takes."""
    if isinstance(expects, Mapping):
        return plain_json(expects, "The option expects")
    try:
        return for_relay(TypeAdapter(expects).json_schema())
    except Exception as error:
        # A text is taken for a type's name, and a type may have a schema of its own: those raise what they like.
        why = error.message if isinstance(error, PydanticUserError) else f"{type(error).__name__}: {error}"
        raise UsageError(
            f"The option expects is {expects!r}, which has no JSON Schema: {why}",
            "Give a pydantic model, another type that pydantic knows, or JSON Schema as a dict.",
        ) from None


def as_expected(expects: Any, output: Any, handoff: str) -> Any:
    """The output as the type that was expected; where none was, or a JSON Schema, as it came."""
    if expects is None or isinstance(expects, Mapping):
        return output
    try:
        return opened(TypeAdapter(expects), output)
    except Unfit as fault:
        # The relay has held it against the schema: a validator of the type's own wants more than that says.
        raise output_unfit(handoff, getattr(expects, "__name__", str(expects)), str(fault)) from None
