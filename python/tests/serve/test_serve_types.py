"""Types of every kind: the relay takes the schema that is made of each, and values go through it both ways."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import ipaddress
import pathlib
import re
import uuid
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypeVar

import pydantic
from serve_stage import Stage
from typing_extensions import TypedDict

from handfast import Task

T = TypeVar("T")


class Colour(enum.Enum):
    RED = "red"


class Size(enum.IntEnum):
    SMALL = 1


class Cat(pydantic.BaseModel):
    kind: Literal["cat"] = "cat"
    lives: int = 9


class Dog(pydantic.BaseModel):
    kind: Literal["dog"] = "dog"
    friends: list[Pet] = []


Pet = Annotated[Cat | Dog, pydantic.Field(discriminator="kind")]
Dog.model_rebuild()


class Page(pydantic.BaseModel, Generic[T]):
    items: list[T]
    next: str | None = pydantic.Field(default=None, examples=["abc"], json_schema_extra={"x-mine": True})


class Row(TypedDict):
    id: int
    tags: list[str]


class Pair(NamedTuple):
    left: int
    right: str


@dataclasses.dataclass
class Point:
    x: float
    y: float = 0.5


NOON = datetime.datetime(2026, 1, 2, 12, tzinfo=datetime.timezone.utc)

KINDS: dict[str, tuple[Any, Any, Any]] = {
    # type, as JSON, as Python has it
    "decimal": (decimal.Decimal, "1.50", decimal.Decimal("1.50")),
    "money": (
        Annotated[decimal.Decimal, pydantic.Field(max_digits=6, decimal_places=2, ge=0)],
        "9.99",
        decimal.Decimal("9.99"),
    ),
    "uuid": (uuid.UUID, "018f4e1c-0000-7000-8000-000000000000", uuid.UUID("018f4e1c-0000-7000-8000-000000000000")),
    "datetime": (datetime.datetime, "2026-01-02T12:00:00Z", NOON),
    "timedelta": (datetime.timedelta, "PT30S", datetime.timedelta(seconds=30)),
    "bytes": (bytes, "abc", b"abc"),
    "set": (set[int], [1], {1}),
    "tuple": (tuple[int, str], [1, "a"], (1, "a")),
    "numbered": (dict[int, str], {"1": "a"}, {1: "a"}),
    "enum": (Colour, "red", Colour.RED),
    "int-enum": (Size, 1, Size.SMALL),
    "literal": (Literal["a", 1, None], None, None),
    "url": (pydantic.HttpUrl, "http://a.test/", pydantic.HttpUrl("http://a.test/")),
    "ip": (ipaddress.IPv4Address, "10.0.0.1", ipaddress.IPv4Address("10.0.0.1")),
    "path": (pathlib.Path, "a/b", pathlib.Path("a/b")),
    "pattern": (re.Pattern[str], "a+", re.compile("a+")),
    "looks-ahead": (Annotated[str, pydantic.Field(pattern=r"^[a-z]{2,8}$")], "abc", "abc"),
    "union": (Pet, {"kind": "dog", "friends": [{"kind": "cat", "lives": 3}]}, Dog(friends=[Cat(lives=3)])),
    "generic": (Page[Pair], {"items": [[1, "a"]], "next": None}, Page[Pair](items=[Pair(1, "a")])),
    "typed-dict": (Row, {"id": 1, "tags": []}, {"id": 1, "tags": []}),
    "dataclass": (Point, {"x": 1.5, "y": 0.5}, Point(1.5)),
    "deque": (collections.deque[int], [1, 2], collections.deque([1, 2])),
    "large": (Annotated[int, pydantic.Field(ge=-(2**63), le=2**63 - 1)], 7, 7),
    "any-json": (pydantic.JsonValue, {"a": [1, None]}, {"a": [1, None]}),
}


async def test_the_relay_takes_the_schema_of_every_kind_of_type(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")
    seen: dict[str, Any] = {}

    def handler(name: str) -> Any:
        def keep(value: Any) -> Any:
            seen[name] = value
            return value

        return keep

    definitions = {
        f"{name}-{worker.agent}": {"handler": handler(name), "input": kind, "output": kind}
        for name, (kind, _, _) in KINDS.items()
    }
    await worker.serve(definitions, signals=False)
    tasks: list[Task] = [
        {"capability": f"{name}-{worker.agent}", "input": json} for name, (_, json, _) in KINDS.items()
    ]
    outputs = dict(zip(KINDS, await sender.scatter(tasks).all(), strict=True))
    assert outputs == {name: json for name, (_, json, _) in KINDS.items()}
    assert seen == {name: value for name, (_, _, value) in KINDS.items()}
