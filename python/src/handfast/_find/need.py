"""What somebody needs, as a user of the client writes it, and as the wire has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from typing_extensions import TypedDict

from .._duration import Duration, to_ms
from .._protocol.limits import DURATION_MS, WORDS_CHARS
from .._serve.schema import Side, read_schema
from .._serve.terms import Cost, DataPolicy, stated_policy
from .._text_list import text_list
from .._wire_json import plain_json
from ..errors import UsageError


class Need(TypedDict, total=False):
    """What must hold of whoever is found. Everything is optional; what is said must be met."""

    capability: str
    """The capability's name, where it is known."""
    version: str
    """A range of its versions, such as ``^1.2`` or ``>=2 <4``."""
    tags: Sequence[str]
    """It has all of these."""
    input: Any
    """An input that must be taken, as it is."""
    input_schema: Any
    """What will be sent, as a pydantic model or another type, JSON Schema, or shorthand: it must all be taken."""
    output_schema: Any
    """What comes back must fit this."""
    within: Duration
    """It is done within this time."""
    min_reliability: float
    """The share of attempts that succeed, from 0 to 1."""
    max_cost: Cost
    """The highest price, in millionths of the unit of account."""
    data_policy: DataPolicy
    """What it may do with what it is given."""
    side_effects: Literal["none", "reversible", "irreversible"]
    """What a run may change in the world at most."""
    live: bool
    """Only agents with a worker that was heard of lately."""


class TermsNeeded(Need, total=False):
    """A need, and the terms on which it is to be met. What is not said is what the relay or the provider says."""

    timeout: Duration
    """The deadline of each handoff."""
    queue: Duration
    ack: Duration
    lease: Duration
    attempt: Duration
    """The longest run of one attempt."""
    attempts: int
    retry: Literal["attempts", "until_ack"]
    evidence: Literal["signed", "any"]
    """``signed``: the provider signs its acks and outcomes, and its side of the contract."""
    agents: Sequence[str]
    """Only these agents are asked."""
    reply_by: Duration
    """How long those that are asked live may take to answer. Default: the relay's, 5 s."""
    valid: Duration
    """How long the contract is to hold, at most 30 days. Default: the relay's, 24 hours."""


def read_need(what: str, words: str | None, given: Mapping[str, Any], known: Sequence[str]) -> dict[str, Any]:
    """The need alone, as the wire has it.

    What a relay would refuse for its value, it refuses; what it would not notice is told here: a misspelt member would
    be left out in silence, and somebody found that does not meet it.
    """
    for name in given:
        if name not in known:
            raise UsageError(f"{what} has no {name!r}.", f"Use one of {', '.join(known)}.")
    said = {name: value for name, value in given.items() if value is not None}
    if "tags" in said:
        said["tags"] = text_list(said["tags"], "tags")
    wanted = {
        "words": None if words is None else _worded(words),
        **{name: said.get(name) for name in ("capability", "version", "tags", "side_effects", "live")},
        "max_cost": _price(said.get("max_cost")),
        "input_schema": _schema_of(said, "input_schema", "output"),
        "output_schema": _schema_of(said, "output_schema", "input"),
        "within_ms": to_ms(said["within"], "within", DURATION_MS) if "within" in said else None,
        "min_reliability": _share(said.get("min_reliability")),
        "data_policy": stated_policy("the need", said.get("data_policy")),
    }
    kept = {name: value for name, value in wanted.items() if value is not None}
    # None is an input like any other.
    if "input" in given:
        kept["input"] = given["input"]
    need: dict[str, Any] = plain_json(kept, "The need")
    return need


def _worded(words: Any) -> str:
    if isinstance(words, str) and words.strip() and len(words) <= WORDS_CHARS:
        return words
    raise UsageError(
        f"The words of the need are {words!r}.", f"Say in up to {WORDS_CHARS} characters what it is about."
    )


def _price(cost: Any) -> Any:
    """A number alone does not say of what."""
    if cost is None or isinstance(cost, Mapping):
        return cost
    amount = cost if isinstance(cost, int) and not isinstance(cost, bool) else 1000
    raise UsageError(
        f"max_cost is {cost!r}.",
        f'Give {{"amount": {amount}, "per": "handoff"}}, or "per": "thousand_tokens"; '
        "the amount is in millionths of the unit of account.",
    )


def _share(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1:
        return value
    raise UsageError(f"min_reliability is {value!r}.", "Give a share from 0 to 1: 0.95 for 95 of 100 attempts.")


def _schema_of(said: Mapping[str, Any], name: str, side: Side) -> dict[str, Any] | None:
    """`side`: what is sent is written as a handler's output is, what is taken is read as its input is."""
    return read_schema(said[name], side, f"The {name} of the need").json if name in said else None
