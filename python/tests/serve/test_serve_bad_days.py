"""A worker's bad days: handlers that misbehave, leases and answers that are lost, relays that come and go."""

from __future__ import annotations

import asyncio
import enum
import json
import threading
from typing import Any

import pytest
from faulty_network import CutNetwork, FaultyNetwork, hanging, losing_answers, refusing
from relay_process import RelayProcess
from serve_stage import Stage, outcome_of, until

from handfast import AsyncContext, Context, Fail, HandoffError, Reject


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_cancel_reaches_the_handler_and_what_it_returns_is_kept_as_late(stage: Stage, is_async: bool) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")
    reasons: list[Any] = []

    async def slow(_input: Any, ctx: AsyncContext) -> str:
        try:
            await ctx.canceled.wait()
        except asyncio.CancelledError:
            pass
        assert ctx.canceled.is_set()
        reasons.append(ctx.signal.reason)
        return "too late"

    def slow_plainly(_input: Any, ctx: Context) -> str:
        assert ctx.canceled.wait(30)
        with pytest.raises(HandoffError):
            ctx.check()
        reasons.append(ctx.signal.reason)
        return "too late"

    name = f"slow-{worker.agent}"
    await worker.serve({name: slow if is_async else slow_plainly}, signals=False)
    handle = await sender.send(name, None, lease=2)
    await handle.acknowledged()
    await handle.cancel("changed my mind")

    async def late() -> Any:
        return (await handle.status())["late"]

    [kept] = await until(late)
    assert kept["outcome"]["output"] == "too late"
    assert (await handle.status())["state"] == "canceled"
    assert [(reason.code, reason.reason) for reason in reasons] == [(410, "canceled")]
    assert stage.warnings("worker") == []


