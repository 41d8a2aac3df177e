"""Many handoffs under one correlation: all, any, a quorum, what there is in time; and found again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from handfast import AsyncClient, Fail, HandfastError, HandoffError, ScatterError, UsageError

Agent = Callable[..., Any]
Name = Callable[[str], str]


@pytest.fixture
async def work(agent: Agent, name: Name) -> str:
    """A capability: a number doubled; a negative one fails, None never ends."""
    capability = name("double")

    async def double(number: int | None) -> int:
        if number is None:
            await asyncio.Event().wait()
        if number is None or number < 0:
            raise Fail(f"{number} is too little", reason="too_little")
        return number * 2

    worker = await agent("worker")
    await worker.serve({capability: double}, signals=False, concurrency=50, grace=0)
    return capability


def tasks(work: str, *numbers: int | None) -> list[Any]:
    return [{"capability": work, "input": number} for number in numbers]


async def test_all_outputs_stand_in_the_order_of_the_tasks_and_are_taken(agent: Agent, work: str) -> None:
    boss: AsyncClient = await agent("boss")
    scatter = boss.scatter(tasks(work, *range(30)), labels={"batch": "1"})
    assert await scatter.all(timeout=60) == [number * 2 for number in range(30)]
    handles = await scatter.handles()
    assert {handle.correlation for handle in handles} == {scatter.correlation}
    assert sorted(handle.id for handle in handles) == [handle.id for handle in handles]
    await boss._sending.settled()
    assert [each async for each in boss.outcomes(follow=False)] == []


async def test_the_first_failure_ends_all_and_cancels_the_rest(agent: Agent, work: str) -> None:
    boss: AsyncClient = await agent("boss")
    scatter = boss.scatter(tasks(work, None, -1, None))
    with pytest.raises(HandoffError) as caught:
        await scatter.all(timeout=60)
    assert caught.value.reason == "too_little"
    await boss._sending.settled()
    assert [(await handle.status())["state"] for handle in await scatter.handles()] == [
        "canceled",
        "failed",
        "canceled",
    ]


async def test_kept_nothing_is_canceled(agent: Agent, work: str) -> None:
    boss: AsyncClient = await agent("boss")
    scatter = boss.scatter(tasks(work, None, -1), keep=True)
    with pytest.raises(HandoffError):
        await scatter.all(timeout=60)
    await boss._sending.settled()
    assert (await (await scatter.handles())[0].status())["state"] in ("queued", "delivered", "working")
    await scatter.cancel("enough")


async def test_any_and_a_quorum_take_the_first_and_cancel_the_rest(agent: Agent, work: str) -> None:
    boss: AsyncClient = await agent("boss")
    first = boss.scatter(tasks(work, None, 4, -1))
    assert await first.any(timeout=60) == 8
    two = boss.scatter(tasks(work, 1, None, 2, -1))
    assert sorted(await two.quorum(2, timeout=60)) == [2, 4]
    await boss._sending.settled()
    assert (await (await two.handles())[1].status())["state"] == "canceled"
    with pytest.raises(ScatterError) as caught:
        await boss.scatter(tasks(work, -1, -2, 5)).quorum(2, timeout=60)
    assert [error.reason for error in caught.value.errors] == ["too_little", "too_little"]
    with pytest.raises(ScatterError):
        await boss.scatter(tasks(work, 1)).quorum(2, timeout=60)
    with pytest.raises(UsageError, match="A quorum of 0 is none"):
        await boss.scatter(tasks(work, 1)).quorum(0)


async def test_at_the_timeout_each_is_told_as_it_stands(agent: Agent, work: str) -> None:
    boss: AsyncClient = await agent("boss")
    scatter = boss.scatter(tasks(work, 3, None, -1))
    ended = 0
    async for each in scatter:
        ended += 1
        assert each.index in (0, 2)
        if ended == 2:
            break
    settled = await scatter.settled(timeout="200ms")
    assert [(each.status, each.output, each.error and each.error.reason) for each in settled] == [
        ("completed", 6, None),
        ("open", None, None),
        ("failed", None, "too_little"),
    ]
    with pytest.raises(HandfastError) as caught:
        await boss.scatter(tasks(work, None), keep=True).all(timeout=0.05)
    assert caught.value.reason == "wait_over"
    await scatter.cancel()


async def test_it_is_found_again_by_its_correlation(agent: Agent, work: str, name: Name) -> None:
    boss: AsyncClient = await agent("boss")
    key = name("batch")
    first = boss.scatter(tasks(work, 1, 2, 3), idempotency_key=key)
    ids = [handle.id for handle in await first.handles()]
    again = boss.scatter(tasks(work, 1, 2, 3), idempotency_key=key)
    assert [handle.id for handle in await again.handles()] == ids
    assert first.correlation == again.correlation == key
    assert await boss.gather(key).all(timeout=60) == [2, 4, 6]
    with pytest.raises(HandoffError) as caught:
        await boss.gather("nobody's").handles()
    assert caught.value.code == 404


async def test_more_than_a_batch_goes_in_batches_and_more_than_the_waits_come_back(agent: Agent, work: str) -> None:
    boss: AsyncClient = await agent("boss")
    scatter = boss.scatter([{"capability": work, "input": None, "queue_if_absent": True}] * 1001, keep=True)
    handles = await scatter.handles()
    assert len({handle.id for handle in handles}) == 1001
    assert (await handles[1000].status())["correlation_id"] == scatter.correlation
    await asyncio.gather(*(handle.cancel() for handle in handles[:5]))


async def test_waits_beyond_the_bound_hear_of_outcomes_by_one_call(agent: Agent, work: str) -> None:
    boss: AsyncClient = await agent("boss")
    boss._sending._sender.waits._most = 2
    assert await boss.scatter(tasks(work, *range(12))).all(timeout=60) == [number * 2 for number in range(12)]


async def test_a_batch_is_accepted_whole_or_not_at_all_and_says_which_task(agent: Agent, work: str, name: Name) -> None:
    boss: AsyncClient = await agent("boss")
    with pytest.raises(HandoffError) as caught:
        await boss.scatter([*tasks(work, 1), {"capability": name("nobody"), "input": 1}]).all(timeout=60)
    assert caught.value.code == 406
    assert caught.value.message.startswith("Task 1 of the scatter was refused: ")
    with pytest.raises(HandoffError, match=r"^Task 0 of the scatter was refused"):
        await boss.scatter([{"capability": name("nobody"), "input": 1}]).handles()
    assert (await boss.call("list", query={"from": boss.agent}))["handoffs"] == []
    with pytest.raises(UsageError, match="it has nan"):
        await boss.scatter([*tasks(work, 1), {"capability": work, "input": float("nan")}]).handles()
    with pytest.raises(UsageError, match="Task 0 of the scatter has no input"):
        await boss.scatter([{"capability": work}]).handles()
    with pytest.raises(UsageError, match="There is no option 'priorty'"):
        await boss.scatter([{"capability": work, "input": 1, "priorty": 3}]).handles()  # type: ignore[typeddict-unknown-key]
    with pytest.raises(UsageError, match="There is no option 'kep'"):
        boss.scatter(tasks(work, 1), kep=True)  # type: ignore[call-overload]
    with pytest.raises(UsageError, match="None is no correlation"):
        boss.gather(None)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="5 is no question"):
        await boss.answer(5, "yes")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="The tasks of the scatter are None"):
        boss.scatter(None)  # type: ignore[call-overload]
    assert await boss.scatter([]).all(timeout=10) == []
