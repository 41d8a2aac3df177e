"""What can be sent as JSON, and what is refused before anything is sent, with its path."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import math
import uuid
from typing import Any

import pytest
from pydantic import BaseModel, Field

from handfast import UsageError
from handfast._wire_json import check_size, check_text, plain_json, write_json


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Team(str, enum.Enum):
    BLUE = "blue"


class Shy(str):
    """Shows something else than it is."""

    def __str__(self) -> str:
        return "***"


class Odd(int):
    def __int__(self) -> int:
        return 99


class Query(BaseModel):
    words: list[str]
    until: datetime.date = Field(serialization_alias="to")


@dataclasses.dataclass
class Point:
    x: float
    near: list[Query]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        ({"b": 1, "a": [True, "é😀"]}, '{"b":1,"a":[true,"é😀"]}'),
        ((1, 2.0, -0.0, 0.5, 1e-7), "[1,2,0,0.5,1e-7]"),
        (2**53 - 1, "9007199254740991"),
        (Colour.RED, '"red"'),
        ({"level": Level.HIGH}, '{"level":3}'),
        ({Team.BLUE: Team.BLUE, Colour.RED: 1}, '{"blue":"blue","red":1}'),
        ({Shy("key"): Shy("value")}, '{"key":"value"}'),
        (Odd(5), "5"),
        (Query(words=["a"], until=datetime.date(2026, 1, 2)), '{"words":["a"],"to":"2026-01-02"}'),
        (
            Point(1.5, [Query(words=[], until=datetime.date(2026, 1, 2))]),
            '{"x":1.5,"near":[{"words":[],"to":"2026-01-02"}]}',
        ),
        ('"\\\n\u0000\u007f', '"\\"\\\\\\n\\u0000\u007f"'),
    ],
)
def test_it_is_written(value: Any, text: str) -> None:
    assert write_json(value, "It") == text


def test_ordered_the_same_value_is_the_same_text() -> None:
    one = write_json({"b": {"d": 1, "c": 2}, "a": 0.1}, "It", ordered=True)
    assert one == write_json({"a": 0.1, "b": {"c": 2, "d": 1}}, "It", ordered=True) == '{"a":0.1,"b":{"c":2,"d":1}}'


class Ring(BaseModel):
    next: Ring | None = None


class Held(BaseModel, arbitrary_types_allowed=True):
    it: Any


@dataclasses.dataclass
class Half:
    whole: int
    half: int = dataclasses.field(init=False)


class Closed(dict[str, Any]):
    def items(self) -> Any:
        raise RuntimeError("not for you")


class Mute(Exception):
    def __str__(self) -> str:
        raise ValueError


class Speechless(dict[str, Any]):
    def items(self) -> Any:
        raise Mute


ring = Ring()
ring.next = ring
circle: list[Any] = []
circle.append(circle)
deep: Any = None
for _ in range(65):
    deep = [deep]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (math.nan, "it has nan"),
        ({"a": [1, math.inf]}, "at /a/1 it has inf"),
        ({"a/b": {"c~d": 2**53}}, "at /a~1b/c~0d it has 9007199254740992, which is beyond 2^53 - 1"),
        (-(2**53), "beyond 2^53 - 1"),
        (10**400, "an int of 1329 bits, which is beyond 2^53 - 1"),
        (1e300, "beyond 2^53 - 1"),
        ("\ud83d", "half a surrogate pair"),
        ({"a": "x\udc00"}, "at /a it has half a surrogate pair"),
        ({"\ud83d": 1}, "half a surrogate pair"),
        ({1: 2}, "the key 1, which is an int and not a string"),
        ({"a": {None: 2}}, "at /a it has the key None"),
        ({"__proto__": 1}, "at /__proto__"),
        (b"abc", "bytes"),
        ({"when": datetime.datetime(2026, 1, 2)}, "at /when it has a datetime"),
        (uuid.UUID(int=0), "an UUID"),
        (decimal.Decimal("1.5"), "a Decimal"),
        ({"s": {1}}, "at /s it has a set"),
        (object(), "an object"),
        (lambda: None, "a function"),
        (Query, "a ModelMetaclass"),
        (circle, "contains itself"),
        ({"a": [ring]}, "at /a/0 it has a Ring that cannot be read (ValueError: Circular reference"),
        (Held(it=b"\xff"), "it has a Held that cannot be read (UnicodeDecodeError: "),
        (Held(it=object()), "it has a Held that cannot be read (PydanticSerializationError: "),
        ({"a": Half(2)}, "at /a/half it has a field that was never set"),
        ({"a": Closed(b=1)}, "at /a it has a Closed that cannot be read (RuntimeError: not for you)"),
        (Speechless(b=1), "it has a Speechless that cannot be read (Mute)"),
        ({Colour.RED: 1, "red": 2}, "at /red it has two members of this name"),
        ({Level.HIGH: 1}, "which is a Level and not a string"),
        (deep, "deeper than 64 levels"),
    ],
)
def test_it_is_refused_with_its_place(value: Any, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        plain_json(value, "The input")
    assert said in caught.value.message
    assert caught.value.remedy


def test_the_same_object_twice_is_no_cycle() -> None:
    twice = [1]
    assert plain_json({"a": twice, "b": twice}, "It") == {"a": [1], "b": [1]}


def test_what_is_too_large_goes_as_an_artifact() -> None:
    assert check_size("x" * 1_000_000, "The input")
    with pytest.raises(UsageError, match="has 1000002 bytes"):
        check_size("é" * 500_001, "The input")


def test_text_is_a_str() -> None:
    assert check_text("hello", "The input") == "hello"
    assert check_text(Team.BLUE, "The input") == "blue"
    with pytest.raises(UsageError, match="is an int, and text=True sends a str"):
        check_text(1, "The input")
    with pytest.raises(UsageError, match="half a surrogate"):
        check_text("\udfff", "The input")
