"""Proofs of a handoff's life, checked here: whoever relies on them need not believe the relay.

Each receipt is a document that its author signed. It must be well formed, speak of this very handoff (by the digest
of the handoff's own document), bear a valid signature by its author's key, and fit the payload beside it. What was
attested has no signature: it is told as such, and is the relay's word.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from .._base import PAYLOAD_FIELD, Base
from .._payload import fits, open_payload, payload_of
from .._protocol.documents import DocumentFault, read_document
from .._protocol.signing import document_digest
from ..errors import HandoffError
from .faults import not_proven


@dataclass(frozen=True)
class ProvenReceipt:
    """One document of a handoff's life."""

    kind: Literal["handoff", "ack", "outcome", "answer", "cancel"]
    number: int
    """The fence of an ack or an outcome; the place of an answer's question; else 0."""
    by: str
    """Its author."""
    evidence: Literal["signed", "attested"]
    """``signed``: the author's own signature was checked. ``attested``: the relay's word."""
    key: str | None
    """Thumbprint of the key that signed it; None: attested."""
    document: dict[str, Any]
    text: str
    """The exact text that was signed."""
    payload: bytes | None
    """The bytes that it vouches for; None where it has none or the relay no longer has them."""


@dataclass(frozen=True)
class Proven:
    """Everything that can be proven of a handoff."""

    handoff: Any
    receipts: list[ProvenReceipt]


async def proofs_of(base: Base, view: Mapping[str, Any]) -> Proven:
    """Of a view that was read with its proofs. Raises a HandoffError that says which receipt is wrong and how."""
    return Proven(view, [await _proven(base, view, shown) for shown in view.get("receipts", [])])


async def _proven(base: Base, view: Mapping[str, Any], shown: dict[str, Any]) -> ProvenReceipt:
    kind, number, signed = shown["kind"], shown["number"], shown["signed"]
    data = signed["document"].encode("utf-8", "replace")

    def wrong(what: str) -> HandoffError:
        return _doubtful(view, f"The {kind} ({number}) {what}.")

    try:
        document = read_document(kind, data)
    except DocumentFault as fault:
        raise wrong(f"is malformed: {fault}") from None
    differs = _differences(base, view, kind, number, document, data)
    if differs:
        raise wrong(f"is about another {', '.join(differs)}")
    payload = payload_of(signed)
    digest = document.get(PAYLOAD_FIELD.get(kind, ""))
    if payload is not None and (digest is None or not fits(digest, payload)):
        raise wrong("comes with another payload than the one it was written for")
    author, proof = document["from"], signed["proof"]
    if proof is not None:
        await base.trust.check_signature(view, kind, author, data, proof)
    return ProvenReceipt(
        kind=kind,
        number=number,
        by=author,
        evidence="attested" if proof is None else "signed",
        key=None if proof is None else proof["key"],
        document=document,
        text=signed["document"],
        payload=payload,
    )


def _differences(
    base: Base, view: Mapping[str, Any], kind: str, number: int, document: dict[str, Any], data: bytes
) -> list[str]:
    """In what it does not speak of this handoff.

    Its digest stands for everything that its sender said, the relay too.
    """
    differs = []
    if document["id"] != view["id"]:
        differs.append("id")
    if document["namespace"] != base.namespace:
        differs.append("namespace")
    if kind == "handoff":
        if document_digest("handoff", data) != view["digest"]:
            differs.append("digest")
        if document.get("on_behalf_of", document["from"]) != view["from"]:
            differs.append("sender")
        return differs
    if document["handoff"] != view["digest"]:
        differs.append("digest")
    if kind in ("ack", "outcome") and document["fence"] != number:
        differs.append("fence")
    return differs


