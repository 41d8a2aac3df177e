"""From the exact bytes of a document to its checked value: strict JSON, the schema of its typ, then what one field
demands of another. Signatures are another matter (signing.py): this says what the bytes mean, not who wrote them."""

from __future__ import annotations

from functools import cache
from typing import Any

from .._remedies import generated
from .limits import DOCUMENT_BYTES, DOCUMENT_DEPTH, REGISTRATION_BYTES
from .schema import SchemaFault, check_schema
from .strict_json import JsonFault, JsonLimits, parse_strict_bytes


class DocumentFault(Exception):
    """Why it is no document of its typ: a reason, a JSON pointer to the field at fault, and a few words."""

    def __init__(self, reason: str, path: str, message: str) -> None:
        super().__init__(f"{path} {message}".strip())
        self.reason = reason
        self.path = path
        self.message = message


@cache
def _schemas() -> dict[str, Any]:
    schemas: dict[str, Any] = generated("documents.json")
    return schemas


def read_document(typ: str, data: bytes) -> dict[str, Any]:
    """The caller says which typ it expects; a document of another typ is refused like any other misfit."""
    max_bytes = REGISTRATION_BYTES if typ == "registration" else DOCUMENT_BYTES
    try:
        value = parse_strict_bytes(data, JsonLimits(DOCUMENT_DEPTH, max_bytes))
    except JsonFault as fault:
        message = f"{fault.reason.replace('_', ' ')} at character {fault.offset}"
        raise DocumentFault(fault.reason, fault.path, message) from None
    try:
        check_schema(_schemas()[typ], value)
    except SchemaFault as fault:
        raise DocumentFault("unfit", fault.path, fault.message) from None
    document: dict[str, Any] = value
    if typ == "outcome":
        _check_outcome(document)
    if typ == "registration":
        _check_registration(document)
    if typ == "contract":
        _check_place(document, "asker")
    if typ == "proposal":
        _check_proposal(document)
    return document


def _check_outcome(document: dict[str, Any]) -> None:
    """Status, code, output and error tell one story, or a reader could pick the one it likes."""
    status = document["status"]
    code = {"completed": 200, "failed": 500, "rejected": 501}[status]
    wanted, unwanted = ("output", "error") if status == "completed" else ("error", "output")
    if document["code"] != code:
        raise DocumentFault("unfit", "/code", f"must be {code} when {status}")
    if wanted not in document:
        raise DocumentFault("unfit", f"/{wanted}", f"must be given when {status}")
    if unwanted in document:
        raise DocumentFault("unfit", f"/{unwanted}", f"must not be given when {status}")


def _check_registration(document: dict[str, Any]) -> None:
    names: set[str] = set()
    for at, capability in enumerate(document["capabilities"]):
        if capability["name"] in names:
            raise DocumentFault("unfit", f"/capabilities/{at}/name", "is listed twice")
        names.add(capability["name"])


def _check_proposal(document: dict[str, Any]) -> None:
    """Terms or a refusal, never both: a reader could pick the one it likes."""
    if "terms" not in document:
        if "decline" not in document:
            raise DocumentFault("unfit", "", "must have terms or decline")
        return
    if "decline" in document:
        raise DocumentFault("unfit", "/decline", "must not be given beside terms")
    _check_place(document, "provider")
    if document["terms"]["offer"] != document["offer"]:
        raise DocumentFault("unfit", "/terms/offer", "must be the offer that is answered")


def _check_place(document: dict[str, Any], signer: str) -> None:
    terms = document["terms"]
    if terms[signer] != document["from"]:
        raise DocumentFault("unfit", f"/terms/{signer}", "must be who signs")
    for name in ("relay", "namespace"):
        if terms[name] != document[name]:
            raise DocumentFault("unfit", f"/terms/{name}", "must be the document's own")
