"""A relay that lies: what others signed is checked here, whatever the relay shows."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from relay_process import RelayProcess

from handfast import AsyncClient, AsyncContext, HandoffError, connect
from handfast._identity.agent_key import key_of
from handfast._payload import seal
from handfast._protocol.signing import Message, document_digest, sign_batch
from handfast._send.proofs import proofs_of, proven_answer, proven_outcome

Agent = Callable[..., Any]
Name = Callable[[str], str]


class Claimed:
    """A real lease, from a real relay, to be tampered with."""

    def __init__(self, sender: AsyncClient, worker: AsyncClient, lease: dict[str, Any]) -> None:
        self.sender = sender
        self.worker = worker
        self.lease = lease

    async def fault(self, lease: dict[str, Any] | None = None, worker: AsyncClient | None = None) -> str:
        with pytest.raises(HandoffError) as caught:
            await (worker or self.worker)._base.trust.check_lease(self.lease if lease is None else lease)
        assert caught.value.code == 401
        assert "is not trusted" in caught.value.message
        assert caught.value.remedy
        return caught.value.reason


async def claimed(agent: Agent, name: Name, **options: Any) -> Claimed:
    capability = name("cap")
    sender, worker = await agent("sender"), await agent("worker", **options)
    await worker._base.register([{"name": capability}])
    await sender.send(capability, {"pay": 10}, labels={"to": "alice"}, timeout="60s")
    body = {"worker": "w", "slots": 1, "capabilities": [capability], "proofs": True}
    [lease] = (await worker.call("claim", body=body, wait=20))["leases"]
    return Claimed(sender, worker, lease)


async def test_what_was_signed_is_taken_from_the_signed_bytes(agent: Agent, name: Name) -> None:
    found = await claimed(agent, name)
    lease = {**found.lease, "input": {"pay": 9_999}}
    checked = await found.worker._base.trust.check_lease(lease)
    assert (checked.input, checked.text, checked.evidence) == ({"pay": 10}, None, "signed")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"labels": {"to": "mallory"}}, "binds_another"),
        ({"from": "mallory"}, "binds_another"),
        ({"id": "01932f6b-7a00-7c3a-9b1e-0123456789ab"}, "binds_another"),
        ({"digest": "0" * 64}, "binds_another"),
        ({"kind": "notice"}, "binds_another"),
        ({"deadline_ms": 60_001}, "binds_another"),
        ({"idempotency_key": "other"}, "binds_another"),
        ({"ext": {"urn:x": 1}}, "binds_another"),
        ({"artifacts": [{"sha256": "0" * 64, "size": 1, "media_type": "a/b"}]}, "binds_another"),
        ({"demands": "signed"}, "binds_another"),
        ({"signed": None}, "proof_missing"),
    ],
)
async def test_whatever_a_relay_changes_is_found(agent: Agent, name: Name, change: dict[str, Any], reason: str) -> None:
    found = await claimed(agent, name)
    assert await found.fault({**found.lease, **change}) == reason


async def test_another_payload_proof_or_document_is_found(agent: Agent, name: Name) -> None:
    found = await claimed(agent, name)

    def with_signed(**change: Any) -> dict[str, Any]:
        return {**found.lease, "signed": {**found.lease["signed"], **change}}

    proof = found.lease["signed"]["proof"]
    assert await found.fault(with_signed(payload='{"pay":99}')) == "payload_differs"
    assert await found.fault(with_signed(payload="!", payload_encoding="base64")) == "payload_differs"
    assert await found.fault(with_signed(document="{}")) == "document_malformed"
    assert await found.fault(with_signed(document="\ud800")) == "document_malformed"
    assert await found.fault(with_signed(proof={**proof, "sig": "A" * 86})) == "bad_signature"
    assert await found.fault(with_signed(proof={**proof, "path": ["A" * 43]})) == "bad_proof"
    assert await found.fault(with_signed(proof={"key": 1})) == "bad_proof"
    assert await found.fault(with_signed(proof={**proof, "key": found.worker.key})) == "unknown_key"


async def test_a_forgery_by_another_key_is_found(agent: Agent, name: Name) -> None:
    """The relay makes up a document in the sender's name and signs it with a key of its own."""
    found = await claimed(agent, name)
    forger = key_of(bytes(32))
    document = json.loads(found.lease["signed"]["document"])
    document["input"], beside = seal(found.worker._base.surroundings, '{"pay":1000000}', "application/json")
    text = json.dumps(document)
    [proof] = sign_batch(forger, [Message("handoff", text.encode())])
    lease = {
        **found.lease,
        "payload": document["input"],
        "digest": document_digest("handoff", text.encode()),
        "signed": {"document": text, "proof": proof, **beside},
    }
    assert await found.fault(lease) == "unknown_key"
    # Shown as the sender's own, it is another identity than the one that was seen before.
    trust = found.worker._base.trust
    assert (await trust.check_lease(found.lease)).evidence == "signed"
    view, until = trust._agents[found.sender.agent]
    fake = {"thumbprint": forger.thumbprint, "x": forger.x, "revoked_at": None}
    trust._agents[found.sender.agent] = ({**view, "identity": forger.thumbprint, "keys": [fake]}, until)
    assert await found.fault(lease) == "identity_changed"
    trust._agents[found.sender.agent] = ({**view, "keys": [{**fake, "x": found.worker.key}]}, until)
    assert await found.fault(lease) == "unknown_key"
    real = {**view["keys"][0], "revoked_at": 1}
    trust._agents[found.sender.agent] = ({**view, "keys": [real]}, until)
    assert await found.fault() == "revoked_key"


