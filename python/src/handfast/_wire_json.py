"""Whether a value can be sent as JSON and arrive as the same value; and its text.

``json.dumps`` writes NaN, halves of surrogate pairs and numbers that lose their digits, and makes strings of keys, all
without a word; the relay refuses what readers could understand differently. Both are said here, with the path, before
anything is sent.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import json
import math
import uuid
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from ._protocol.canonical_json import number_text, utf16_order
from ._protocol.limits import SAFE_INTEGER
from .errors import UsageError

INLINE_BYTES = 1_000_000
"""A payload inline: larger ones are artifacts. A relay may be stricter."""
JSON_DEPTH = 64
"""As deep as relays read JSON."""
_AS_ARTIFACT = "Send it as an artifact: artifacts=[{'bytes': ..., 'media_type': ...}], and refer to it by its SHA-256."


def plain_json(value: Any, what: str) -> Any:
    """The value as dicts, lists, strings, numbers, booleans and None. pydantic models and dataclasses become dicts.

    Raises a UsageError that names what cannot be sent and where it is.
    """
    return _Walk(what).visit(value)


def write_json(value: Any, what: str, ordered: bool = False) -> str:
    """Its text. `ordered`: the same value gives the same text, in whatever order its members stand."""
    walk = _Walk(what)
    plain = walk.visit(value)
    if ordered or walk.has_fine_numbers:
        return _written(plain, ordered)
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))


def check_size(text: str, what: str) -> str:
    """The text, if it may go inline."""
    if len(text) * 4 > INLINE_BYTES:
        size = len(text.encode("utf-8"))
        if size > INLINE_BYTES:
            raise UsageError(f"{what} has {size} bytes; at most {INLINE_BYTES} go inline.", _AS_ARTIFACT)
    return text


def check_text(value: Any, what: str) -> str:
    """The value, if it is text that can be UTF-8 and is not too large."""
    if not isinstance(value, str):
        raise UsageError(f"{what} is {_kind(value)}, and text=True sends a str.", "Leave the option text out.")
    text = plain_text(value)
    if _has_lone_surrogate(text):
        raise _lone_surrogate(what, "")
    return check_size(text, what)


def plain_text(value: Any) -> str:
    """The text itself: ``str()`` of an enum's member is its name, and of any other kind of str what it likes to show.

    What is no text is shown as it shows itself.
    """
    said = value.value if isinstance(value, enum.Enum) else value
    return str.__str__(said) if isinstance(said, str) else str(said)


class _Walk:
    def __init__(self, what: str) -> None:
        self._what = what
        self._above: list[int] = []
        self._names: list[str | int] = []
        self.has_fine_numbers = False
        """Numbers that Python and the protocol's writers spell differently."""

    def visit(self, value: Any) -> Any:
        if value is None or value is True or value is False:
            return value
        if isinstance(value, enum.Enum):
            return self.visit(value.value)
        if isinstance(value, str):
            text = plain_text(value)
            if _has_lone_surrogate(text):
                raise _lone_surrogate(self._what, self._path())
            return text
        if isinstance(value, int):
            return self._integer(int.__int__(value))
        if isinstance(value, float):
            return self._number(float.__float__(value))
        return self._container(value)

    def _integer(self, value: int) -> int:
        if abs(value) <= SAFE_INTEGER:
            return value
        shown = str(value) if value.bit_length() < 1_000 else f"an int of {value.bit_length()} bits"
        raise self._unfit(f"{shown}, which is beyond 2^53 - 1", "Send it as a string.")

    def _number(self, value: float) -> float:
        if not math.isfinite(value):
            raise self._unfit(f"{value}, which JSON has not", "Send None or a string.")
        if abs(value) > SAFE_INTEGER:
            raise self._unfit(f"{value}, which is beyond 2^53 - 1", "Send it as a string.")
        if value == int(value):
            return int(value)
        if abs(value) < 1e-4:
            self.has_fine_numbers = True
        return value

    def _container(self, value: Any) -> Any:
        if len(self._above) >= JSON_DEPTH:
            raise UsageError(f"{self._what} is deeper than {JSON_DEPTH} levels.", "Make it flatter.")
        if id(value) in self._above:
            raise self._unfit("an object that contains itself", "Refer to it by an id.")
        self._above.append(id(value))
        try:
            return self._opened(value)
        except UsageError:
            raise
        except Exception as error:
            # What a stranger's object does when it is looked at.
            found = f"{_kind(value)} that cannot be read ({_why(error)})"
            raise self._unfit(found, "Mend what it says of itself, or send a dict of what is meant.") from error
        finally:
            self._above.pop()

    def _opened(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return self._members(value)
        if isinstance(value, (list, tuple)):
            return [self._member(at, item) for at, item in enumerate(value)]
        if isinstance(value, BaseModel):
            # Its own opinion of JSON: aliases, dates as text. A level of its own is not counted twice.
            return self._again(value.model_dump(mode="json", by_alias=True))
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return self._again({each.name: self._field(value, each.name) for each in dataclasses.fields(value)})
        raise self._unfit(*_strange(value))

    def _members(self, value: Mapping[Any, Any]) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for given, member in value.items():
            name = self._name(given)
            if name in members:
                raise self._unfit("two members of this name", "Keep one of them.", name)
            members[name] = self._member(name, member)
        return members

    def _field(self, value: Any, name: str) -> Any:
        try:
            return getattr(value, name)
        except AttributeError:
            raise self._unfit("a field that was never set", "Set it, or give it a default.", name) from None

    def _again(self, value: Any) -> Any:
        self._above.pop()
        try:
            return self.visit(value)
        finally:
            self._above.append(0)

    def _name(self, given: Any) -> str:
        said = given.value if isinstance(given, enum.Enum) else given
        if not isinstance(said, str):
            raise self._unfit(f"the key {given!r}, which is {_kind(given)} and not a string", "Make its keys strings.")
        name = plain_text(said)
        if name == "__proto__":
            raise self._unfit("a member of this name", "Give it another name.", name)
        if _has_lone_surrogate(name):
            raise _lone_surrogate(self._what, self._path())
        return name

    def _member(self, name: str | int, value: Any) -> Any:
        self._names.append(name)
        plain = self.visit(value)
        self._names.pop()
        return plain

    def _path(self, *below: str) -> str:
        names = [str(name).replace("~", "~0").replace("/", "~1") for name in [*self._names, *below]]
        return "".join(f"/{name}" for name in names)

    def _unfit(self, found: str, remedy: str, *below: str) -> UsageError:
        path = self._path(*below)
        where = f" at {path}" if path else ""
        return UsageError(f"{self._what} cannot be sent as JSON:{where} it has {found}.", remedy)


def _written(value: Any, ordered: bool) -> str:
    if isinstance(value, dict):
        members = sorted(value.items(), key=lambda member: utf16_order(member[0])) if ordered else value.items()
        return "{" + ",".join(f"{_written(name, ordered)}:{_written(item, ordered)}" for name, item in members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_written(item, ordered) for item in value) + "]"
    if isinstance(value, float):
        return number_text(value)
    return json.dumps(value, ensure_ascii=False)


def _strange(value: Any) -> tuple[str, str]:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return "bytes, which JSON has not", _AS_ARTIFACT
    if isinstance(value, (datetime.date, datetime.time)):
        return _kind(value), "Send value.isoformat()."
    if isinstance(value, (uuid.UUID, decimal.Decimal)):
        return _kind(value), "Send str(value)."
    if isinstance(value, (set, frozenset)):
        return _kind(value), "Send a list."
    return _kind(value), "Send a dict, a list, a pydantic model or a dataclass."


def _has_lone_surrogate(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)


def _lone_surrogate(what: str, path: str) -> UsageError:
    where = f" at {path}" if path else ""
    return UsageError(
        f"{what} is not Unicode text:{where} it has half a surrogate pair.",
        'Mend it where it is read: such halves come of errors="surrogateescape".',
    )


def _why(error: Exception) -> str:
    kind = type(error).__name__
    try:
        return f"{kind}: {str(error).splitlines()[0]}"
    except Exception:  # It says nothing, or cannot say it.
        return kind


def _kind(value: Any) -> str:
    if value is None:
        return "None"
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
