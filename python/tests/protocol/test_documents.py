"""Documents that are read, and those that are not; numbers as the protocol writes them; ids."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from handfast._protocol.canonical_json import canonical, number_text
from handfast._protocol.documents import DocumentFault, read_document
from handfast._protocol.encoding import from_base64url
from handfast._protocol.ids import is_id, is_name, is_text_id, make_id
from handfast._protocol.strict_json import JsonFault, JsonLimits, parse_strict

ID = "01932f6b-7a00-7c3a-9b1e-0123456789ab"
DIGEST = {"media_type": "application/json", "size": 2, "salt": "AAECAwQFBgcICQoLDA0ODw", "sha256": "0" * 64}
HANDOFF = {
    "v": 1,
    "typ": "handoff",
    "relay": "https://relay.example",
    "namespace": "default",
    "from": "planner",
    "id": ID,
    "capability": "upper",
    "input": DIGEST,
}
OUTCOME = {
    "v": 1,
    "typ": "outcome",
    "relay": "https://relay.example",
    "namespace": "default",
    "from": "worker",
    "id": ID,
    "handoff": "0" * 64,
    "fence": 1,
    "worker": "w",
    "manifest": None,
    "status": "completed",
    "code": 200,
    "output": DIGEST,
}


def fault_of(typ: str, document: Any) -> tuple[str, str]:
    text = document if isinstance(document, bytes) else json.dumps(document).encode()
    with pytest.raises(DocumentFault) as caught:
        read_document(typ, text)
    return caught.value.reason, caught.value.path


def test_a_whole_document_is_read() -> None:
    assert read_document("handoff", json.dumps(HANDOFF).encode()) == HANDOFF
    assert read_document("outcome", json.dumps(OUTCOME).encode()) == OUTCOME


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"v": 2}, "/v"),
        ({"v": True}, "/v"),
        ({"typ": "ack"}, "/typ"),
        ({"surprise": 1}, "/surprise"),
        ({"id": ID.upper()}, "/id"),
        ({"id": ID + "\n"}, "/id"),
        ({"from": "a b"}, "/from"),
        ({"priority": 10}, "/priority"),
        ({"priority": 1.5}, "/priority"),
        ({"labels": {"a": 1}}, "/labels/a"),
        ({"labels": {str(at): "" for at in range(17)}}, "/labels"),
        ({"ext": {"no uri": 1}}, "/ext/no uri"),
        ({"causation": {"id": ID}}, "/causation"),
        ({"input": {**DIGEST, "salt": "short"}}, "/input/salt"),
        ({"relay": "ftp://relay.example"}, "/relay"),
        ({"correlation_id": "a\u0007"}, "/correlation_id"),
        ({"artifacts": [{}]}, "/artifacts/0"),
        ({"capability": None}, "/capability"),
    ],
)
def test_a_handoff_with_a_misfit_is_refused_with_its_place(change: dict[str, Any], path: str) -> None:
    assert fault_of("handoff", {**HANDOFF, **change}) == ("unfit", path)


def test_a_handoff_needs_a_target() -> None:
    without = {name: value for name, value in HANDOFF.items() if name != "capability"}
    assert fault_of("handoff", without) == ("unfit", "")
    assert read_document("handoff", json.dumps({**without, "to": "bob"}).encode())["to"] == "bob"


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"code": 201}, "/code"),
        ({"error": {"reason": "r", "message": "m"}}, "/error"),
        ({"status": "failed"}, "/code"),
        ({"status": "failed", "code": 500}, "/error"),
        ({"status": "failed", "code": 500, "error": {"reason": "r", "message": "m"}}, "/output"),
    ],
)
def test_an_outcome_tells_one_story(change: dict[str, Any], path: str) -> None:
    assert fault_of("outcome", {**OUTCOME, **change}) == ("unfit", path)


def test_what_is_not_strict_json_is_no_document() -> None:
    assert fault_of("handoff", b'{"v":1,"v":1}') == ("duplicate_key", "/v")
    assert fault_of("handoff", b"[" * 100) == ("too_deep", "/0" * 64)
    assert fault_of("handoff", b" " * 70_000) == ("too_large", "")
    assert fault_of("handoff", b"[]") == ("unfit", "")


def test_text_with_lone_surrogates_is_refused_where_it_is_text_too() -> None:
    with pytest.raises(JsonFault, match="lone_surrogate"):
        parse_strict('"\ud800"', JsonLimits(4))


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1.0, "1"),
        (-0.0, "0"),
        (1e-5, "0.00001"),
        (1e-6, "0.000001"),
        (1.5e-7, "1.5e-7"),
        (-1e-7, "-1e-7"),
        (0.1, "0.1"),
        (123.456, "123.456"),
        (10.5, "10.5"),
        (1e21, "1e+21"),
        (123456789012345680000.0, "123456789012345680000"),
        (5e-324, "5e-324"),
        (4503599627370495.5, "4503599627370495.5"),
    ],
)
def test_numbers_are_written_as_ecmascript_does(number: float, text: str) -> None:
    assert number_text(number) == text


def test_names_are_ordered_by_utf16_units() -> None:
    assert canonical({"\U0001f600": 1, "\ufb33": 2, "a": [True, None]}) == '{"a":[true,null],"\U0001f600":1,"\ufb33":2}'


def test_what_json_has_not_is_not_written() -> None:
    with pytest.raises(ValueError, match="nan"):
        canonical(math.nan)


def test_base64url_has_one_spelling() -> None:
    assert from_base64url("AA") == b"\0"
    for wrong in ("AB", "A", "AA==", "A+", "A/", "ÄÄ"):
        assert from_base64url(wrong) is None


def test_ids_carry_their_time_and_are_ids() -> None:
    made = make_id(0x0123456789AB, bytes(10))
    assert made == "01234567-89ab-7000-8000-000000000000"
    assert is_id(made)
    assert not is_id(made.upper())
    assert is_name("a.b-c_9")
    assert not is_name("-a")
    assert not is_name("a\n")
    assert is_text_id("Zürich 🏔")
    assert not is_text_id("")
    assert not is_text_id("x" * 257)
    with pytest.raises(ValueError, match="10 random bytes"):
        make_id(0, b"")
    with pytest.raises(ValueError, match="since 1970"):
        make_id(-1, bytes(10))


def test_a_share_is_above_zero() -> None:
    key = {"kty": "OKP", "crv": "Ed25519", "x": "A" * 43}
    head = {"v": 1, "typ": "registration", "relay": "https://relay.example", "namespace": "default"}
    said = {**head, "agent_id": "worker", "challenge": "c" * 22, "key": key}

    def registration(share: float) -> dict[str, Any]:
        return {**said, "capabilities": [{"name": "upper", "reliability_sla": share}]}

    assert read_document("registration", json.dumps(registration(0.9)).encode())["agent_id"] == "worker"
    assert fault_of("registration", registration(0)) == ("unfit", "/capabilities/0/reliability_sla")