def proven_outcome(proven: Proven, view: dict[str, Any]) -> dict[str, Any]:
    """The view with the output that its agent signed, in place of the one that the relay shows.

    Raises where the outcome is the agent's and it did not sign it. An end that the relay itself decided, such as a
    passed deadline, stays as it is; that something is completed the relay cannot decide.
    """
    outcome = view["outcome"]
    is_completed = view["state"] == "completed"
    if is_completed and outcome is None and not _is_notice(proven):
        raise _doubtful(view, "The relay shows it as completed, without an outcome.")
    if outcome is None or (outcome["evidence"] == "relay" and not is_completed):
        return view
    found = (each for each in proven.receipts if each.kind == "outcome" and each.number == outcome["fence"])
    receipt = next(found, None)
    if receipt is None:
        # A cancel has no outcome of its own: whoever called it off decided it.
        if view["state"] == "canceled":
            return view
        raise _doubtful(view, "The relay shows an outcome and no receipt for it.")
    if receipt.evidence != "signed":
        message = f"The outcome of {view['id']} is not signed by {receipt.by}: the relay attests it."
        remedy = 'Demand it when sending (evidence="signed"), or do without (verify=False).'
        raise not_proven(view["id"], message, remedy)
    document = receipt.document
    if receipt.by != outcome["agent"] or document["status"] != view["state"]:
        shown = f"{view['state']} by {outcome['agent']}"
        raise _doubtful(view, f"The relay shows it as {shown}, but {receipt.by} signed {document['status']}.")
    digest = document.get("output")
    if digest is None:
        return {**view, "outcome": {**outcome, "error": document.get("error")}}
    if receipt.payload is None:
        raise _doubtful(view, "The relay does not give the output that was signed.")
    rest = {name: value for name, value in outcome.items() if name not in ("output", "text", "base64")}
    opened = open_payload(receipt.payload, digest["media_type"])
    if opened is None:
        raise _doubtful(view, f"The output is not {digest['media_type']}, as it says.")
    if opened.text is not None:
        form = {"text": opened.text}
    elif opened.input is receipt.payload:
        form = {"base64": base64.b64encode(receipt.payload).decode("ascii")}
    else:
        form = {"output": opened.input}
    return {**view, "outcome": {**rest, **form, "payload": digest}}


def check_own(proven: Proven, handoff: str, sender: str) -> None:
    """That what was signed about it was signed about this very handoff: the sender's own signature is under its
    document."""
    own = next((each for each in proven.receipts if each.kind == "handoff"), None)
    if own is None or proven.handoff["id"] != handoff or own.evidence != "signed" or own.by != sender:
        raise _doubtful(proven.handoff, f"The relay does not show the document that {sender} signed.")


async def proven_answer(base: Base, about: Mapping[str, Any], view: Mapping[str, Any], question: str) -> Any:
    """The answer to a question as its author wrote it, of a handoff that was read with its proofs.

    `about` has the handoff's ``id``, ``digest`` and ``from`` as they are known here. Raises where the answer should be
    signed and is not. Only its own receipt counts: those of other attempts have nothing to do with it.
    """
    mentions = json.dumps(question, ensure_ascii=False)
    shown = [
        each for each in view.get("receipts", []) if each["kind"] == "answer" and mentions in each["signed"]["document"]
    ]
    proven = await proofs_of(base, {**view, "id": about["id"], "digest": about["digest"], "receipts": shown})
    receipt = next((each for each in proven.receipts if each.document["question"] == question), None)
    if receipt is None:
        raise _doubtful(view, f"The relay shows an answer to {question} and no receipt for it.")
    if receipt.evidence != "signed":
        base.trust.check_unsigned(about, receipt.by, f"the answer to {question}")
    media_type = receipt.document["answer"]["media_type"]
    opened = None if receipt.payload is None else open_payload(receipt.payload, media_type)
    if opened is None:
        raise _doubtful(view, f"The relay does not give the answer to {question} that was written.")
    return opened.input


def _is_notice(proven: Proven) -> bool:
    """By its own document: a notice ends with its ack and has no outcome."""
    return any(each.kind == "handoff" and each.document.get("kind") == "notice" for each in proven.receipts)


def _doubtful(view: Mapping[str, Any], detail: str) -> HandoffError:
    remedy = "Do not rely on it: what the relay shows is not what was signed. Tell the relay's operator."
    return not_proven(view["id"], f"The handoff {view['id']} is not proven: {detail}", remedy)
