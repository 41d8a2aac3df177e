"""A relay that lies to an asker: what it answers is changed on the way. Nothing forged is agreed to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from faulty_network import Liar, Lie

from handfast import AsyncClient, HandoffError
from handfast._acts import propose
from handfast._protocol.canonical_json import manifest_digest
from handfast._protocol.contract import capability_digest, contract_id

Agents = Callable[..., Any]
Name = Callable[[str], str]

PRICE: dict[str, Any] = {"amount": 100, "per": "handoff"}
DEAR: dict[str, Any] = {"amount": 5_000, "per": "handoff"}


class Trade:
    """A provider, and an asker whom the relay lies to."""

    def __init__(self, provider: AsyncClient, asker: AsyncClient, liar: Liar, upper: str, lower: str) -> None:
        self.provider = provider
        self.asker = asker
        self.liar = liar
        self.upper = upper
        self.lower = lower

    async def accepting(self, **need: Any) -> Any:
        made = await self.asker.negotiate(**{"capability": self.upper, **need})
        assert len(made.offers) == 1
        return await made.offers[0].accept()

    async def refusal(self, **need: Any) -> str:
        """Why nothing was agreed on, and that nothing was signed."""
        with pytest.raises(HandoffError) as refused:
            await self.accepting(**need)
        assert refused.value.code == 401
        assert refused.value.handoff is None
        assert (await self.provider.call("contracts"))["contracts"] == []
        return f"{refused.value.reason}: {refused.value.message}"


@pytest.fixture
async def trade(agent: Agents, name: Name) -> Trade:
    liar = Liar()
    provider, asker = await agent("provider"), await agent("asker", surroundings=liar)
    upper, lower = name("upper"), name("lower")
    provider.capability(upper, cost=PRICE, reliability=0.9, timeout="30s")(lambda text: text.upper())
    provider.capability(lower, proposes=True)(lambda text: text.lower())
    await provider.serve(signals=False)
    return Trade(provider, asker, liar, upper, lower)


def on_offer(tamper: Callable[[dict[str, Any], dict[str, Any]], Any]) -> Lie:
    """Names the contract as such terms are named, so that only the provider's word is against it."""

    def lie(body: dict[str, Any]) -> None:
        for offer in body.get("offers", []):
            tamper(offer, offer["terms"])
            offer["contract_id"] = contract_id(offer["terms"])

    return lie


def dearer(offer: dict[str, Any], terms: dict[str, Any]) -> None:
    offer["cost"] = terms["cost"] = DEAR


@pytest.mark.parametrize(
    ("named", "tamper"),
    [
        ("asker", lambda _, terms: terms.update(asker="mallory")),
        ("provider", lambda _, terms: terms.update(provider="mallory")),
        ("offered", lambda _, terms: terms.update(offered="0" * 64)),
        ("cost", lambda _, terms: terms.update(cost=DEAR)),
        ("max_cost", dearer),
        ("relay", lambda _, terms: terms.update(relay="http://elsewhere.example")),
        ("namespace", lambda _, terms: terms.update(namespace="other")),
        ("evidence", lambda _, terms: terms.update(evidence="any")),
        ("min_reliability", lambda _, terms: terms.update(min_reliability=None)),
        ("output_schema", lambda _, terms: terms.update(output_schema=None)),
        ("deadline_ms", lambda _, terms: terms["limits"].update(deadline_ms=60_001)),
        ("retry", lambda _, terms: terms["limits"].update(retry="attempts")),
        ("deadline_ms", lambda _, terms: terms["limits"].update(deadline_ms=1)),
        ("max_attempts", lambda _, terms: terms["limits"].update(max_attempts=1)),
        ("attempt_ms", lambda _, terms: terms["limits"].update(attempt_ms=10)),
        ("valid_until", lambda _, terms: terms.update(valid_until=terms["valid_until"] - 3_000_000)),
        ("valid_until", lambda _, terms: terms.update(valid_until=terms["valid_until"] + 3_000_000)),
    ],
)
async def test_terms_other_than_were_asked_for_or_shown_are_refused(trade: Trade, named: str, tamper: Any) -> None:
    trade.liar.lie = on_offer(tamper)
    said = await trade.refusal(
        timeout="1m",
        attempt="40s",
        attempts=2,
        retry="until_ack",
        valid="1h",
        evidence="signed",
        min_reliability=0.5,
        max_cost=PRICE,
        output_schema={},
    )
    assert said.startswith("offer_differs")
    assert named in said.rsplit("(", 1)[1]


@pytest.mark.parametrize(
    ("named", "tamper"),
    [
        ("retry", lambda _, terms: terms["limits"].update(retry="until_ack")),
        ("attempt_ms", lambda _, terms: terms["limits"].update(attempt_ms=10)),
        ("valid_until", lambda _, terms: terms.update(valid_until=terms["valid_until"] + 86_400_000)),
    ],
)
async def test_terms_that_do_not_follow_from_the_capability_are_refused(trade: Trade, named: str, tamper: Any) -> None:
    trade.liar.lie = on_offer(tamper)
    said = await trade.refusal()
    assert said.startswith("offer_differs")
    assert named in said.rsplit("(", 1)[1]


