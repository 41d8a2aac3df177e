"""Runs the vectors of spec/vectors that concern a client, as every implementation does: byte for byte."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from handfast._identity.agent_key import key_of
from handfast._identity.credential import sign_jwt
from handfast._protocol.canonical_json import canonical, manifest_digest
from handfast._protocol.contract import capability_digest, contract_id
from handfast._protocol.documents import read_document
from handfast._protocol.encoding import from_base64url, to_base64url
from handfast._protocol.keys import KeyFault, parse_public_key
from handfast._protocol.seal_cost import salt_by_key, salt_by_token, seal_cost
from handfast._protocol.signing import (
    Message,
    document_digest,
    open_proof,
    payload_digest,
    sign_batch,
    verify_proof,
)
from handfast._protocol.strict_json import JsonFault, JsonLimits, parse_strict, parse_strict_bytes

FOLDER = Path(__file__).resolve().parents[3] / "spec" / "vectors"


def load(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def decoded(text: str) -> bytes:
    data = from_base64url(text)
    assert data is not None
    return data


SIGNATURE, BATCH, KEYS, JSON, CREDENTIAL, MANIFEST = map(
    load, ["signature", "batch", "keys", "json", "credential", "manifest"]
)
CONTRACT = load("contract")


@pytest.mark.parametrize("case", SIGNATURE["cases"], ids=lambda case: case["name"])
def test_a_document_signed_alone(case: Any) -> None:
    key, data = parse_public_key(SIGNATURE["jwk"]), decoded(case["bytes"])
    assert data.decode("utf-8") == case["text"]
    assert document_digest(case["typ"], data) == case["leaf_sha256"]
    root = open_proof(case["typ"], data, case["proof"])
    assert root is not None
    assert to_base64url(root.signed) == case["signed"]
    assert verify_proof(key, case["typ"], data, case["proof"])
    # Signatures are deterministic: a signer makes the very same.
    assert sign_batch(key_of(bytes.fromhex(SIGNATURE["seed"])), [Message(case["typ"], data)]) == [case["proof"]]
    if data:
        assert read_document(case["typ"], data) == json.loads(case["text"])


@pytest.mark.parametrize("case", SIGNATURE["payloads"], ids=lambda case: case["text"])
def test_a_payload_digest(case: Any) -> None:
    assert payload_digest(decoded(case["salt"]), case["text"].encode()) == case["sha256"]


@pytest.mark.parametrize("case", BATCH["batches"], ids=lambda case: f"size {case['size']}")
def test_one_signature_over_many(case: Any) -> None:
    key = parse_public_key(BATCH["jwk"])
    messages = [Message(each["typ"], decoded(each["bytes"])) for each in case["messages"]]
    assert sign_batch(key_of(bytes.fromhex(BATCH["seed"])), messages) == [each["proof"] for each in case["messages"]]
    for message, each in zip(messages, case["messages"], strict=True):
        assert document_digest(message.typ, message.data) == each["leaf_sha256"]
        root = open_proof(message.typ, message.data, each["proof"])
        assert root is not None
        assert root.signed[-32:].hex() == case["root"]
        assert verify_proof(key, message.typ, message.data, each["proof"])


@pytest.mark.parametrize("case", BATCH["refused"], ids=lambda case: case["name"])
def test_a_proof_that_must_be_refused(case: Any) -> None:
    assert not verify_proof(parse_public_key(BATCH["jwk"]), case["typ"], decoded(case["bytes"]), case["proof"])


@pytest.mark.parametrize("case", KEYS["accepted"], ids=lambda case: case["thumbprint"])
def test_a_key_that_is_accepted(case: Any) -> None:
    assert parse_public_key(case["jwk"]).thumbprint == case["thumbprint"]
    own = key_of(bytes.fromhex(case["seed"]))
    assert (own.jwk, own.thumbprint) == (case["jwk"], case["thumbprint"])


@pytest.mark.parametrize("case", KEYS["refused"], ids=lambda case: case["name"])
def test_a_key_that_is_refused(case: Any) -> None:
    with pytest.raises(KeyFault) as caught:
        parse_public_key(case["jwk"])
    assert caught.value.fault == case["fault"]


LIMITS = JsonLimits(**JSON["limits"])


@pytest.mark.parametrize("case", JSON["accepted"], ids=lambda case: case["bytes"])
def test_json_that_is_accepted(case: Any) -> None:
    assert parse_strict_bytes(decoded(case["bytes"]), LIMITS) == json.loads(case["text"])


@pytest.mark.parametrize("case", JSON["refused"], ids=lambda case: f"{case['bytes']}-{case['reason']}")
def test_json_that_is_refused(case: Any) -> None:
    with pytest.raises(JsonFault) as caught:
        parse_strict_bytes(decoded(case["bytes"]), LIMITS)
    assert (caught.value.reason, caught.value.path) == (case["reason"], case["path"])


@pytest.mark.parametrize("case", CREDENTIAL["accepted"], ids=lambda case: case["name"])
def test_a_credential_is_signed_byte_for_byte(case: Any) -> None:
    key = key_of(bytes.fromhex(CREDENTIAL["agent"]["seed"]))
    head, middle, signature = case["jwt"].split(".")
    assert f"{head}.{middle}" == case["signing_input"]
    public = parse_public_key(CREDENTIAL["agent"]["jwk"])
    assert public.verify(case["signing_input"].encode(), decoded(signature))
    if case["header"] == {"alg": "EdDSA", "kid": key.thumbprint} and list(case["header"]) == ["alg", "kid"]:
        assert sign_jwt(key, case["claims"]) == case["jwt"]


def test_at_least_one_credential_is_made_here_and_not_only_read() -> None:
    key = key_of(bytes.fromhex(CREDENTIAL["agent"]["seed"]))
    assert sign_jwt(key, CREDENTIAL["accepted"][0]["claims"]) == CREDENTIAL["accepted"][0]["jwt"]


@pytest.mark.parametrize("case", MANIFEST["cases"], ids=lambda case: case["name"])
def test_a_manifest_has_its_digest(case: Any) -> None:
    value = parse_strict(case["text"], JsonLimits(64))
    assert canonical(value) == case["canonical"]
    assert hashlib.sha256(canonical(value).encode()).hexdigest() == case["sha256"]
    assert manifest_digest(value) == case["sha256"]
    assert manifest_digest({**value, "v": 1, "challenge": "of a registration"}) == case["sha256"]


@pytest.mark.parametrize("case", MANIFEST["costs"], ids=lambda case: case["canonical"])
def test_a_cost_is_sealed_by_its_digest(case: Any) -> None:
    assert seal_cost(case["salt"], json.loads(case["canonical"])) == {"sha256": case["sha256"]}


@pytest.mark.parametrize("case", MANIFEST["salts"], ids=lambda case: "seed" if "seed" in case else "token")
def test_a_salt_is_made_by_the_key_or_the_token(case: Any) -> None:
    place = json.loads(case["place"])
    named = place["agent_id"], place["capability"], place["cost"]
    if "seed" in case:
        assert salt_by_key(key_of(bytes.fromhex(case["seed"])).sign, *named) == case["salt"]
    else:
        assert salt_by_token(case["token"], *named) == case["salt"]


@pytest.mark.parametrize("case", CONTRACT["cases"], ids=lambda case: case["name"])
def test_a_contract_is_named_by_its_terms(case: Any) -> None:
    terms = parse_strict(case["text"], JsonLimits(64))
    assert canonical(terms) == case["canonical"]
    assert contract_id(terms) == case["contract_id"]


@pytest.mark.parametrize("case", CONTRACT["capabilities"], ids=lambda case: case["name"])
def test_a_capability_is_named_without_the_seal_of_its_price(case: Any) -> None:
    assert capability_digest(parse_strict(case["text"], JsonLimits(64))) == case["offered"]