async def test_a_canceled_async_handler_that_lets_it_pass_just_ends(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")
    name = f"slow-{worker.agent}"
    server = await worker.serve({name: asyncio.Event().wait}, signals=False)
    handle = await sender.send(name, None, lease=2)
    await handle.acknowledged()
    await handle.cancel()
    await until(lambda: server.active == 0)
    assert (await handle.status())["late"] == []
    assert stage.warnings("worker") == []


async def test_a_handler_past_its_attempt_clock_is_named_and_keeps_its_slot_until_it_ends(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")
    free = threading.Event()

    def hang(_input: Any, ctx: Context) -> str:
        if ctx.attempt > 1:
            return "second attempt"
        free.wait(30)
        return "never wanted"

    name = f"hang-{worker.agent}"
    server = await worker.serve({name: hang}, concurrency=2, signals=False)
    handle = await sender.send(name, None, attempt=0.5, lease=2)
    assert await handle.result() == "second attempt"
    assert name in (await stage.warned("worker", "handler_ignores_signal")).message
    assert server.active == 1
    free.set()
    await until(lambda: server.active == 0)


async def test_what_is_not_trusted_is_rejected_and_never_runs(stage: Stage) -> None:
    ran: list[Any] = []
    careful = await stage.agent("careful", require_signed=True)
    name = f"obey-{careful.agent}"
    await careful.serve({name: ran.append}, signals=False)
    stranger = await stage.agent("stranger")
    reply = await stranger.call("create_token", body={"agent": f"bearer-{stranger.agent}", "capabilities": []})
    bearer = await stage.agent("bearer", agent=None, key=None, token=reply["token"])
    with pytest.raises(HandoffError) as rejected:
        await (await bearer.send(name, None)).result()
    assert (rejected.value.code, rejected.value.reason) == (501, "unsigned")
    assert ran == []
    assert "takes only what is" in (await stage.warned("careful", "unsigned")).message


async def test_a_lost_lease_is_told_by_the_next_heartbeat_and_the_result_under_the_new_fence_stands(
    stage: Stage,
) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")
    reasons: list[Any] = []

    async def once(_input: Any, ctx: AsyncContext) -> str:
        if ctx.handoff["fence"] > 1:
            return "second"
        # Given back behind the handler's back: for it this is the same as a lease that ran out.
        body = {"fence": ctx.handoff["fence"], "worker": server.worker}
        await worker.call("release", params={"id": ctx.handoff["id"]}, body=body)
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            reasons.append(ctx.signal.reason)
        return "first"

    name = f"once-{worker.agent}"
    server = await worker.serve({name: once}, signals=False)
    handle = await sender.send(name, None, lease=2)
    assert await handle.result() == "second"
    assert (await stage.warned("worker", "outcome_late")).handoff == handle.id
    assert [(reason.code, reason.reason) for reason in reasons] == [(412, "lease_lost")]
    assert outcome_of(await handle.status())["output"] == "second"


@pytest.mark.parametrize("call", ["checkpoint", "ask", "send", "notify", "scatter"])
async def test_a_lost_lease_that_a_call_is_the_first_to_hear_of_makes_no_broken_handler(
    stage: Stage, call: str
) -> None:
    worker, sender, other = await stage.agent("worker"), await stage.agent("sender"), await stage.agent("other")
    refused: list[Any] = []

    async def under_it(ctx: AsyncContext) -> None:
        if call == "checkpoint":
            await ctx.checkpoint(1)
        elif call == "ask":
            await ctx.ask("Which?")
        elif call == "scatter":
            await ctx.scatter([{"capability": other.agent, "input": None}]).handles()
        else:
            await (ctx.send if call == "send" else ctx.notify)(other.agent, None)

    async def once(_input: Any, ctx: AsyncContext) -> str:
        if ctx.handoff["fence"] > 1:
            return "second"
        body = {"fence": ctx.handoff["fence"], "worker": server.worker}
        await worker.call("release", params={"id": ctx.handoff["id"]}, body=body)
        try:
            await under_it(ctx)
        except (HandoffError, asyncio.CancelledError):
            reason = ctx.signal.reason
            assert isinstance(reason, HandoffError)
            refused.append((reason.code, reason.reason))
            raise
        return "first"

    await other.serve({other.agent: lambda _input: None}, signals=False)
    name = f"once-{worker.agent}"
    server = await worker.serve({name: once}, signals=False)
    handle = await sender.send(name, None, lease=3600)
    assert await handle.result() == "second"
    assert refused == [(412, "lease_lost")]
    assert stage.warnings("worker") == []


async def test_a_claim_whose_answer_was_lost_is_repeated_and_loses_no_lease(stage: Stage) -> None:
    lost: list[str] = []
    worker = await stage.agent("worker", surroundings=FaultyNetwork(losing_answers("/claims", 2, lost)))
    sender = await stage.agent("sender")
    name = f"echo-{worker.agent}"
    await worker.serve({name: lambda n: n}, concurrency=2, signals=False)
    scatter = sender.scatter([{"capability": name, "input": n} for n in range(6)])
    assert await scatter.all() == list(range(6))
    assert len(lost) == 2
    for handle in await scatter.handles():
        view = await handle.status()
        assert (view["attempts"], view["fence"], view["deliveries"]) == (1, 1, 0)


@pytest.mark.parametrize("path", ["/ack", "/complete"])
async def test_an_ack_or_outcome_whose_answer_was_lost_is_said_again_and_counts_once(stage: Stage, path: str) -> None:
    lost: list[str] = []
    worker = await stage.agent("worker", surroundings=FaultyNetwork(losing_answers(path, 2, lost)))
    sender = await stage.agent("sender")
    runs = 0

    def count() -> int:
        nonlocal runs
        runs += 1
        return runs

    name = f"count-{worker.agent}"
    await worker.serve({name: count}, signals=False)
    handle = await sender.send(name, None)
    assert await handle.result() == 1
    await until(lambda: len(lost) == 2)
    # The very same document, so that the relay knows it for a repeat.
    assert lost[0] == lost[1]
    assert (runs, (await handle.status())["attempts"]) == (1, 1)
    # Once with "relay_away": the connection did break.
    assert [reason for reason in stage.warnings("worker") if reason != "relay_away"] == []


async def test_what_the_relay_refuses_of_a_failure_is_said_again_in_its_plainest_form(stage: Stage) -> None:
    sender = await stage.agent("sender")
    cases: list[tuple[str, int, Exception, str]] = [
        ("/fail", 400, Fail("final", detail={"a": 1}), "failed"),
        ("/reject", 413, Reject("not mine"), "rejected"),
    ]
    for path, code, error, state in cases:
        network = FaultyNetwork(refusing(path, code, "document_malformed"))
        worker = await stage.agent(f"worker{path[1:]}", surroundings=network)

        def fail(_input: Any, ctx: Context, error: Exception = error) -> None:
            ctx.use(cost=1)
            raise error

        name = f"work-{worker.agent}"
        await worker.serve({name: fail}, signals=False)
        view = await (await sender.send(name, None)).outcome()
        assert view["state"] == state
        assert outcome_of(view)["error"] == {"reason": state, "message": str(error)}
        assert "does not fit" in (await stage.warned(f"worker{path[1:]}", "failure_shortened")).message


async def test_what_the_relay_refuses_of_an_output_is_a_failure_that_says_why(stage: Stage) -> None:
    network = FaultyNetwork(refusing("/complete", 400, "payload_differs"))
    worker, sender = await stage.agent("worker", surroundings=network), await stage.agent("sender")
    name = f"work-{worker.agent}"
    await worker.serve({name: lambda: "fine"}, signals=False)
    view = await (await sender.send(name, None)).outcome()
    assert outcome_of(view)["error"]["reason"] == "output_refused"
    assert (view["attempts"], view["retryable"]) == (1, False)


class Impatient(FaultyNetwork):
    """Pauses of seconds are over in a moment."""

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / 100)


async def test_an_output_that_a_full_relay_has_no_room_for_is_told_again_and_the_work_is_not_done_again(
    stage: Stage,
) -> None:
    network = Impatient(refusing("/complete", 507, "out_of_space", times=3))
    worker, sender = await stage.agent("worker", surroundings=network), await stage.agent("sender")
    name = f"work-{worker.agent}"
    await worker.serve({name: lambda: "fine"}, signals=False)
    handle = await sender.send(name, None, timeout=60)
    assert await handle.result() == "fine"
    assert (await handle.status())["attempts"] == 1
    assert "no room" in (await stage.warned("worker", "out_of_space")).message


async def test_a_checkpoint_that_is_never_answered_ends_with_the_lease(stage: Stage) -> None:
    network = FaultyNetwork(hanging("/checkpoint"))
    worker, sender = await stage.agent("worker", surroundings=network), await stage.agent("sender")
    over: list[Any] = []

    def slow(_input: Any, ctx: Context) -> None:
        try:
            ctx.checkpoint(1)
        except HandoffError as error:
            over.append((error.code, error.reason))

    name = f"slow-{worker.agent}"
    server = await worker.serve({name: slow}, signals=False)
    handle = await sender.send(name, None, lease=2)
    await handle.acknowledged()
    await handle.cancel()
    await until(lambda: server.active == 0)
    assert over == [(410, "canceled")]


async def test_a_blocking_context_on_the_event_loop_says_so_instead_of_hanging(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")

    async def inner(ctx: Context) -> None:
        ctx.checkpoint(1)

    name = f"odd-{worker.agent}"
    await worker.serve({name: lambda _input, ctx: inner(ctx)}, signals=False)
    with pytest.raises(HandoffError, match="would wait for itself"):
        await (await sender.send(name, None)).result()


async def test_a_relay_killed_in_mid_work_finds_the_work_ended_under_the_same_fence(
    own_relay: RelayProcess, own_stage: Stage
) -> None:
    worker, sender = await own_stage.agent("worker"), await own_stage.agent("sender")
    working, go = asyncio.Event(), asyncio.Event()
    written = threading.Event()
    fences: list[int] = []

    async def long(_input: Any, ctx: AsyncContext) -> str:
        fences.append(ctx.handoff["fence"])
        working.set()
        await go.wait()
        return "done"

    def talk(_input: Any, ctx: Context) -> None:
        ctx.write("once ")
        written.wait(30)
        ctx.write("upon a time")

    await worker.serve({"long": long, "talk": talk}, signals=False)
    handle = await sender.send("long", None)
    talking = await sender.send("talk", None)
    await working.wait()

    async def first_text() -> bool:
        reply = await sender.call("read_chunks", params={"id": talking.id}, query={"offset": 0})
        return bool(reply["text"] == "once ")

    await until(first_text)
    await asyncio.to_thread(own_relay.kill)
    # It is done while the relay is away, and told once it is back.
    go.set()
    written.set()
    await own_stage.warned("worker", "relay_away")
    await asyncio.to_thread(own_relay.start)
    assert await handle.result(timeout=30) == "done"
    assert await talking.chunks().text() == "once upon a time"
    view = await handle.status()
    assert (view["state"], view["attempts"], [view["fence"]]) == ("completed", 1, fences)


async def test_an_outcome_that_comes_when_its_lease_is_long_lost_is_kept_and_changes_nothing(stage: Stage) -> None:
    """Finished while the relay could not be reached by this worker alone, and another did it meanwhile."""
    network = CutNetwork()
    worker = await stage.agent("worker", surroundings=network)
    heir, sender = await stage.agent("heir"), await stage.agent("sender")
    go = asyncio.Event()

    async def work() -> str:
        await go.wait()
        return "from afar"

    name = f"work-{worker.agent}"
    server = await worker.serve({name: work}, signals=False)
    handle = await sender.send(name, None, lease=2)
    await handle.acknowledged()
    network.is_cut = True
    await heir.serve({name: lambda: "by the heir"}, signals=False)
    assert await handle.result() == "by the heir"
    go.set()
    network.is_cut = False
    await until(lambda: server.active == 0)
    assert (await stage.warned("worker", "outcome_late")).handoff == handle.id
    view = await handle.status()
    assert outcome_of(view)["output"] == "by the heir"
    assert [late["outcome"]["output"] for late in view["late"]] == ["from afar"]


async def test_a_relay_that_comes_back_empty_knows_the_worker_again(own_relay: RelayProcess, own_stage: Stage) -> None:
    worker, sender = await own_stage.agent("worker"), await own_stage.agent("sender")
    orphaned: list[Any] = []

    async def orphan(_input: Any, ctx: AsyncContext) -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            orphaned.append(ctx.signal.reason)
            raise

    server = await worker.serve({"echo": lambda value: value, "orphan": orphan}, signals=False)
    lost = await sender.send("orphan", None, lease=2)
    await lost.acknowledged()
    await asyncio.to_thread(own_relay.kill)
    for file in own_relay.data.iterdir():
        if file.is_file():
            file.unlink()
    await asyncio.to_thread(own_relay.start)
    handle = await sender.send("echo", 2, queue_if_absent=True)
    assert await handle.result(timeout=30) == 2
    await until(lambda: server.active == 0)
    assert [reason.code for reason in orphaned] == [404]


def test_a_detail_says_what_texts_and_members_of_enums_are_and_not_how_they_show_themselves() -> None:
    from handfast._serve.strict_detail import strict_detail

    team = enum.Enum("team", {"BLUE": "blue"}, type=str)
    shy = type("Shy", (str,), {"__str__": lambda self: "***"})
    assert strict_detail({team.BLUE: team.BLUE, shy("key"): shy("value"), 7: 8}) == {
        "blue": "blue",
        "key": "value",
        "7": 8,
    }


def test_a_detail_that_contains_itself_twice_is_left_out_in_time() -> None:
    from handfast._serve.strict_detail import strict_detail

    loop: list[Any] = []
    loop += [loop, loop]
    assert strict_detail(loop) is None
    deep: Any = "core"
    for _ in range(100):
        deep = [deep]
    assert "…" in json.dumps(strict_detail(deep), ensure_ascii=False)
