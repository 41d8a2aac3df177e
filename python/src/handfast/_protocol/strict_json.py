"""JSON read so that two readers cannot understand it differently.

No duplicate keys, no numbers that lose digits, no lone surrogates, bounded depth. The scanner judges the text in one
pass, with a stack of its own instead of recursion; then the json module makes the value.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from .limits import SAFE_INTEGER


class JsonFault(Exception):
    """The first fault in a text: its reason as the protocol names it, and a JSON pointer (RFC 6901) to where it is.

    `offset`: where in the text, in characters; that is help, not protocol.
    """

    def __init__(self, reason: str, path: str, offset: int = 0) -> None:
        super().__init__(reason, path, offset)
        self.reason = reason
        self.path = path
        self.offset = offset


@dataclass(frozen=True)
class JsonLimits:
    """How much is read."""

    max_depth: int
    max_bytes: int | None = None
    """Of the text in UTF-8."""
    max_keys: int | None = None
    """Members of all objects together."""


_SPACE = re.compile(r"[ \t\n\r]*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f\ud800-\udfff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(?:\.[0-9]+)?([eE][+-]?[0-9]+)?")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u([0-9a-fA-F]{4}))')
_WORDS = ("true", "false", "null")


def parse_strict_bytes(data: bytes, limits: JsonLimits) -> Any:
    """The value; raises JsonFault."""
    if limits.max_bytes is not None and len(data) > limits.max_bytes:
        raise JsonFault("too_large", "")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise JsonFault("not_utf8", "") from None
    return _parsed(text, limits)


def parse_strict(text: str, limits: JsonLimits) -> Any:
    """The same of text."""
    most = limits.max_bytes
    if most is not None and (len(text) > most or len(text.encode("utf-8", "surrogatepass")) > most):
        raise JsonFault("too_large", "")
    return _parsed(text, limits)


def _parsed(text: str, limits: JsonLimits) -> Any:
    _Scanner(text, limits).scan()
    return json.loads(text)


@dataclass
class _Container:
    """One open object or array."""

    keys: set[str] | None
    key: str | None = None
    """The member being read; None until its key is known."""
    index: int = 0

    def step(self) -> str | None:
        return str(self.index) if self.keys is None else self.key


@dataclass
class _Scanner:
    text: str
    limits: JsonLimits
    stack: list[_Container] = field(default_factory=list)
    at: int = 0
    key_count: int = 0

    def scan(self) -> None:
        """Alternates between a value and what may follow a value, until the text ends."""
        while True:
            self._value()
            if not self._after_value():
                return

    def _fault(self, reason: str, offset: int) -> JsonFault:
        steps = [step for step in (inside.step() for inside in self.stack) if step is not None]
        path = "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in steps)
        return JsonFault(reason, path, offset)

    def _peek(self) -> str:
        """The next character that is not white space; empty at the end of the text."""
        space = _SPACE.match(self.text, self.at)
        self.at = self.at if space is None else space.end()
        return self.text[self.at : self.at + 1]

    def _value(self) -> None:
        """Reads a scalar or an empty container, or enters a container and stands before its first value."""
        while True:
            first = self._peek()
            if first == '"':
                self._string()
                return
            if first == "{":
                self._enter(_Container(set()))
                if self._peek() == "}":
                    return self._leave()
                self._key()
            elif first == "[":
                self._enter(_Container(None))
                if self._peek() == "]":
                    return self._leave()
            else:
                return self._scalar(first)

    def _after_value(self) -> bool:
        """Closes containers; True before a further value, False at the end."""
        while True:
            following = self._peek()
            if not self.stack:
                if following:
                    raise self._fault("syntax", self.at)
                return False
            inside = self.stack[-1]
            if following == ",":
                self.at += 1
                if inside.keys is None:
                    inside.index += 1
                else:
                    self._key()
                return True
            if following != ("]" if inside.keys is None else "}"):
                raise self._fault("syntax", self.at)
            self._leave()

    def _enter(self, container: _Container) -> None:
        if len(self.stack) >= self.limits.max_depth:
            raise self._fault("too_deep", self.at)
        self.at += 1
        self.stack.append(container)

    def _leave(self) -> None:
        self.at += 1
        self.stack.pop()

    def _scalar(self, first: str) -> None:
        if first == "-" or (first and first in "0123456789"):
            return self._number()
        for word in _WORDS:
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return None
        raise self._fault("syntax", self.at)

    def _key(self) -> None:
        inside = self.stack[-1]
        inside.key = None
        if self._peek() != '"':
            raise self._fault("syntax", self.at)
        start = self.at
        key: str = json.loads(self._string())
        inside.key = key
        self.key_count += 1
        if self.limits.max_keys is not None and self.key_count > self.limits.max_keys:
            raise self._fault("too_many_keys", start)
        # Harmless here, but it swaps an object's prototype in careless JavaScript.
        if key == "__proto__":
            raise self._fault("forbidden_key", start)
        if inside.keys is None or key in inside.keys:
            raise self._fault("duplicate_key", start)
        inside.keys.add(key)
        if self._peek() != ":":
            raise self._fault("syntax", self.at)
        self.at += 1

    def _string(self) -> str:
        found = _STRING.match(self.text, self.at)
        if found is None or _SURROGATE.search(found[0]) is not None:
            self._walk_string()
            found = _STRING.match(self.text, self.at)
        if found is None:
            raise self._fault("syntax", self.at)
        self.at = found.end()
        return found[0]

    def _walk_string(self) -> None:
        """Character by character, for those strings that may be at fault: the first fault counts."""
        at = self.at + 1
        while True:
            character = self.text[at : at + 1]
            if character == '"':
                return
            if character == "\\":
                at += self._escape_length(at)
            elif character < " ":
                # Also the end of an unclosed string.
                raise self._fault("syntax", at)
            elif "\ud800" <= character <= "\udfff":
                raise self._fault("lone_surrogate", at)
            else:
                at += 1

    def _escape_length(self, at: int) -> int:
        """A pair of surrogate escapes counts as one."""
        escape = _ESCAPE.match(self.text, at)
        if escape is None:
            raise self._fault("syntax", at)
        if escape[1] is None:
            return 2
        unit = int(escape[1], 16)
        if not 0xD800 <= unit <= 0xDFFF:
            return 6
        partner = _ESCAPE.match(self.text, at + 6)
        is_pair = partner is not None and partner[1] is not None and 0xDC00 <= int(partner[1], 16) <= 0xDFFF
        if unit > 0xDBFF or not is_pair:
            raise self._fault("lone_surrogate", at)
        return 12

    def _number(self) -> None:
        start = self.at
        found = _NUMBER.match(self.text, start)
        if found is None:
            raise self._fault("syntax", start)
        self.at = found.end()
        following = self.text[self.at : self.at + 1]
        # The pattern stops early at a leading zero, a bare point or a bare exponent.
        if following and following in "0123456789.eE":
            raise self._fault("syntax", self.at)
        is_large = len(found[1]) > 15 or found[2] is not None
        if is_large and abs(float(found[0])) > SAFE_INTEGER:
            raise self._fault("number_out_of_range", start)
