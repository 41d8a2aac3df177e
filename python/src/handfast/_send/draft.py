"""From what a sender writes to the handoff's document, as far as it can be told before it is signed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._acts import Draft
from .._base import Base
from .._duration import to_ms
from .._protocol.ids import is_name, is_text_id, make_id
from .._protocol.limits import ATTEMPTS, DURATION_MS, LEASE_LEAST_MS, VERSION_RANGE_CHARS
from .._wire_json import check_size, check_text, plain_json, plain_text, write_json
from ..errors import UsageError
from .expected import schema_of
from .sender import Parent


def make_ids(base: Base, count: int) -> list[str]:
    """Ids that stand in this order: of handoffs that are accepted together, workers get the one with the lesser id
    first."""
    now = base.surroundings.now()
    return sorted(make_id(now, base.surroundings.random_bytes(10)) for _ in range(count))


def draft_of(
    handoff: str,
    kind: str,
    target: Any,
    given: Any,
    options: Mapping[str, Any],
    artifacts: Sequence[Mapping[str, Any]],
    parent: Parent | None,
) -> Draft:
    """The id is the sender's: every repeat of the call then means the same handoff."""
    said = {name: value for name, value in options.items() if value is not None}
    expects = said.get("expects")
    terms = {
        "id": handoff,
        "kind": kind if kind == "notice" else None,
        **_target_of(target),
        "version": _range_of(said),
        "idempotency_key": _text_id("idempotency_key", said),
        "correlation_id": _text_id("correlation", said) or (None if parent is None else parent.correlation_id),
        "causation": None if parent is None else {"id": parent.id, "fence": parent.fence},
        "conversation_id": _text_id("conversation", said) or (None if parent is None else parent.conversation_id),
        "detached": None if parent is None else said.get("detached"),
        "ordering_key": _text_id("ordering_key", said),
        "priority": _whole("priority", said, 0, 9),
        "labels": _labels_of(said),
        "expects": None if expects is None else {"output_schema": schema_of(expects)},
        "contract": _text_id("contract", said),
        "limits": limits_of(said) or None,
        "budget": None if "budget" not in said else plain_json(said["budget"], "The budget"),
        "dead_letter_to": None if "dead_letter_to" not in said else _named("dead_letter_to", said["dead_letter_to"]),
        "evidence": said.get("evidence"),
        "queue_if_absent": said.get("queue_if_absent"),
        "artifacts": list(artifacts) or None,
        "traceparent": said.get("traceparent") or (None if parent is None else parent.traceparent),
        "ext": None if "ext" not in said else plain_json(said["ext"], "The option ext"),
    }
    kept = {name: value for name, value in terms.items() if value is not None}
    if said.get("text"):
        return Draft(kept, check_text(given, "The input"), is_text=True)
    # A sender that brings its own key may come again with its members in another order: that is the same input.
    value = plain_json(given, "The input")
    payload = write_json(value, "The input", ordered="idempotency_key" in kept)
    return Draft(kept, check_size(payload, "The input"), value=value)


def _target_of(target: Any) -> dict[str, str]:
    if isinstance(target, str):
        return {"capability": _named("capability", target)}
    remedy = 'Name a capability ("web_research") or an agent ({"to": "research-1"}).'
    if not isinstance(target, Mapping):
        raise UsageError(f"The target is {target!r}.", remedy)
    strange = target.keys() - {"to", "capability"}
    if strange:
        raise UsageError(f"A target has no {sorted(map(str, strange))[0]!r}.", remedy)
    named = {name: _named(name, target[name]) for name in ("to", "capability") if target.get(name) is not None}
    if not named:
        raise UsageError("The handoff has no target.", remedy)
    return named


def _named(option: str, value: Any) -> str:
    if is_name(value):
        return plain_text(value)
    raise UsageError(
        f"{value!r} is no name ({option}).",
        "A name has up to 128 letters, digits, dots, underscores and hyphens, and begins with a letter or digit.",
    )


def _range_of(said: Mapping[str, Any]) -> str | None:
    value = said.get("version")
    if value is None or (isinstance(value, str) and 0 < len(value) <= VERSION_RANGE_CHARS):
        return value
    raise UsageError(
        f"The option version is {value!r}.",
        f'Give a range of versions of up to {VERSION_RANGE_CHARS} characters, as "^1.2".',
    )


def _text_id(option: str, said: Mapping[str, Any]) -> str | None:
    value = said.get(option)
    if value is None or is_text_id(value):
        return value
    raise UsageError(f"The option {option} is {value!r}.", "Give 1 to 256 characters without control characters.")


def _whole(option: str, said: Mapping[str, Any], least: int, most: int) -> int | None:
    value = said.get(option)
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and least <= value <= most):
        return value
    raise UsageError(f"The option {option} is {value!r}.", f"Give a whole number from {least} to {most}.")


def _labels_of(said: Mapping[str, Any]) -> dict[str, str] | None:
    labels = said.get("labels")
    if labels is None:
        return None
    if not isinstance(labels, Mapping):
        raise UsageError(f"The option labels is {labels!r}.", 'Give a dict of strings, such as {"team": "blue"}.')
    for key, value in labels.items():
        if not isinstance(key, str) or ":" in key or not isinstance(value, str):
            raise UsageError(f"The label {key!r} does not fit.", "Keys have no colon, and values are strings.")
    plain: dict[str, str] = plain_json(labels, "The labels")
    return plain


def limits_of(said: Mapping[str, Any]) -> dict[str, Any]:
    """The clocks and counts that are said, as the wire has them."""
    limits = {
        "deadline_ms": _span("timeout", said),
        "queue_ms": _span("queue", said),
        "ack_ms": _span("ack", said),
        "lease_ms": _span("lease", said, LEASE_LEAST_MS),
        "attempt_ms": _span("attempt", said),
        "max_attempts": _whole("attempts", said, 1, ATTEMPTS),
        "retry": said.get("retry"),
    }
    return {name: value for name, value in limits.items() if value is not None}


def _span(option: str, said: Mapping[str, Any], least: int = 1) -> int | None:
    value = said.get(option)
    if value is None:
        return None
    ms = to_ms(value, f"The option {option}")
    if least <= ms <= DURATION_MS:
        return ms
    raise UsageError(f"The option {option} is {value!r}.", f"Give a time from {least} ms to 30 days.")
