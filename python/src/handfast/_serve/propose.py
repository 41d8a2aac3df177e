"""What an agent that is asked live says to a call for a proposal, and the terms that follow from it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, Union

from typing_extensions import TypedDict

from .._base import Base
from .._duration import Duration, to_ms
from .._generated.views import ProposalCall
from .._protocol.contract import capability_digest
from .._send.draft import limits_of
from .._wire_json import plain_json
from ..errors import UsageError
from .terms import Cost


class Proposal(TypedDict, total=False):
    """On which terms an agent would do it. What is not said stays as it was asked for; limits may only be narrower."""

    cost: Cost | None
    """The price for this asker; None: none. Left out: the capability's ``cost``."""
    timeout: Duration
    queue: Duration
    ack: Duration
    lease: Duration
    attempt: Duration
    attempts: int
    retry: Literal["attempts", "until_ack"]
    valid: Duration
    """How long the contract may hold, from when it was asked for."""


Propose = Callable[[ProposalCall], Union["Proposal | None", Awaitable["Proposal | None"]]]
"""Answers a call for a proposal: with terms, or with None where all is agreed to as it was asked. Plain or async.

It declines by raising ``Reject``; any other exception is a decline too. An async one is canceled when its answer would
come too late.
"""

_NAMES = tuple(Proposal.__annotations__)


def proposed_terms(call: Mapping[str, Any], proposal: Any) -> dict[str, Any]:
    """The terms with what was proposed. Raises UsageError for what no asker would be shown."""
    asked: dict[str, Any] = call["terms"]
    if proposal is None:
        return asked
    capability = call["capability"]
    if not isinstance(proposal, Mapping):
        raise UsageError(
            f"What was proposed for {capability} is {proposal!r}.",
            "Return a dict with cost, timeout, …, or None to agree to what was asked; raise Reject to decline.",
        )
    strange = [name for name in proposal if name not in _NAMES]
    if strange:
        raise UsageError(f"A proposal has no {strange[0]!r}.", f"Use one of {', '.join(_NAMES)}.")
    limits = limits_of({name: value for name, value in proposal.items() if value is not None})
    valid_until = asked["valid_until"]
    if proposal.get("valid") is not None:
        valid_until = call["asked_at"] + to_ms(proposal["valid"], "The option valid")
    more = _wider(limits, asked["limits"]) + (["valid"] if valid_until > asked["valid_until"] else [])
    if more:
        raise UsageError(
            f"What was proposed for {capability} goes beyond what was asked: {', '.join(more)}.",
            "A proposal may narrow what was asked for, never widen it: leave it out, or raise Reject to decline.",
        )
    agreed = {**asked["limits"], **limits}
    # Nobody waits in a queue beyond the deadline.
    agreed["queue_ms"] = min(agreed["queue_ms"], agreed["deadline_ms"])
    cost = plain_json(proposal.get("cost", asked["cost"]), f"The cost of {capability}")
    return {**asked, "cost": cost, "limits": agreed, "valid_until": valid_until}


def _wider(limits: Mapping[str, Any], asked: Mapping[str, Any]) -> list[str]:
    more = [name for name, value in limits.items() if name != "retry" and value > asked[name]]
    return more + (["retry"] if limits.get("retry") == "attempts" and asked["retry"] == "until_ack" else [])


def strange_in(base: Base, call: Mapping[str, Any], manifest: dict[str, Any]) -> list[str]:
    """In what a call is not about what this agent offers here: it signs nothing but its own."""
    terms = call["terms"]
    expected = {
        "provider": base.agent,
        "asker": call["from"],
        "offer": call["id"],
        "capability": manifest["name"],
        "offered": capability_digest(plain_json(manifest, "The capability")),
    }
    return [name for name, value in expected.items() if terms[name] != value] + base.trust.elsewhere(terms)