def stripped(lease: dict[str, Any]) -> dict[str, Any]:
    return {**{key: value for key, value in lease.items() if key != "signed"}, "evidence": "attested"}


async def test_leaving_a_signature_out_is_not_enough_to_be_believed(agent: Agent, name: Name) -> None:
    found = await claimed(agent, name)
    trust = found.worker._base.trust
    checked = await trust.check_lease(stripped(found.lease))
    assert (checked.input, checked.evidence) == ({"pay": 10}, "attested")
    assert not trust.expects_signature(found.sender.agent)
    await trust.check_lease(found.lease)
    assert trust.expects_signature(found.sender.agent)
    assert await found.fault(stripped(found.lease)) == "no_longer_signed"


async def test_signatures_may_be_required_and_keys_pinned(agent: Agent, name: Name, relay: RelayProcess) -> None:
    found = await claimed(agent, name)
    strict = await agent("strict", require_signed=True)
    assert await found.fault(stripped(found.lease), strict) == "unsigned"
    pinned = await agent("pinned", pins={found.sender.agent: found.sender.key})
    assert await found.fault(stripped(found.lease), pinned) == "unsigned"
    assert (await pinned._base.trust.check_lease(found.lease)).input == {"pay": 10}
    elsewhere = await agent("elsewhere", pins={found.sender.agent: ["A" * 43, "B" * 43]})
    assert await found.fault(None, elsewhere) == "not_pinned"


async def test_text_and_bytes_of_an_attested_lease_are_opened(agent: Agent, name: Name) -> None:
    found = await claimed(agent, name)
    trust = found.worker._base.trust
    plain = stripped(found.lease)
    plain.pop("input", None)
    assert (await trust.check_lease({**plain, "text": "hi"})).text == "hi"
    assert (await trust.check_lease({**plain, "base64": "AP8="})).input == b"\x00\xff"


