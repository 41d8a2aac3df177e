"""What makes an offer its provider's own word, checked before anything is signed: whoever agrees need not believe the
relay.

The terms are those that were asked for and hash to the contract's id; the provider signed them (a proposal), or signed
the manifest that they follow from. Who cannot sign is trusted as elsewhere: not where it must, or did so before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .._base import Base
from .._protocol.canonical_json import canonical, manifest_digest
from .._protocol.contract import capability_digest, contract_id, schema_digest
from .._protocol.documents import DocumentFault, read_document
from .._protocol.seal_cost import opens_cost
from .._trust import untrusted
from ..errors import HandoffError

About = Mapping[str, Any]

_VALID_MS = 24 * 3_600_000
"""How long a contract holds where nothing is said of it."""

_CLOCK_SLACK_MS = 5 * 60_000
"""So far the relay's clock may be from the asker's."""


@dataclass(frozen=True)
class Asked:
    """What was asked for, and between which moments of the asker's clock the relay answered."""

    request: Mapping[str, Any]
    asked_at: int
    answered_at: int


async def check_offer(base: Base, asked: Asked, offer: Mapping[str, Any]) -> None:
    """Raises HandoffError (401) saying what is wrong."""
    terms = offer["terms"]
    about = {"id": offer["offer_id"], "from": offer["agent_id"], "what": "offer"}
    wrong = [*_differences(base, offer, terms), *_unasked(asked, offer, terms), *base.trust.elsewhere(terms)]
    if wrong:
        raise untrusted(about, "offer_differs", f"its terms are not what they should be ({', '.join(wrong)})")
    # A relay that shows less than it should proves less.
    proposal = offer.get("proposal")
    if proposal is None:
        await _check_manifest(base, about, offer, terms)
    else:
        await _check_proposal(base, about, proposal, terms)


def _differences(base: Base, offer: Mapping[str, Any], terms: Any) -> list[str]:
    """In what the terms are not those of the offer as it is shown, to the agent that it is shown to."""
    return _differing(
        {
            "contract_id": (contract_id(terms), offer["contract_id"]),
            "asker": (terms["asker"], base.agent),
            "offer": (terms["offer"], offer["offer_id"]),
            "provider": (terms["provider"], offer["agent_id"]),
            "capability": (terms["capability"], offer["capability"]["name"]),
            "offered": (terms["offered"], capability_digest(offer["capability"])),
            "cost": (terms["cost"], offer["cost"]),
        }
    )


def _unasked(told: Asked, offer: Mapping[str, Any], terms: Any) -> list[str]:
    """In what they are not those that were asked for.

    A provider's proposal may narrow limits and validity, and name a price.
    """
    asked = told.request
    wrong = _differing(
        {
            "capability": (terms["capability"], asked.get("capability", terms["capability"])),
            "input_schema": (terms["input_schema"], _schema_digest(asked.get("input_schema"))),
            "output_schema": (terms["output_schema"], _schema_digest(asked.get("output_schema"))),
            "min_reliability": (terms["min_reliability"], asked.get("min_reliability")),
            "evidence": (terms["evidence"], asked.get("evidence", "any")),
            "data_policy": (terms["data_policy"], asked.get("data_policy")),
        }
    )
    limits, is_proposed = asked.get("limits", {}), offer.get("proposal") is not None
    wrong += _beyond(limits, terms["limits"]) if is_proposed else _other_limits(limits, offer["capability"], terms)
    if not _is_valid_as_asked(told, terms["valid_until"], is_proposed):
        wrong.append("valid_until")
    most, cost = asked.get("max_cost"), terms["cost"]
    if most is not None and (cost is None or cost["per"] != most["per"] or cost["amount"] > most["amount"]):
        wrong.append("max_cost")
    if "agents" in asked and terms["provider"] not in asked["agents"]:
        wrong.append("agents")
    return wrong


def _beyond(limits: Mapping[str, Any], agreed: Any) -> list[str]:
    """Of a proposal: which limits are more than was asked for."""
    more = [name for name, most in limits.items() if name != "retry" and agreed[name] > most]
    # Once acknowledged never again: whoever asked for that did not ask for a second attempt.
    is_repeated = limits.get("retry") == "until_ack" and agreed["retry"] != "until_ack"
    return [*more, "retry"] if is_repeated else more


_FLOORED = {"queue_ms", "ack_ms", "lease_ms"}


