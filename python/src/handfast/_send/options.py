"""What a sender may say about its handoffs. Durations are seconds, text such as "250ms", "60s", "5m", "2h", "7d", or a
timedelta."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Union

from typing_extensions import NotRequired, TypedDict

from .._duration import Duration
from ..errors import UsageError


class TargetDict(TypedDict, total=False):
    """An agent by its name, a capability, or a capability of that agent."""

    to: str
    capability: str


Target = Union[str, TargetDict]
"""Who is to do it: a capability (also as a plain string), an agent by its name, or a capability of that agent."""


class Artifact(TypedDict):
    """A reference to bytes that are up already."""

    sha256: str
    size: int
    media_type: str
    name: NotRequired[str]


class ArtifactBytes(TypedDict):
    """Bytes that go along as an artifact, put up by `send` itself."""

    bytes: bytes
    media_type: NotRequired[str]
    """Default: application/octet-stream."""
    name: NotRequired[str]


class Budget(TypedDict, total=False):
    """What a handoff and all below it may spend; `cost` in millionths of the unit of account."""

    cost: int
    tokens: int
    handoffs: int


class TaskTerms(TypedDict, total=False):
    """How one handoff is to be handled, but for what its output must be. Everything is optional."""

    version: str
    """Only agents that offer the capability in a version of this range (``^1.2``, ``>=2 <4``). Default: any."""
    timeout: Duration
    """The deadline: an end is reached within it. Default: the relay's, 15 minutes."""
    queue: Duration
    """The queue clock: how long it may wait for a delivery. Default: until the deadline."""
    ack: Duration
    """The ack clock: how long a worker may take to acknowledge a delivery. Default: 10 s."""
    lease: Duration
    """The lease clock: how long a worker may be silent. Default: 30 s; at least 2 s."""
    attempt: Duration
    """The attempt clock: the longest run of one attempt. Default: what the agent's manifest says, else 5 minutes."""
    attempts: int
    """How many attempts there may be. Default: 3."""
    retry: Literal["attempts", "until_ack"]
    """``until_ack``: once acknowledged it is never tried a second time. Default: ``attempts``."""
    idempotency_key: str
    """Sends with the same key and content are one handoff, for 30 days; with other content the second is refused
    (409)."""
    conversation: str
    ordering_key: str
    """Handoffs to one target with the same ordering key are worked on one after the other, in this order."""
    priority: int
    """0 (default) to 9: goes before what was accepted a little earlier."""
    labels: Mapping[str, str]
    """Your own marks, up to 16; handoffs can be listed by them."""
    contract: str
    """The id of a contract: its terms hold. An agent with a key names its provider and capability as target, as
    `contract.send()` does by itself."""
    budget: Budget
    evidence: Literal["signed", "any"]
    """``signed``: only agents that sign their acks and outcomes themselves; `result()` then checks those signatures."""
    dead_letter_to: str
    """A capability that gets the dead letter, should it become one."""
    queue_if_absent: bool
    """Wait in the queue for somebody to offer the capability, in place of being refused (406)."""
    detached: bool
    """From within a handler: it goes on when the handoff being worked on ends."""
    artifacts: Sequence[ArtifactBytes | Artifact]
    """Files that go along: bytes to put up, or references to artifacts that are up already."""
    ext: Mapping[str, Any]
    """Extensions by URI: kept, passed on, ignored."""
    traceparent: str
    """W3C trace context. Default: that of the handoff being worked on."""
    text: bool
    """The input is a str and goes as plain text, not as JSON."""


class TaskOptions(TaskTerms, total=False):
    """The same, and what its output must be."""

    expects: Any
    """What the output must fit: a pydantic model or another type, or JSON Schema. Unfit output goes back to the worker,
    and `result()` is of that type."""


class SendTerms(TaskTerms, total=False):
    """Of one handoff, and its group."""

    correlation: str
    """The group it belongs to. Default: that of the handoff being worked on, else its own id."""


class SendOptions(SendTerms, TaskOptions, total=False):
    """All that may be said of one handoff."""


class Task(TaskOptions, total=False):
    """One of many pieces of work: who does it, with what, and options of its own over those of the scatter."""

    to: str
    capability: str
    input: Any


class ScatterTerms(SendTerms, total=False):
    """Of a whole scatter, but for what its outputs must be."""

    keep: bool
    """Do not cancel what is left when `any` or `quorum` is decided or `all` has failed. Default: False."""


class ScatterOptions(ScatterTerms, SendOptions, total=False):
    """Options of a whole scatter: those of `send` hold for every task that does not say otherwise."""


_KNOWN = [*TaskOptions.__annotations__, "correlation"]


def check_option_names(options: Mapping[str, Any], *besides: str) -> None:
    """A misspelt option would be left out in silence: the work would run without the limit its sender meant."""
    known = [*_KNOWN, *besides]
    for name in options:
        if name not in known:
            raise UsageError(f"There is no option {name!r}.", f"Use one of {', '.join(known)}.")
