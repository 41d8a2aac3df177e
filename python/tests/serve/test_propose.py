"""An agent that wants to be asked: it prices, narrows or declines, beside its work, at a real relay."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import httpx
import pytest
from faulty_network import Liar
from relay_process import RelayProcess
from serve_stage import Stage, until

from handfast import AsyncClient, Client, ProposalCall, Reject, UsageError
from handfast._find.negotiate import AsyncNegotiation

PRICE: Any = {"amount": 100, "per": "handoff"}


def upper(text: str) -> str:
    return text.upper()


async def serving(worker: AsyncClient, propose: Any, **terms: Any) -> str:
    """The capability's name."""
    name = f"upper-{worker.agent}"
    worker.capability(name, cost=PRICE, propose=propose, **terms)(upper)
    await worker.serve(signals=False)
    return name


async def asked(stage: Stage, propose: Any, **terms: Any) -> AsyncNegotiation:
    """What comes of a round with one such agent."""
    name = await serving(await stage.agent("worker"), propose, **terms)
    need: Any = {"capability": name, "timeout": "1m", "attempts": 2, "reply_by": "10s", "valid": "1h"}
    return await (await stage.agent("ann")).negotiate(**need)


async def test_it_prices_for_whoever_asks_in_its_own_name_and_keeps_to_it(stage: Stage) -> None:
    calls: list[ProposalCall] = []

    def propose(call: ProposalCall) -> Any:
        calls.append(call)
        assert threading.current_thread() is not threading.main_thread()
        return {"cost": {**PRICE, "amount": 70 if call["from"].startswith("ann") else 700}}

    [offer] = (await asked(stage, propose)).offers
    assert (offer.view["made_by"], offer.cost) == ("proposal", {**PRICE, "amount": 70})
    assert [call["terms"]["cost"] for call in calls] == [PRICE]
    contract = await offer.accept()
    assert contract.view["provider_evidence"]["proof"] is not None
    assert await (await contract.send("hello")).result(timeout=20) == "HELLO"


async def test_it_narrows_the_terms_or_agrees_to_them_as_they_were_asked(stage: Stage) -> None:
    async def narrower(call: ProposalCall) -> Any:
        return {"timeout": "30s", "attempts": 1, "valid": "10m", "cost": None}

    [offer] = (await asked(stage, narrower)).offers
    assert offer.terms is not None
    limits = offer.terms["limits"]
    assert (limits["deadline_ms"], limits["queue_ms"], limits["max_attempts"]) == (30_000, 30_000, 1)
    assert offer.cost is None
    [offer] = (await asked(stage, lambda call: None)).offers
    assert offer.terms is not None
    assert (offer.cost, offer.terms["limits"]["deadline_ms"]) == (PRICE, 60_000)
    [offer] = (await asked(stage, lambda call: {"cost": None}, proposes=False)).offers
    assert (offer.view["made_by"], offer.cost) == ("manifest", PRICE)


async def test_it_declines_with_its_own_reason(stage: Stage) -> None:
    async def busy(call: ProposalCall) -> None:
        raise Reject("I have enough to do.", reason="too_busy")

    made = await asked(stage, busy)
    [declined] = made.declined
    assert (made.offers, declined["reason"], declined["message"]) == ([], "too_busy", "I have enough to do.")


def failing(call: ProposalCall) -> None:
    raise OSError("secret path /home")


def ending(call: ProposalCall) -> None:
    raise SystemExit(3)


@pytest.mark.parametrize(
    "propose",
    [
        failing,
        ending,
        lambda call: next(iter(())),
        lambda call: {"timeout": "2m"},
        lambda call: {"valid": "2h"},
        lambda call: "cheap",
        lambda call: {"price": 3},
        lambda call: {"cost": {"amount": -1, "per": "handoff"}},
        lambda call: {"cost": {"amount": object(), "per": "handoff"}},
    ],
)
async def test_it_declines_and_its_people_are_told_where_its_function_fails(stage: Stage, propose: Any) -> None:
    made = await asked(stage, propose)
    [declined] = made.declined
    assert (made.offers, declined["reason"]) == ([], "propose_failed")
    assert "secret" not in declined["message"]
    await stage.warned("worker", "propose_failed")


