"""Every act that can be signed, in both forms: a document that this agent's key signs, or the plain fields where
there is only a token. The answers are the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ._base import Base
from ._payload import JSON_MEDIA_TYPE, TEXT_MEDIA_TYPE
from ._wire_json import check_size, plain_json, write_json


@dataclass(frozen=True)
class Draft:
    """A handoff as it is to be sent. The id is made by the sender, so that a repeat is the same handoff."""

    terms: dict[str, Any]
    """Everything but the input, as the document has it."""
    payload: str
    """The exact text of the input."""
    is_text: bool = False
    """The input is plain text, not JSON."""
    value: Any = field(default=None, compare=False)
    """The input as plain data, for whoever cannot sign."""


async def submit(base: Base, draft: Draft, *, patience: float | None, minimal: bool) -> Any:
    [body] = _submit_bodies(base, [draft])
    return await base.link.call("submit", body=body, patience=patience, minimal=minimal)


async def submit_batch(base: Base, drafts: Sequence[Draft], *, patience: float | None) -> Any:
    """All are accepted, or none."""
    body = {"handoffs": _submit_bodies(base, drafts)}
    return (await base.link.call("submit_batch", body=body, patience=patience, minimal=True))["receipts"]


def _submit_bodies(base: Base, drafts: Sequence[Draft]) -> list[dict[str, Any]]:
    acts = [
        ("handoff", draft.terms, draft.payload, TEXT_MEDIA_TYPE if draft.is_text else JSON_MEDIA_TYPE)
        for draft in drafts
    ]
    signed = base.sealed_batch(acts)
    if signed is not None:
        return signed
    return [
        {**draft.terms, **({"text": draft.payload} if draft.is_text else {"input": draft.value})} for draft in drafts
    ]


def bound(lease: Mapping[str, Any], worker: str) -> dict[str, Any]:
    """What an ack and an outcome bind, as the lease states it."""
    return {
        "id": lease["id"],
        "handoff": lease["digest"],
        "fence": lease["fence"],
        "worker": worker,
        "manifest": lease["manifest"],
    }


async def acknowledge(base: Base, lease: Mapping[str, Any], worker: str, *, patience: float | None = None) -> Any:
    body = base.sealed("ack", bound(lease, worker)) or {"fence": lease["fence"], "worker": worker}
    return await base.link.call("ack", params={"id": lease["id"]}, body=body, patience=patience)


async def complete(
    base: Base,
    lease: Mapping[str, Any],
    worker: str,
    output: Any,
    *,
    is_text: bool = False,
    usage: dict[str, Any] | None = None,
    artifacts: list[dict[str, Any]] | None = None,
    patience: float | None = None,
) -> Any:
    """`output`: JSON, or with `is_text` a str that goes as plain text."""
    said = {**({} if usage is None else {"usage": usage}), **({} if artifacts is None else {"artifacts": artifacts})}
    payload = output if is_text else write_json(output, "The output")
    fields = {**bound(lease, worker), "status": "completed", "code": 200, **said}
    body = base.sealed("outcome", fields, payload, TEXT_MEDIA_TYPE if is_text else JSON_MEDIA_TYPE)
    if body is None:
        form = {"text": output} if is_text else {"output": plain_json(output, "The output")}
        body = {"fence": lease["fence"], "worker": worker, **said, **form}
    return await base.link.call("complete", params={"id": lease["id"]}, body=body, patience=patience)


async def fail(
    base: Base,
    lease: Mapping[str, Any],
    worker: str,
    error: dict[str, Any],
    *,
    retryable: bool,
    retry_after_ms: int | None = None,
    usage: dict[str, Any] | None = None,
    patience: float | None = None,
) -> Any:
    """`error`: reason, message and perhaps detail."""
    said = {
        "error": error,
        "retryable": retryable,
        **({} if retry_after_ms is None else {"retry_after_ms": retry_after_ms}),
        **({} if usage is None else {"usage": usage}),
    }
    body = base.sealed("outcome", {**bound(lease, worker), "status": "failed", "code": 500, **said})
    if body is None:
        body = {"fence": lease["fence"], "worker": worker, **plain_json(said, "The failure")}
    return await base.link.call("fail", params={"id": lease["id"]}, body=body, patience=patience)


async def reject(
    base: Base, lease: Mapping[str, Any], worker: str, error: dict[str, Any], *, patience: float | None = None
) -> Any:
    body = base.sealed("outcome", {**bound(lease, worker), "status": "rejected", "code": 501, "error": error})
    if body is None:
        body = {"fence": lease["fence"], "worker": worker, "error": error}
    return await base.link.call("reject", params={"id": lease["id"]}, body=body, patience=patience)


async def cancel(base: Base, handoff: str, digest: str | None, reason: str | None) -> Any:
    """The digest is that of the receipt; where it is not known, it is read first."""
    params = {"id": handoff}
    said = {} if reason is None else {"reason": reason}
    if base.signs and digest is None:
        digest = (await base.link.call("get", params=params))["digest"]
    body = base.sealed("cancel", {"id": handoff, "handoff": digest, **said}) or said
    return await base.link.call("cancel", params=params, body=body)


async def agree(base: Base, offer: str, terms: Mapping[str, Any] | None) -> Any:
    """Takes an offer: on terms that this agent has seen (``contract``, ``terms``), or by the offer's id alone."""
    signed = None if terms is None else base.sealed("contract", dict(terms))
    return await base.link.call("agree", body=signed or {"offer_id": offer})


async def propose(base: Base, call: str, said: dict[str, Any]) -> Any:
    """Answers a call for a proposal, with the whole ``terms`` or with ``decline``. Repeated alike, it is answered
    alike."""
    body = base.sealed("proposal", {"offer": call, **said})
    if body is None:
        terms = said.get("terms")
        body = said if terms is None else {name: terms[name] for name in ("cost", "limits", "valid_until")}
    return await base.link.call("propose", params={"id": call}, body=body)


async def answer(base: Base, question: str | Mapping[str, Any], value: Any) -> Any:
    """A question as it is listed; or its id alone, and the rest is read first."""
    known: Mapping[str, Any] = {"id": question} if isinstance(question, str) else question
    params = {"id": known["id"]}
    text = check_size(write_json(value, "The answer"), "The answer")
    if not base.signs:
        body: dict[str, Any] = {"answer": plain_json(value, "The answer")}
        return await base.link.call("answer", params=params, body=body)
    if "handoff" not in known or "digest" not in known:
        known = await base.link.call("question", params=params)
    fields = {"id": known["handoff"], "handoff": known["digest"], "question": params["id"]}
    signed = base.sealed("answer", fields, text)
    return await base.link.call("answer", params=params, body=signed)
