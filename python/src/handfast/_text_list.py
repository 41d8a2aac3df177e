"""A list of texts that somebody gives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .errors import UsageError


def text_list(given: Any, what: str) -> list[Any]:
    """A text can be read as the list of its letters, which nobody means."""
    if isinstance(given, Iterable) and not isinstance(given, (str, bytes)):
        return list(given)
    example = repr(given) if isinstance(given, str) else '"one", "another"'
    raise UsageError(f"{what} is {given!r}, which is no list.", f"Give a list, such as [{example}].")