async def test_it_works_on_while_its_functions_hang_and_they_are_given_up_in_time(stage: Stage) -> None:
    release, canceled = threading.Event(), asyncio.Event()

    def stuck(call: ProposalCall) -> None:
        release.wait(30)

    async def asleep(call: ProposalCall) -> None:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            canceled.set()
            raise

    ann = await stage.agent("ann")
    try:
        for propose in (stuck, asleep):
            worker = await stage.agent("worker")
            name = await serving(worker, propose)
            rounds = [asyncio.ensure_future(ann.negotiate(capability=name, reply_by="1s")) for _ in range(6)]
            assert await (await ann.send(name, "meanwhile")).result(timeout=20) == "MEANWHILE"
            for made in await asyncio.gather(*rounds):
                assert [declined["reason"] for declined in made.declined] == ["no_answer"]
            await stage.warned("worker", "propose_late")
        await asyncio.wait_for(canceled.wait(), 10)
    finally:
        release.set()


async def test_one_that_has_only_a_token_proposes_on_the_relays_word(stage: Stage, relay: RelayProcess) -> None:
    ann = await stage.agent("ann")
    async with httpx.AsyncClient(headers={"authorization": f"Bearer {relay.operator_token()}"}) as operator:
        made = (await operator.post(f"{relay.url}/v1/tokens", json={"agent": f"plain-{ann.agent}"})).json()
    worker = await stage.agent("plain", agent=None, key=None, token=made["token"])
    name = await serving(worker, lambda call: {"cost": {**PRICE, "amount": 3}, "attempts": 1})
    [offer] = (await ann.negotiate(capability=name, reply_by="10s")).offers
    assert offer.cost == {**PRICE, "amount": 3}
    assert offer.view["proposal"] is not None
    assert offer.view["proposal"]["proof"] is None
    assert (await offer.accept()).terms["limits"]["max_attempts"] == 1


async def test_its_workers_give_one_answer_and_one_that_stops_gives_none(stage: Stage) -> None:
    worker = await stage.agent("worker")
    name = f"upper-{worker.agent}"
    amounts = [10, 20]

    def propose(call: ProposalCall) -> Any:
        return {"cost": {**PRICE, "amount": amounts.pop()}}

    definition = {"handler": upper, "propose": propose}
    servers = [await worker.serve({name: definition}, signals=False) for _ in range(2)]
    ann = await stage.agent("ann")
    assert len((await ann.negotiate(capability=name, reply_by="10s")).offers) == 1
    await until(lambda: not amounts)
    for server in servers:
        await server.stop()
    silent = await ann.negotiate(capability=name, reply_by="200ms")
    assert [declined["reason"] for declined in silent.declined] == ["no_answer"]
    assert stage.warnings("worker") == []


@pytest.mark.parametrize(
    "change", [{"provider": "mallory"}, {"offered": "0" * 64}, {"relay": "http://elsewhere.example"}]
)
async def test_nothing_is_signed_that_is_not_its_own(stage: Stage, change: dict[str, Any]) -> None:
    liar = Liar()

    def lie(body: dict[str, Any]) -> None:
        for call in body.get("proposals", []):
            call["terms"].update(change)

    liar.lie = lie
    ran: list[Any] = []
    name = await serving(await stage.agent("worker", surroundings=liar), ran.append)
    made = await (await stage.agent("ann")).negotiate(capability=name, reply_by="1s")
    assert [declined["reason"] for declined in made.declined] == ["no_answer"]
    await stage.warned("worker", "offer_differs")
    assert ran == []


def test_a_client_that_blocks_proposes_too(relay: RelayProcess) -> None:
    with Client(url=relay.url, agent="blocking-worker") as worker, Client(url=relay.url, agent="blocking-ann") as ann:

        @worker.capability("blocking-upper", propose=lambda call: {"cost": {"amount": 9, "per": "handoff"}})
        def shout(text: str) -> str:
            return text.upper()

        with worker.serve(signals=False):
            [offer] = ann.negotiate(capability="blocking-upper", reply_by="10s").offers
            assert offer.cost == {"amount": 9, "per": "handoff"}
            assert offer.accept().send("x").result(timeout=20) == "X"


async def test_what_is_no_function_is_refused(stage: Stage) -> None:
    worker = await stage.agent("worker")
    with pytest.raises(UsageError, match="The propose of upper is 3"):
        worker.capability("upper", propose=3)(upper)  # type: ignore[arg-type]
