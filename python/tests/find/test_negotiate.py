"""Agreeing on terms and handing work over under them, at a real relay."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from pydantic import BaseModel
from relay_process import RelayProcess

from handfast import AsyncClient, AsyncContext, AsyncContract, Client, Contract, HandoffError, UsageError
from handfast._acts import propose

Agents = Callable[..., Any]
Name = Callable[[str], str]

PRICE: dict[str, Any] = {"amount": 100, "per": "handoff"}


class Shout(BaseModel):
    text: str


async def offering(agent: Agents, name: Name, **terms: Any) -> tuple[AsyncClient, dict[str, Any]]:
    """An agent, and a need that only it meets."""
    worker, capability = await agent("worker"), name("upper")
    said = {"timeout": "30s", "cost": PRICE, **terms}
    worker.capability(capability, **said)(lambda text: {"text": str(text).upper()})
    await worker.serve(signals=False)
    return worker, {"capability": capability, "timeout": "1m", "attempts": 2, "valid": "1h"}


async def agreed(asker: AsyncClient, need: dict[str, Any]) -> AsyncContract:
    [offer] = (await asker.negotiate(**need)).offers
    return await offer.accept()


async def test_offers_come_on_the_terms_that_were_asked_for(agent: Agents, name: Name) -> None:
    worker, need = await offering(agent, name)
    made = await (await agent("ann")).negotiate(**need)
    [offer] = made.offers
    assert (offer.agent, offer.cost, offer.view["made_by"]) == (worker.agent, PRICE, "manifest")
    assert offer.terms is not None
    assert offer.terms["limits"]["deadline_ms"] == 60_000
    assert offer.terms["limits"]["max_attempts"] == 2
    assert made.id is not None
    assert repr(offer) == f"<AsyncOffer {offer.id} of {worker.agent}>"


async def test_nobody_is_no_error(agent: Agents, name: Name) -> None:
    worker, need = await offering(agent, name)
    made = await (await agent("ann")).negotiate(**need, max_cost={**PRICE, "amount": 99})
    assert (made.id, made.offers) == (None, [])
    assert worker.agent in [miss["agent_id"] for miss in made.near]


async def test_a_negotiation_about_nothing_asks_nobody(agent: Agents) -> None:
    with pytest.raises(UsageError, match="needs words, a capability or schemas"):
        await (await agent("ann")).negotiate(timeout="1m")


async def test_what_is_no_id_is_no_contract(agent: Agents) -> None:
    with pytest.raises(UsageError, match="'abc' is no id of a contract"):
        await (await agent("ann")).contract("abc")


async def test_an_accepted_offer_is_a_contract_that_gets_work_done(agent: Agents, name: Name) -> None:
    worker, need = await offering(agent, name, output=Shout)
    ann = await agent("ann")
    [offer] = (await ann.negotiate(**need, output_schema=Shout)).offers
    contract, again = await offer.accept(), await offer.accept()
    assert contract.id == again.id == offer.view["contract_id"]
    assert contract.view["asker_evidence"]["kind"] == "signed"
    assert contract.terms["provider"] == worker.agent
    handle = await contract.send("hello", expects=Shout)
    assert (await handle.result(timeout=20)).text == "HELLO"
    assert (await handle.status())["contract"] == contract.id
    assert (await contract.status()).view["fulfilment"]["fulfilled"] == 1
    found = await ann.contract(contract.id)
    handle = await ann.send(found.target, "again", contract=found.id)
    assert await handle.result(timeout=20) == {"text": "AGAIN"}


async def test_it_gives_less_where_less_is_asked_for_and_nothing_once_it_was_ended(agent: Agents, name: Name) -> None:
    worker, need = await offering(agent, name)
    ann = await agent("ann")
    contract = await agreed(ann, need)
    await contract.send("less", timeout="10s")
    with pytest.raises(HandoffError) as more:
        await contract.send("more", timeout="2m")
    assert more.value.reason == "beyond_contract"
    ended = await contract.end("enough")
    assert ended.view["state"] == "ended"
    assert [each.id async for each in ann.contracts(state="ended")] == [contract.id]
    assert [each.id async for each in worker.contracts(side="provider")] == [contract.id]
    assert [each async for each in ann.contracts(side="provider")] == []
    with pytest.raises(HandoffError) as late:
        await contract.send("late")
    assert (late.value.code, late.value.reason) == (428, "contract_ended")


async def test_signed_evidence_is_demanded_where_that_was_agreed_on(agent: Agents, name: Name) -> None:
    _, need = await offering(agent, name)
    contract = await agreed(await agent("ann"), {**need, "evidence": "signed"})
    handle = await contract.send("proven")
    assert await handle.result(timeout=20) == {"text": "PROVEN"}
    assert (await handle.status())["demands"] == "signed"


async def test_a_handler_hands_on_under_a_contract(agent: Agents, name: Name) -> None:
    _, need = await offering(agent, name)
    middle = await agent("middle")
    contract = await agreed(middle, need)
    passing = name("pass-on")

    async def pass_on(text: str, ctx: AsyncContext) -> Any:
        return await (await ctx.send(contract.target, text, contract=contract.id)).result()

    await middle.serve({passing: pass_on}, signals=False)
    handle = await (await agent("ann")).send(passing, "deep")
    assert await handle.result(timeout=20) == {"text": "DEEP"}


def test_a_client_that_blocks_agrees_alike(sync_agent: Callable[..., Client], name: Name) -> None:
    capability = name("upper")
    worker = sync_agent("worker")
    said: Any = {"cost": {"amount": 5, "per": "handoff"}, "output": {"type": "string"}}
    worker.capability(capability, **said)(lambda text: text.upper())
    worker.serve(signals=False)
    ann = sync_agent("ann")
    made = ann.negotiate(capability=capability, output_schema={"type": "string"})
    assert made.offers[0].cost == {"amount": 5, "per": "handoff"}
    contract = made.offers[0].accept()
    assert isinstance(contract, Contract)
    assert contract.send("hello").result(timeout=20) == "HELLO"
    assert ann.contract(contract.id).status().view["fulfilment"]["fulfilled"] == 1
    assert [each.id for each in ann.contracts(state="in_force")] == [contract.id]
    assert contract.end().view["state"] == "ended"
    assert repr(contract).startswith("<Contract ")
    assert ann.negotiate(capability=capability, max_cost={"amount": 1, "per": "handoff"}).offers == []


async def test_one_that_has_only_a_token_agrees_and_is_agreed_with(
    agent: Agents, name: Name, relay: RelayProcess
) -> None:
    async with httpx.AsyncClient(headers={"authorization": f"Bearer {relay.operator_token()}"}) as operator:
        tokens = [
            (await operator.post(f"{relay.url}/v1/tokens", json={"agent": name("plain")})).json()["token"]
            for _ in range(2)
        ]
    asker, provider = [await agent(agent=None, token=token) for token in tokens]
    capability = name("echo")
    await provider.serve({capability: lambda value: value}, signals=False)
    contract = await agreed(asker, {"capability": capability})
    assert contract.view["asker_evidence"]["kind"] == "attested"
    assert await (await contract.send({"a": 1})).result(timeout=20) == {"a": 1}


async def test_those_that_want_to_be_asked_are_waited_for_and_their_word_is_their_own(
    agent: Agents, name: Name
) -> None:
    worker, need = await offering(agent, name, proposes=True)
    ann = await agent("ann")

    async def proposing() -> None:
        [call] = (await worker.call("proposals", wait=20))["proposals"]
        await propose(worker._base, call["id"], {"terms": {**call["terms"], "cost": {**PRICE, "amount": 70}}})

    made, _ = await asyncio.gather(ann.negotiate(**need, reply_by="20s"), proposing())
    [offer] = made.offers
    assert (offer.view["made_by"], offer.cost) == ("proposal", {**PRICE, "amount": 70})
    assert (await offer.accept()).view["provider_evidence"]["kind"] == "proposal"
    silent = await ann.negotiate(**need, reply_by="100ms")
    assert (silent.offers, [each["reason"] for each in silent.declined]) == ([], ["no_answer"])


async def test_a_misspelt_term_is_refused_before_anything_is_asked(agent: Agents) -> None:
    with pytest.raises(UsageError, match="has no 'deadline'"):
        await (await agent("ann")).negotiate(capability="x", deadline="1m")


@pytest.mark.parametrize(
    ("terms", "message", "remedy"),
    [
        ({"agents": "lexicon"}, "agents is 'lexicon', which is no list.", "Give a list, such as ['lexicon']."),
        ({"valid": "31d"}, "valid is '31d', which is too long.", "Give 30 days at most."),
        ({"reply_by": "11m"}, "reply_by is '11m', which is too long.", "Give 10 minutes at most."),
    ],
)
async def test_what_no_contract_can_have_is_refused_before_anything_is_asked(
    agent: Agents, terms: dict[str, Any], message: str, remedy: str
) -> None:
    with pytest.raises(UsageError) as refused:
        await (await agent("ann")).negotiate(capability="x", **terms)
    assert str(refused.value).startswith(message)
    assert refused.value.remedy == remedy
