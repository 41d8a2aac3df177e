"""A relay that lies: the worker's network changes what a real relay answers. Nothing forged reaches a handler."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from faulty_network import Liar, Lie
from relay_process import RelayProcess
from serve_stage import Stage, outcome_of

from handfast import AsyncClient, AsyncContext, Fail, HandoffError


def on_lease(tamper: Lie) -> Lie:
    def lie(body: dict[str, Any]) -> None:
        for lease in body.get("leases", []):
            tamper(lease)

    return lie


def unproven(lease: dict[str, Any]) -> None:
    lease["signed"] = {"document": lease["signed"]["document"], "proof": None}
    lease["input"] = "forged"


async def result(sender: AsyncClient, name: str, input: Any) -> Any:
    return await (await sender.send(name, input, labels={"team": "a"})).result()


async def test_a_signature_that_is_taken_away_is_missed(stage: Stage) -> None:
    liar = Liar()
    worker, sender = await stage.agent("worker", surroundings=liar), await stage.agent("sender")
    ran: list[Any] = []
    name = f"obey-{worker.agent}"
    await worker.serve({name: ran.append}, signals=False)
    await result(sender, name, "honest")

    def attested(lease: dict[str, Any]) -> None:
        unproven(lease)
        lease["evidence"] = "attested"

    lies = {
        "proof_missing": unproven,
        "no_longer_signed": attested,
        "binds_another": lambda lease: lease.update(labels={"team": "b"}),
        "payload_differs": lambda lease: lease["signed"].update(payload='"forged"'),
    }
    for reason, tamper in lies.items():
        liar.lie = on_lease(tamper)
        with pytest.raises(HandoffError) as rejected:
            await result(sender, name, "honest")
        assert (rejected.value.code, rejected.value.reason) == (501, reason)
        await stage.warned("worker", reason)
    assert ran == ["honest"]


async def test_a_redrive_without_edits_is_still_the_senders_own_work_and_one_that_was_changed_is_not(
    stage: Stage, relay: RelayProcess
) -> None:
    liar = Liar()
    worker, sender = await stage.agent("worker", surroundings=liar), await stage.agent("sender")
    ran: list[Any] = []
    name = f"work-{worker.agent}"

    def work(value: Any) -> None:
        ran.append(value)
        raise Fail("not today")

    await worker.serve({name: work}, signals=False)

    async def redriven(edits: dict[str, Any]) -> str:
        handle = await sender.send(name, {"n": 1}, labels={"team": "a"})
        await handle.outcome(take=False)
        headers = {"authorization": f"Bearer {relay.operator_token()}"}
        async with httpx.AsyncClient(headers=headers) as operator:
            reply = await operator.post(f"{relay.url}/v1/dead-letters/{handle.id}/redrive", json=edits)
        again = await sender.handle(reply.json()["redriven_as"]).outcome()
        return str(outcome_of(again)["error"]["reason"])

    assert await redriven({}) == "failed"
    assert ran == [{"n": 1}, {"n": 1}]

    def other_team(lease: dict[str, Any]) -> None:
        if lease["evidence"] == "attested":
            lease["labels"] = {"team": "b"}

    liar.lie = on_lease(other_team)
    assert await redriven({}) == "binds_another"
    liar.lie = lambda _body: None
    assert await redriven({"input": {"n": 2}}) == "no_longer_signed"


async def test_an_answer_is_what_its_author_signed_and_refused_without_its_signature(stage: Stage) -> None:
    liar = Liar()
    worker, sender = await stage.agent("worker", surroundings=liar), await stage.agent("sender")
    name = f"book-{worker.agent}"

    async def book(_input: Any, ctx: AsyncContext) -> Any:
        return await ctx.ask("Where to?")

    await worker.serve({name: book}, signals=False)

    async def asked() -> Any:
        handle = await sender.send(name, None, attempts=1)
        questions = sender.questions()
        await sender.answer(await anext(questions), "home")
        await questions.aclose()
        return await handle.result()

    def forge(body: dict[str, Any]) -> None:
        if body.get("resolution") == "answered":
            body["answer"] = "elsewhere"

    liar.lie = forge
    assert await asked() == "home"

    def unsign(body: dict[str, Any]) -> None:
        forge(body)
        for receipt in body.get("receipts", []):
            if receipt["kind"] == "answer":
                receipt["signed"]["proof"] = None

    liar.lie = unsign
    with pytest.raises(HandoffError) as refused:
        await asked()
    assert refused.value.reason == "no_longer_signed"
