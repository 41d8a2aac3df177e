"""What the relay and a handler get of a type: schemas that the relay takes, values as models, JSON of what is
returned."""

from __future__ import annotations

import datetime
import decimal
import enum
from typing import Annotated, Any, Literal, Union

import pydantic
import pytest
from typing_extensions import TypedDict

from handfast._relay_schema import for_relay, is_linear
from handfast._serve.schema import NotJson, read_schema
from handfast._typed import Unfit
from handfast.errors import UsageError


class Query(pydantic.BaseModel):
    """What to look for."""

    text: str = pydantic.Field(min_length=1, description="The words")
    limit: int = 10


class Node(pydantic.BaseModel):
    value: int
    children: list[Node] = []
    parent: Node | None = None


class Cat(pydantic.BaseModel):
    kind: Literal["cat"]


class Dog(pydantic.BaseModel):
    kind: Literal["dog"]
    owner: Dog | None = None


class Sizes(enum.Enum):
    SMALL = "small"
    LARGE = "large"


def test_a_model_becomes_a_schema_without_the_titles_made_of_names() -> None:
    assert read_schema(Query, "input", "it").json == {
        "type": "object",
        "title": "Query",
        "description": "What to look for.",
        "properties": {
            "text": {"type": "string", "minLength": 1, "description": "The words"},
            "limit": {"type": "integer", "default": 10},
        },
        "required": ["text"],
    }


def test_a_type_that_contains_itself_is_cut_where_it_comes_back() -> None:
    json = read_schema(Node, "input", "it").json
    node = json["$defs"]["Node"]
    assert json["$ref"] == "#/$defs/Node"
    assert node["properties"]["children"]["items"] == {"type": "object"}
    assert node["properties"]["parent"]["anyOf"] == [{"type": "object"}, {"type": "null"}]


def test_the_forms_of_a_tagged_union_are_alternatives_without_a_discriminator() -> None:
    json = read_schema(Annotated[Union[Cat, Dog], pydantic.Field(discriminator="kind")], "input", "it").json
    assert "oneOf" not in json
    assert "discriminator" not in json
    assert [each["$ref"] for each in json["anyOf"]] == ["#/$defs/Cat", "#/$defs/Dog"]


def test_a_member_that_is_called_like_a_keyword_stays() -> None:
    class Odd(TypedDict):
        discriminator: str
        oneOf: int

    assert set(read_schema(Odd, "input", "it").json["properties"]) == {"discriminator", "oneOf"}


def test_what_readers_of_json_would_read_differently_is_left_out() -> None:
    limits = Annotated[int, pydantic.Field(ge=-(2**63), le=2**63 - 1)]
    assert read_schema(limits, "input", "it").json == {"type": "integer"}


def test_a_decimal_goes_without_the_pattern_that_looks_ahead() -> None:
    json = read_schema(decimal.Decimal, "output", "it").json
    assert json == {"type": "string"} or is_linear(json.get("pattern", ""))


@pytest.mark.parametrize("pattern", [r"^[a-z(?=]+$", r"^\(\?=$", r"^(?P<name>a|b)\d{1,3}$", r"^(?i)abc$", r"\p{L}+"])
def test_patterns_that_run_in_linear_time_stay(pattern: str) -> None:
    assert for_relay({"pattern": pattern}) == {"pattern": pattern}


@pytest.mark.parametrize(
    "pattern", [r"^(?!a)b", r"(?<=a)b", r"(a)\1", r"(?P<x>a)(?P=x)", "a{2000}", "a" * 300, r"a++", r"x\Z"]
)
def test_other_patterns_are_left_to_this_side(pattern: str) -> None:
    assert for_relay({"type": "string", "pattern": pattern}) == {"type": "string"}


def test_to_say_less_inside_of_a_not_would_say_more_so_it_goes_altogether() -> None:
    assert for_relay({"type": "string", "not": {"pattern": "(?=a)"}}) == {"type": "string"}
    assert for_relay({"not": {"const": 1}}) == {"not": {"const": 1}}


def test_what_is_given_is_left_as_it_is() -> None:
    given = {"$defs": {"A": {"items": {"$ref": "#/$defs/A"}, "x-mine": 1}}, "$ref": "#/$defs/A"}
    before = repr(given)
    for_relay(given)
    assert repr(given) == before


def test_plain_json_schema_goes_to_the_relay_as_it_stands() -> None:
    schema = {"type": "string", "x-mine": True}
    read = read_schema(schema, "input", "it")
    assert read.json == schema
    assert read.opened(7) == 7


@pytest.mark.parametrize("schema", ["no schema", "NoSuchType"])
def test_text_that_names_no_type_is_a_usage_error_too(schema: str) -> None:
    with pytest.raises(UsageError, match="The input of work cannot be written as JSON Schema"):
        read_schema(schema, "input", "The input of work")


def test_a_type_without_a_schema_is_a_usage_error_that_names_it() -> None:
    with pytest.raises(UsageError, match="The input of work cannot be written as JSON Schema"):
        read_schema(threading_lock_type(), "input", "The input of work")


def threading_lock_type() -> Any:
    import threading

    return type(threading.Lock())


def test_a_value_off_the_wire_is_given_as_the_model_it_is() -> None:
    class Strict(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(strict=True)
        at: datetime.datetime
        size: Sizes
        seen: set[int]

    opened = read_schema(Strict, "input", "it").opened({"at": "2026-01-02T03:04:05Z", "size": "small", "seen": [1, 1]})
    assert opened == Strict.model_construct(
        at=datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc), size=Sizes.SMALL, seen={1}
    )


def test_what_does_not_fit_is_named_by_its_path_and_without_its_value() -> None:
    class Many(pydantic.BaseModel):
        items: list[Query]

    with pytest.raises(Unfit) as caught:
        read_schema(Many, "input", "it").opened({"items": [{"text": "a"}, {"text": "", "limit": "secret"}]})
    assert "/items/1/text: " in str(caught.value)
    assert "/items/1/limit: " in str(caught.value)
    assert "secret" not in str(caught.value)


def test_what_is_returned_is_checked_and_written_as_json() -> None:
    class Report(pydantic.BaseModel):
        made_at: datetime.date = pydantic.Field(alias="madeAt")
        tags: set[str]

        @pydantic.computed_field  # type: ignore[prop-decorator]
        @property
        def count(self) -> int:
            return len(self.tags)

    read = read_schema(Report, "output", "it")
    written = {"madeAt": "2026-01-02", "tags": ["a"], "count": 1}
    assert read.written(Report(madeAt=datetime.date(2026, 1, 2), tags={"a"})) == written
    assert read.written({"madeAt": "2026-01-02", "tags": ["a"]}) == written
    assert "count" in read.json["required"]
    with pytest.raises(Unfit, match="/tags: Field required"):
        read.written({"madeAt": "2026-01-02"})


def test_bytes_that_are_no_text_cannot_be_written() -> None:
    with pytest.raises(NotJson, match="utf-8"):
        read_schema(bytes, "output", "it").written(b"\xff")
