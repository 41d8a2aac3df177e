"""What a handler's signature says: whether it takes an input and a context, of which types, and of which kind it is."""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, get_type_hints

from ..errors import UsageError


class _Missing:
    """Nothing was said."""


MISSING: Final = _Missing()
# Of a handler that was given without types nothing is known; `Any` and `object` say as much.
_ANYTHING: Final = (Any, object, inspect.Parameter.empty)
_CONTEXT_NAMES: Final = frozenset(["ctx", "context"])


@dataclass(frozen=True)
class Shape:
    """How a handler is called."""

    takes_input: bool
    takes_context: bool
    context_name: str | None
    """Set where the context can only be given by name."""
    is_async: bool
    input_type: Any
    """MISSING: anything."""
    output_type: Any


def shape_of(handler: Callable[..., Any], where: str, names: Mapping[str, Any], *, must_read: bool) -> Shape:
    """``names``: what could be named where it was defined, for annotations that are only text.

    ``must_read``: annotations that cannot be read are an error.
    """
    if inspect.isgeneratorfunction(_unwrapped(handler)) or inspect.isasyncgenfunction(_unwrapped(handler)):
        raise UsageError(
            f"The handler of {where} yields, and what it yields would go nowhere.",
            "Stream with ctx.write(text), and return the output.",
        )
    given = _parameters(handler, where)
    hints = _hints(handler, where, names, must_read)
    context = _context_among(given, hints)
    inputs = [each for each in given if each is not context and _is_positional(each)]
    needed = [each.name for each in given if each is not context and each not in inputs[:1] and _is_needed(each)]
    if needed:
        raise UsageError(
            f"The handler of {where} wants {', '.join(needed)} besides its input and its context.",
            "A handler takes one input, which may be a model with many members, and a context.",
        )
    input_type = hints.get(inputs[0].name, MISSING) if inputs else MISSING
    output_type = hints.get("return", MISSING)
    return Shape(
        takes_input=bool(inputs),
        takes_context=context is not None,
        context_name=_name_only(context),
        is_async=is_async(handler),
        input_type=MISSING if input_type in _ANYTHING else input_type,
        output_type=MISSING if output_type in _ANYTHING else _without_never(output_type),
    )


def is_async(handler: Callable[..., Any]) -> bool:
    """An object that can be called is what its call is."""
    bare = _unwrapped(handler)
    if inspect.iscoroutinefunction(bare):
        return True
    return not inspect.isroutine(bare) and inspect.iscoroutinefunction(type(bare).__call__)


def _parameters(handler: Callable[..., Any], where: str) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(handler).parameters.values())
    except (TypeError, ValueError):
        # Some functions written in C do not tell: they are called with the input alone, as `str.upper` wants it.
        if callable(handler):
            return [inspect.Parameter("input", inspect.Parameter.POSITIONAL_ONLY)]
        raise UsageError(
            f"The handler of {where} is {type(handler).__name__}, which cannot be called.", "Give a function."
        ) from None


def _hints(handler: Callable[..., Any], where: str, names: Mapping[str, Any], must_read: bool) -> dict[str, Any]:
    bare = _unwrapped(handler)
    annotated = bare if inspect.isroutine(bare) or inspect.isclass(bare) else type(bare).__call__
    try:
        return get_type_hints(annotated, localns={**_enclosed(annotated), **names}, include_extras=True)
    except NameError as error:
        if not must_read:
            return {}
        raise UsageError(
            f"The types of the handler of {where} cannot be read: {error}.",
            "Define them where the whole module sees them, or give input= and output= to capability().",
        ) from error
    except TypeError:
        return {}


def _enclosed(function: Any) -> dict[str, Any]:
    """What the function itself uses of the functions around it."""
    inner = getattr(function, "__func__", function)
    if not isinstance(inner, types.FunctionType) or inner.__closure__ is None:
        return {}
    found = {}
    for name, cell in zip(inner.__code__.co_freevars, inner.__closure__, strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # Not assigned yet.
            continue
    return found


def _unwrapped(handler: Any) -> Any:
    while isinstance(handler, functools.partial):
        handler = handler.func
    return handler


def _context_among(given: list[inspect.Parameter], hints: dict[str, Any]) -> inspect.Parameter | None:
    """By its type; else by its name; else it is the second."""
    for each in given:
        if _is_context_type(hints.get(each.name)):
            return each
    for each in given:
        if each.name in _CONTEXT_NAMES and each.name not in hints:
            return each
    positional = [each for each in given if _is_positional(each) and each.name not in hints]
    second = [each for each in given if _is_positional(each)][1:2]
    return second[0] if second and second[0] in positional and _is_needed(second[0]) else None


def _is_context_type(hint: Any) -> bool:
    from .context import AnyContext

    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return any(_is_context_type(part) for part in typing.get_args(hint))
    return inspect.isclass(hint) and issubclass(hint, AnyContext)


def _is_positional(parameter: inspect.Parameter) -> bool:
    return parameter.kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _is_needed(parameter: inspect.Parameter) -> bool:
    is_collecting = parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return parameter.default is inspect.Parameter.empty and not is_collecting


def _name_only(context: inspect.Parameter | None) -> str | None:
    """By name, unless it cannot be named: then it comes after the input."""
    if context is None or context.kind is inspect.Parameter.POSITIONAL_ONLY:
        return None
    return context.name


def _without_never(hint: Any) -> Any:
    """A handler that is said never to return says nothing of what it returns."""
    return MISSING if hint in (typing.NoReturn, getattr(typing, "Never", typing.NoReturn)) else hint
