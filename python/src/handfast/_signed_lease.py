"""What a sender signed, beside what the relay shows of it in a lease.

Every member that the sender's document decides must be the same in both, with the spec's own value where the sender
left it out: a handler acts on labels and artifacts too.
"""

from __future__ import annotations

from typing import Any

from ._identity.same_json import is_same_json

REDRIVEN_EXT = "https://handfast.dev/ext/redriven-document"
"""Under this name an unedited redrive carries the sender's own document and proof."""

_ABSENT = object()


def lease_differences(lease: dict[str, Any], document: dict[str, Any]) -> list[str]:
    """In which of what the sender said the lease differs."""
    causation = document.get("causation")
    limits = document.get("limits", {})
    sender = document.get("on_behalf_of", document["from"]) if "redrive_of" in document else document["from"]
    # The group of a child that names none is its parent's, which this document does not tell.
    group = document["id"] if causation is None else lease["correlation_id"]
    differs = _Differences()
    differs.compare("id", document["id"], lease["id"])
    differs.compare("from", sender, lease["from"])
    differs.compare("idempotency_key", document.get("idempotency_key", document["id"]), lease["idempotency_key"])
    differs.compare("correlation", document.get("correlation_id", group), lease["correlation_id"])
    differs.compare("causation", None if causation is None else causation["id"], lease["causation_id"])
    differs.compare("ext", document.get("ext", _ABSENT), lease.get("ext", _ABSENT))
    # A lease tells what is left, which is never more than what was given.
    differs.compare("deadline", True, lease["deadline_ms"] <= limits.get("deadline_ms", lease["deadline_ms"]))
    differs.compare("lease", limits.get("lease_ms", lease["lease_ms"]), lease["lease_ms"])
    differs.compare("ack", limits.get("ack_ms", lease["ack_ms"]), lease["ack_ms"])
    _compare_kept(differs, lease, document)
    return differs.names


def redrive_differences(lease: dict[str, Any], redriven_id: str, original: dict[str, Any]) -> list[str]:
    """The same for an unedited redrive and the document it repeats: it has an id, a key and a place of its own."""
    ext = {name: value for name, value in lease.get("ext", {}).items() if name != REDRIVEN_EXT}
    differs = _Differences()
    differs.compare("id", original["id"], redriven_id)
    differs.compare("from", original.get("on_behalf_of", original["from"]), lease["from"])
    differs.compare("ext", original.get("ext", {}), ext)
    _compare_kept(differs, lease, original)
    return differs.names


def _compare_kept(differs: _Differences, lease: dict[str, Any], document: dict[str, Any]) -> None:
    """What a redrive keeps too."""
    differs.compare("kind", document.get("kind", "handoff"), lease["kind"])
    differs.compare("to", document.get("to"), lease["to"])
    differs.compare("capability", document.get("capability"), lease["capability"])
    differs.compare("conversation", document.get("conversation_id"), lease["conversation_id"])
    differs.compare("labels", document.get("labels", {}), lease["labels"])
    differs.compare("artifacts", document.get("artifacts", []), lease["artifacts"])
    differs.compare("traceparent", document.get("traceparent", _ABSENT), lease.get("traceparent", _ABSENT))
    differs.compare("expects", document.get("expects", _ABSENT), lease.get("expects", _ABSENT))
    differs.compare("evidence", document.get("evidence", "any"), lease["demands"])
    differs.compare("input", document["input"], lease["payload"])


class _Differences:
    def __init__(self) -> None:
        self.names: list[str] = []

    def compare(self, name: str, signed: Any, shown: Any) -> None:
        if not is_same_json(signed, shown):
            self.names.append(name)