async def test_a_contract_whose_name_is_not_the_hash_of_its_terms_is_refused(trade: Trade) -> None:
    def shorter(body: dict[str, Any]) -> None:
        for offer in body.get("offers", []):
            offer["terms"]["limits"]["deadline_ms"] = 1

    trade.liar.lie = shorter
    assert "contract_id" in await trade.refusal()

    def fewer(body: dict[str, Any]) -> None:
        if "terms" in body:
            body["terms"]["limits"]["max_attempts"] = 1

    trade.liar.lie = fewer
    with pytest.raises(HandoffError, match="its terms are others"):
        await trade.accepting()


async def test_a_price_that_the_provider_never_asked_for_is_refused(trade: Trade) -> None:
    trade.liar.lie = on_offer(dearer)
    assert (await trade.refusal()).startswith("price_differs")


async def test_a_capability_that_the_provider_never_offered_is_refused(trade: Trade) -> None:
    def quicker(offer: dict[str, Any], terms: dict[str, Any]) -> None:
        offer["capability"]["timeout_seconds"] = 1
        terms["offered"] = capability_digest(offer["capability"])
        terms["limits"]["attempt_ms"] = 1_000

    trade.liar.lie = on_offer(quicker)
    assert "does not offer" in await trade.refusal()


async def test_a_manifest_that_is_forged_through_and_through_lacks_the_signature(trade: Trade) -> None:
    provider = trade.provider
    view = await provider.call("agent", params={"name": provider.agent})
    kept = await provider.call("manifest", params={"digest": view["manifest"]["digest"]})
    document = json.loads(kept["registration"]["document"])
    forged = next(each for each in document["capabilities"] if each["name"] == trade.upper)
    forged["description"] = "forged"
    digest = manifest_digest(document)
    told = {"registration": {"document": json.dumps(document), "proof": kept["registration"]["proof"]}}

    def forge(offer: dict[str, Any], terms: dict[str, Any]) -> None:
        offer.update(capability=forged, manifest=digest)
        terms["offered"] = capability_digest(forged)

    def lie(body: dict[str, Any]) -> int | None:
        on_offer(forge)(body)
        if body.get("reason") != "unknown_manifest":
            return None
        body.update(told)
        return 200

    trade.liar.lie = lie
    assert (await trade.refusal()).startswith("bad_signature")


async def test_a_signature_that_is_taken_away_is_missed(trade: Trade) -> None:
    def unsigned(body: dict[str, Any]) -> None:
        if "registration" in body:
            body["registration"] = None

    trade.liar.lie = unsigned
    assert (await trade.refusal(evidence="signed")).startswith("unsigned")
    trade.liar.lie = lambda _body: None
    contract = await trade.accepting()
    assert await (await contract.send("honest")).result(timeout=20) == "HONEST"
    trade.liar.lie = unsigned
    with pytest.raises(HandoffError) as refused:
        await trade.accepting()
    assert refused.value.reason == "no_longer_signed"
    assert "provider" in refused.value.remedy


async def test_a_provider_that_is_pinned_to_another_key_is_refused(trade: Trade, agent: Agents) -> None:
    trade.asker = await agent("pinning", pins={trade.provider.agent: "A" * 43})
    assert (await trade.refusal()).startswith("not_pinned")


def other_attempts(_: dict[str, Any], terms: dict[str, Any]) -> None:
    terms["limits"]["max_attempts"] = 9


def other_document(offer: dict[str, Any], terms: dict[str, Any]) -> None:
    other_attempts(offer, terms)
    document = json.loads(offer["proposal"]["document"])
    document["terms"]["limits"]["max_attempts"] = 9
    offer["proposal"]["document"] = json.dumps(document)


def of_the_manifest(offer: dict[str, Any], terms: dict[str, Any]) -> None:
    terms["cost"] = None
    offer.update(cost=None, proposal=None, made_by="manifest")


@pytest.mark.parametrize(
    ("tamper", "reason"),
    [(other_attempts, "binds_another"), (other_document, "bad_signature"), (of_the_manifest, "proof_missing")],
)
async def test_an_offer_that_was_proposed_live_is_the_providers_own_word_or_refused(
    trade: Trade, tamper: Any, reason: str
) -> None:
    trade.liar.lie = on_offer(tamper)

    async def proposing() -> None:
        [call] = (await trade.provider.call("proposals", wait=20))["proposals"]
        await propose(trade.provider._base, call["id"], {"terms": {**call["terms"], "cost": PRICE}})

    said, _ = await asyncio.gather(trade.refusal(capability=trade.lower, reply_by="20s"), proposing())
    assert said.startswith(reason)