async def test_an_outcome_that_a_relay_made_up_is_not_proven(agent: Agent, name: Name) -> None:
    upper = name("upper")
    worker, boss = await agent("worker"), await agent("boss")
    await worker.serve({upper: lambda text: text.upper()}, signals=False)
    handle = await boss.send(upper, "x", evidence="signed")
    await handle.result(timeout=20, take=False)
    base = boss._base
    view = await boss.call("get", params={"id": handle.id}, query={"proofs": True})
    proven = await proofs_of(base, view)
    lie = {**view, "outcome": {**view["outcome"], "output": "LIE"}}
    assert proven_outcome(proven, lie)["outcome"]["output"] == "X"

    def without(kind: str) -> dict[str, Any]:
        return {**view, "receipts": [each for each in view["receipts"] if each["kind"] != kind]}

    with pytest.raises(HandoffError, match="no receipt for it") as caught:
        proven_outcome(await proofs_of(base, without("outcome")), view)
    assert caught.value.reason == "not_proven"
    with pytest.raises(HandoffError, match=r"but .* signed completed"):
        proven_outcome(proven, {**view, "state": "failed"})
    with pytest.raises(HandoffError, match="without an outcome"):
        proven_outcome(proven, {**view, "outcome": None})

    changed = copy.deepcopy(view)
    changed["receipts"][-1]["signed"]["payload"] = '"LIE"'
    with pytest.raises(HandoffError, match="comes with another payload"):
        await proofs_of(base, changed)
    changed = copy.deepcopy(view)
    changed["receipts"][-1]["number"] = 7
    with pytest.raises(HandoffError, match="is about another fence"):
        await proofs_of(base, changed)
    changed = copy.deepcopy(view)
    changed["receipts"][-1]["signed"]["proof"] = None
    with pytest.raises(HandoffError, match="the relay attests it"):
        proven_outcome(await proofs_of(base, changed), view)
    with pytest.raises(HandoffError, match="is about another digest"):
        await proofs_of(base, {**view, "digest": "0" * 64})


async def test_an_answer_is_taken_as_it_was_written(agent: Agent, name: Name) -> None:
    unsure = name("unsure")
    worker, boss = await agent("worker"), await agent("boss")

    async def handler(_: None, ctx: AsyncContext) -> Any:
        return await ctx.ask("go on?", id="q1", within="60s")

    await worker.serve({unsure: handler}, signals=False)
    handle = await boss.send(unsure, None)
    async for question in boss.questions():
        await boss.answer(question, "yes")
        break
    assert await handle.result(timeout=20) == "yes"
    view = await worker.call("get", params={"id": handle.id}, query={"proofs": True})
    about = {"id": view["id"], "digest": view["digest"], "from": view["from"]}
    asked = f"{handle.id}:q1"
    assert await proven_answer(worker._base, about, view, asked) == "yes"
    with pytest.raises(HandoffError, match="no receipt for it"):
        await proven_answer(worker._base, about, {**view, "receipts": []}, asked)
    lie = copy.deepcopy(view)
    for each in lie["receipts"]:
        if each["kind"] == "answer":
            each["signed"]["proof"] = None
    with pytest.raises(HandoffError) as caught:
        await proven_answer(worker._base, about, lie, asked)
    assert caught.value.reason == "no_longer_signed"


async def test_with_a_token_everything_goes_plainly_and_is_attested(
    relay: RelayProcess, agent: Agent, name: Name
) -> None:
    upper, owner = name("upper"), await agent("owner")
    made = await owner.call("create_token", body={"agent": name("plain")})
    async with connect(url=relay.url, token=made["token"]) as bearer:
        await bearer.serve({upper: lambda text: text.upper()}, signals=False)
        handle = await bearer.send(upper, "x")
        assert await handle.result(timeout=20) == "X"
        proven = await handle.proofs()
        assert {each.evidence for each in proven.receipts} == {"attested"}
        with pytest.raises(HandoffError) as caught:
            await handle.result(verify=True)
        assert caught.value.reason == "not_proven"
        canceled = await bearer.send(name("nobody"), None, queue_if_absent=True)
        assert (await canceled.cancel("why not"))["state"] == "canceled"
