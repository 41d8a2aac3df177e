"""How handlers are read: which parameter is the input, which the context, and what their annotations say."""

from __future__ import annotations

import functools
from typing import Any

import pydantic
import pytest

from handfast._serve.capabilities import CapabilityDefinition, Registry, read_capabilities, read_capability
from handfast._serve.context import AsyncContext, Context
from handfast._serve.signature import MISSING, shape_of
from handfast.errors import UsageError


def shape(handler: Any) -> tuple[bool, bool, bool]:
    found = shape_of(handler, "it", {}, must_read=True)
    return found.takes_input, found.takes_context, found.is_async


class Query(pydantic.BaseModel):
    text: str


def plain(query: Query, ctx: Context) -> str:
    """Looks it up."""
    return query.text


async def waited_for(query: Query) -> str:
    return query.text


class Callable:
    """Does what it is told."""

    async def __call__(self, input: str, ctx: AsyncContext) -> None: ...


@pytest.mark.parametrize(
    ("handler", "expected"),
    [
        (plain, (True, True, False)),
        (waited_for, (True, False, True)),
        (lambda: 1, (False, False, False)),
        (lambda value: value, (True, False, False)),
        (lambda value, ctx: value, (True, True, False)),
        (lambda value, other: value, (True, True, False)),
        (lambda value, limit=3: value, (True, False, False)),
        (lambda ctx: 1, (False, True, False)),
        (lambda value, *, ctx: value, (True, True, False)),
        (lambda *values: values, (False, False, False)),
        (str.upper, (True, False, False)),
        (Callable(), (True, True, True)),
        (functools.partial(waited_for), (True, False, True)),
        (functools.partial(plain, ctx=None), (True, True, False)),  # type: ignore[arg-type]
    ],
)
def test_input_context_and_kind(handler: Any, expected: tuple[bool, bool, bool]) -> None:
    assert shape(handler) == expected


def test_annotations_are_the_schemas() -> None:
    found = shape_of(plain, "it", {}, must_read=True)
    assert found.input_type is Query
    assert found.output_type is str


def test_any_and_object_say_nothing() -> None:
    def anything(input: Any) -> object: ...

    found = shape_of(anything, "it", {}, must_read=True)
    assert found.input_type is MISSING
    assert found.output_type is MISSING


def test_a_parameter_too_many_is_refused_by_its_name() -> None:
    def three(a: int, ctx: Context, c: int) -> None: ...

    with pytest.raises(UsageError, match="wants c besides"):
        shape(three)


def test_a_handler_that_yields_is_told_how_to_stream() -> None:
    async def tokens(input: str) -> Any:
        yield input

    with pytest.raises(UsageError, match="yields"):
        shape(tokens)


def test_classes_local_to_a_function_are_found_by_the_decorator() -> None:
    registry = Registry()

    class Local(pydantic.BaseModel):
        n: int

    @registry.capability("count", timeout="90s", tags=["a"])
    def count(given: Local) -> Local:
        """Counts."""
        return given

    offered = read_capabilities(registry.with_given(None))["count"]
    assert count(Local(n=1)).n == 1
    assert offered.manifest["timeout_seconds"] == 90
    assert offered.manifest["description"] == "Counts."
    assert offered.manifest["tags"] == ["a"]
    assert offered.manifest["input_schema"]["properties"] == {"n": {"type": "integer"}}
    assert offered.manifest["output_schema"]["properties"] == {"n": {"type": "integer"}}


def test_annotations_that_cannot_be_read_are_an_error_unless_types_are_given() -> None:
    def lost(input: Nowhere) -> None: ...  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(UsageError, match="Nowhere"):
        read_capability("lost", lost)
    assert read_capability("lost", CapabilityDefinition(lost, input=int, output=type(None))).manifest[
        "input_schema"
    ] == {"type": "integer"}


def test_a_name_is_taken_from_the_function_where_none_is_given() -> None:
    registry = Registry()
    registry.capability()(plain)
    assert list(registry.with_given(None)) == ["plain"]


@pytest.mark.parametrize(
    ("capabilities", "says"),
    [
        ({}, "no capability to serve"),
        ({"a b": plain}, "no name for a capability"),
        ({"a": {"handler": plain, "timout": 3}}, "'timout'"),
        ({"a": {"input": str}}, "has no handler"),
        ({"a": 7}, "has no handler"),
    ],
)
def test_what_is_wrong_with_capabilities_is_said(capabilities: Any, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        read_capabilities(capabilities)


def test_two_handlers_of_one_capability_are_refused() -> None:
    registry = Registry()
    registry.capability("one")(plain)
    with pytest.raises(UsageError, match="two handlers of one"):
        registry.capability("one")(plain)
    with pytest.raises(UsageError, match="two handlers of one"):
        registry.with_given({"one": plain})


def test_the_decorator_without_brackets_says_how_it_is_written() -> None:
    with pytest.raises(UsageError, match="without brackets"):
        Registry().capability(plain)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "handler", "says"),
    [
        ({}, lambda a, ctx, c: a, "wants c besides"),
        ({"input": "no type at all"}, plain, "The input of it cannot be written as JSON Schema"),
        ({"timeout": "soon"}, plain, "The timeout of it"),
        ({"name": "a b"}, plain, "no name for a capability"),
    ],
)
def test_what_is_wrong_with_a_handler_is_said_where_it_stands(options: Any, handler: Any, says: str) -> None:
    with pytest.raises(UsageError, match=says) as told:
        Registry().capability(**{"name": "it", **options})(handler)
    assert [frame.name for frame in told.traceback][:2] == [
        "test_what_is_wrong_with_a_handler_is_said_where_it_stands",
        "keep",
    ]


def test_a_type_that_is_defined_further_down_is_read_when_it_is_served() -> None:
    registry = Registry()

    @registry.capability("later")
    def later(given: Later) -> Now: ...  # type: ignore[name-defined,empty-body]  # noqa: F821

    with pytest.raises(UsageError, match="cannot be read"):
        read_capabilities(registry.definitions)
    globals().update(Later=pydantic.create_model("Later", n=(int, ...)))
    try:
        Now.model_rebuild()
        offered = read_capabilities(registry.definitions)["later"]
    finally:
        del globals()["Later"]
    assert offered.manifest["input_schema"]["properties"] == {"n": {"type": "integer"}}


class Now(pydantic.BaseModel):
    then: Later  # type: ignore[name-defined]  # noqa: F821
