"""Values off the wire as the type that somebody named for them, and what is said where they do not fit it."""

from __future__ import annotations

from typing import Any

import pydantic
from pydantic_core import to_json

_FAULTS_NAMED = 8


class Unfit(Exception):
    """A value does not fit; the message says where and why."""


def opened(adapter: pydantic.TypeAdapter[Any], value: Any) -> Any:
    """The value as the adapter's type has it. Raises Unfit."""
    try:
        if isinstance(value, bytes):
            return adapter.validate_python(value)
        # As JSON: a strict model takes a date from a text there, and only there.
        return adapter.validate_json(to_json(value))
    except pydantic.ValidationError as error:
        raise Unfit(faults(error)) from error


def faults(error: pydantic.ValidationError) -> str:
    """Where and why, without the values: they may be nobody else's business."""
    told = error.errors(include_url=False, include_context=False, include_input=False)
    sentences = [_sentence(tuple(each["loc"]), each["msg"]) for each in told[:_FAULTS_NAMED]]
    more = len(told) - len(sentences)
    return "; ".join(sentences) + (f"; and {more} more" if more > 0 else "")


def _sentence(location: tuple[int | str, ...], message: str) -> str:
    place = "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in location)
    return message if place == "" else f"{place}: {message}"
