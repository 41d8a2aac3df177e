"""What a capability may say of itself besides its schemas, and how the manifest has it. All of it is optional."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from typing_extensions import NotRequired, TypedDict

from .._duration import Duration, to_ms
from .._text_list import text_list
from .._wire_json import plain_json
from ..errors import UsageError


class Cost(TypedDict):
    """In millionths of the unit of account."""

    amount: int
    per: Literal["handoff", "thousand_tokens"]


class Sla(TypedDict):
    """Over which time a claimed reliability holds, and on which conditions."""

    window: Duration
    conditions: NotRequired[str]


class Latency(TypedDict, total=False):
    """How long half of the attempts, and nearly all of them, take at most."""

    p50: Duration
    p95: Duration


class DataPolicy(TypedDict, total=False):
    """What the agent does with what it is given. What is left out is not promised."""

    retention: Duration
    regions: Sequence[str]
    trains: bool
    shares: bool


class CapabilityTerms(TypedDict, total=False):
    """What a capability says of itself."""

    reliability: float | None
    """The share of attempts that it says will succeed, above 0 and up to 1. The relay measures it."""
    sla: Sla | None
    side_effects: Literal["none", "reversible", "irreversible"] | None
    """What a run changes in the world."""
    examples: Sequence[Mapping[str, Any]] | None
    """``{"input": ..., "output": ..., "title": ...}`` each; the relay checks that they fit the schemas."""
    max_concurrent: int | None
    """How many handoffs all workers of the agent together take on at once."""
    latency: Latency | None
    cost: Cost | None
    """The price. It is sealed: only whoever asks for an offer is told."""
    data_policy: DataPolicy | None
    questions: Sequence[Mapping[str, Any]] | None
    """What it may ask the sender meanwhile: ``{"name": ..., "description": ..., "schema": ...}`` each."""
    proposes: bool | None
    """Wants to be asked before an offer is made in its name, and may price or decline."""


TERM_NAMES = tuple(CapabilityTerms.__annotations__)


def state_terms(name: str, terms: Mapping[str, Any]) -> dict[str, Any]:
    """As a manifest has them; None: not said. The cost is stated apart, since it is sealed.

    What else is wrong in them, the relay says.
    """
    return {
        "reliability_sla": _reliability(name, terms.get("reliability")),
        "sla": _sla(name, terms.get("sla")),
        "side_effects": terms.get("side_effects"),
        "examples": _plain(name, "examples", terms.get("examples")),
        "max_concurrent": terms.get("max_concurrent"),
        "latency": _latency(name, terms.get("latency")),
        "data_policy": stated_policy(name, terms.get("data_policy")),
        "questions": _plain(name, "questions", terms.get("questions")),
        "proposes": terms.get("proposes"),
    }


def stated_cost(name: str, cost: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """In plain, to be sealed."""
    return None if cost is None else plain_json(_members(name, "cost", cost, ["amount", "per"]), f"The cost of {name}")


def _reliability(name: str, share: Any) -> float | None:
    if share is None:
        return None
    is_number = isinstance(share, (int, float)) and not isinstance(share, bool)
    if is_number and 0 < share <= 1:
        return float(share)
    raise UsageError(
        f"The reliability of {name} is {share!r}.", "Give a share above 0 and up to 1: 0.95 for 95 of 100 attempts."
    )


def _sla(name: str, sla: Any) -> dict[str, Any] | None:
    if sla is None:
        return None
    given = _members(name, "sla", sla, ["window", "conditions"])
    if "window" not in given:
        raise UsageError(f"The sla of {name} has no window.", 'Give one, such as {"window": "1d"}.')
    stated = {"window_seconds": _seconds(name, "window", given.pop("window"))}
    return {**stated, **given}


def _latency(name: str, latency: Any) -> dict[str, Any] | None:
    if latency is None:
        return None
    given = _members(name, "latency", latency, ["p50", "p95"])
    return {f"{each}_ms": to_ms(value, f"The latency of {name}") for each, value in given.items()}


def stated_policy(name: str, policy: Any) -> dict[str, Any] | None:
    """Of a capability, or of what somebody needs."""
    if policy is None:
        return None
    given = _members(name, "data_policy", policy, ["retention", "regions", "trains", "shares"])
    if "retention" in given:
        given["retention_seconds"] = _seconds(name, "retention", given.pop("retention"))
    if "regions" in given:
        given["regions"] = text_list(given["regions"], "regions")
    return given


def _members(name: str, what: str, given: Any, known: Sequence[str]) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise UsageError(f"The {what} of {name} is {given!r}.", f"Give a dict with {', '.join(known)}.")
    strange = [key for key in given if key not in known]
    if strange:
        raise UsageError(f"{strange[0]!r} is nothing that the {what} of {name} can say.", f"Use {', '.join(known)}.")
    return {key: value for key, value in given.items() if value is not None}


def _plain(name: str, what: str, items: Any) -> list[Any] | None:
    return None if items is None else [plain_json(item, f"One of the {what} of {name}") for item in items]


def _seconds(name: str, what: str, duration: Any) -> int:
    return math.ceil(to_ms(duration, f"The {what} of {name}") / 1_000)