def _other_limits(limits: Mapping[str, Any], capability: Mapping[str, Any], terms: Any) -> list[str]:
    """Without a proposal nobody narrowed them: they are as asked, and as the capability says. The rest is the relay's
    default."""
    agreed, should = terms["limits"], dict(limits)
    own = [capability["timeout_seconds"] * 1_000] if "timeout_seconds" in capability else []
    asked = [limits["attempt_ms"]] if "attempt_ms" in limits else []
    if "queue_ms" in limits:
        should["queue_ms"] = min(limits["queue_ms"], agreed["deadline_ms"])
    if own or asked:
        should["attempt_ms"] = min(*own, *asked, agreed["deadline_ms"])
    is_once = capability.get("idempotent") is False
    should["retry"] = "until_ack" if is_once else limits.get("retry", "attempts")
    # The relay raises some to its defaults where less is asked for: an attempt is to be possible at all.
    raised = {name for name in _FLOORED & should.keys() if agreed[name] > should[name]}
    return [name for name, value in should.items() if agreed[name] != value and name not in raised]


def _is_valid_as_asked(told: Asked, valid_until: int, is_proposed: bool) -> bool:
    """A proposal may make it shorter; nobody longer."""
    valid_ms = told.request.get("valid_ms", _VALID_MS)
    if valid_until > told.answered_at + valid_ms + _CLOCK_SLACK_MS:
        return False
    return is_proposed or valid_until >= told.asked_at + valid_ms - _CLOCK_SLACK_MS


def _schema_digest(schema: Any) -> str | None:
    return None if schema is None else schema_digest(schema)


def _differing(pairs: Mapping[str, tuple[Any, Any]]) -> list[str]:
    return [name for name, (one, other) in pairs.items() if canonical(one) != canonical(other)]


async def _check_proposal(base: Base, about: About, proposal: Mapping[str, Any], terms: Any) -> None:
    """The provider's own document over these very terms."""
    data = proposal["document"].encode("utf-8", "replace")
    # Whose terms they are and where they hold is in them, and the reader holds the document to that.
    document = _read(about, "proposal", "proposal", data)
    if "terms" not in document or contract_id(document["terms"]) != contract_id(terms):
        raise untrusted(about, "binds_another", "what its provider proposed are other terms")
    if proposal["proof"] is None:
        _check_unsigned(base, about, terms, "its proposal")
        return
    await base.trust.check_signature(about, "proposal", terms["provider"], data, proposal["proof"])


async def _check_manifest(base: Base, about: About, offer: Mapping[str, Any], terms: Any) -> None:
    """What stands of it in the manifest that the provider signed: the capability as it was offered, its sealed
    price."""
    registration = (await _manifest(base, about, offer["manifest"]))["registration"]
    if registration is None:
        # Of one that cannot sign, all of it is the relay's word.
        _check_unsigned(base, about, terms, "its manifest")
        return
    data = registration["document"].encode("utf-8", "replace")
    told = _read(about, "registration", "manifest", data)
    elsewhere = base.trust.elsewhere(told)
    if elsewhere:
        raise untrusted(about, "binds_another", f"its manifest is signed for another {', '.join(elsewhere)}")
    if told["agent_id"] != terms["provider"] or manifest_digest(told) != offer["manifest"]:
        what = "the manifest that the relay shows is not the one that it follows from"
        raise untrusted(about, "binds_another", what)
    capability = next((each for each in told["capabilities"] if each["name"] == terms["capability"]), None)
    if capability is None or capability_digest(capability) != terms["offered"]:
        what = f"its provider's manifest does not offer {terms['capability']} like this"
        raise untrusted(about, "binds_another", what)
    # It never let anybody promise in its name.
    if capability.get("proposes"):
        raise untrusted(about, "proof_missing", "its provider wants to be asked, and its proposal is not shown")
    if not _is_priced(capability.get("cost"), offer.get("cost_salt"), terms["cost"]):
        raise untrusted(about, "price_differs", "its price is not the one that its provider's manifest seals")
    await base.trust.check_signature(about, "registration", terms["provider"], data, registration["proof"])


async def _manifest(base: Base, about: About, digest: str) -> Any:
    try:
        return await base.link.call("manifest", params={"digest": digest})
    except HandoffError as error:
        if error.code != 404:
            raise
        what = f"the relay does not show the manifest {digest} that it follows from"
        raise untrusted(about, "proof_missing", what) from error


def _read(about: About, typ: str, what: str, data: bytes) -> dict[str, Any]:
    try:
        return read_document(typ, data)
    except DocumentFault as fault:
        raise untrusted(about, "document_malformed", f"its {what} is malformed: {fault}") from None


def _is_priced(seal: dict[str, str] | None, salt: str | None, cost: dict[str, Any] | None) -> bool:
    if seal is None or cost is None:
        return seal is None and cost is None
    return salt is not None and opens_cost(salt, cost, seal)


def _check_unsigned(base: Base, about: About, terms: Any, what: str) -> None:
    if terms["evidence"] == "signed":
        said = f"{what} is not signed by {terms['provider']}, and signed evidence was asked for"
        raise untrusted(about, "unsigned", said)
    base.trust.check_unsigned(about, terms["provider"], what)
