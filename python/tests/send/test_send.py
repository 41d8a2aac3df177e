"""Giving one handoff away: what it carries, what its handle tells, and how it ends."""

from __future__ import annotations

import asyncio
import datetime
import enum
import hashlib
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from handfast import AsyncContext, Fail, HandfastError, HandoffError, Reject, UsageError, WaitOver

Agent = Callable[..., Any]
Name = Callable[[str], str]


class Report(BaseModel):
    summary: str


async def serving(agent: Agent, **handlers: Any) -> Any:
    worker = await agent("worker")
    await worker.serve(handlers, signals=False)
    return worker


async def test_a_handoff_goes_out_and_its_result_comes_back(agent: Agent, name: Name) -> None:
    upper = name("upper")
    worker = await serving(agent, **{upper: lambda text: text.upper()})
    boss = await agent("boss")
    handle = await boss.send(upper, "hello", timeout="60s", labels={"team": "blue"}, priority=3)
    assert handle.receipt["code"] == 202
    assert handle.correlation == handle.id
    view = await handle.acknowledged(timeout=20)
    assert view["labels"] == {"team": "blue"}
    assert await handle.result(timeout=20) == "HELLO"
    assert handle.view["state"] == "completed"
    outcome = await handle.outcome()
    assert outcome["outcome"]["agent"] == worker.agent
    assert outcome["limits"]["deadline_ms"] == 60_000
    # Taken in the background: closing waits for it.
    await boss._sending.settled()
    assert (await handle.status())["taken_at"] is not None
    assert repr(handle) == f"<AsyncHandle {handle.id} completed>"


async def test_text_bytes_models_and_none_arrive_as_they_are(agent: Agent, name: Name) -> None:
    echo, plain = name("echo"), name("plain")
    worker = await agent("worker")

    def shout(text: str) -> str:
        return text + "!"

    worker.capability(plain, text=True)(shout)
    await worker.serve({echo: lambda value: value}, signals=False)
    boss = await agent("boss")
    assert await (await boss.send(echo, None)).result(timeout=20) is None
    assert await (await boss.send(echo, Report(summary="é😀"))).result(timeout=20) == {"summary": "é😀"}
    assert await (await boss.send(echo, [1.0, 1e-7, -0.0, 2**53 - 1])).result(timeout=20) == [1, 1e-7, 0, 2**53 - 1]
    assert await (await boss.send(plain, "héllo", text=True)).result(timeout=20) == "héllo!"


async def test_artifacts_go_along_and_are_named_by_their_digest(agent: Agent, name: Name) -> None:
    see = name("see")
    seen: list[Any] = []

    async def look(_: None, ctx: AsyncContext) -> int:
        seen[:] = ctx.handoff["artifacts"]
        return len(seen)

    await serving(agent, **{see: look})
    boss = await agent("boss")
    data = b"\x00\xffpicture"
    handle = await boss.send(see, None, artifacts=[{"bytes": data, "media_type": "image/png", "name": "a.png"}])
    assert await handle.result(timeout=20) == 1
    sha256 = hashlib.sha256(data).hexdigest()
    assert seen == [{"sha256": sha256, "size": len(data), "media_type": "image/png", "name": "a.png"}]
    assert await boss.call("get_artifact", params={"sha256": sha256}) == data
    again = await boss.send(see, None, artifacts=seen)
    assert await again.result(timeout=20) == 1


async def test_a_failure_says_who_what_and_what_to_do(agent: Agent, name: Name) -> None:
    broken = name("broken")

    def handler(_: None) -> None:
        raise Fail("the source is gone", reason="no_source", detail={"url": "x"})

    worker = await serving(agent, **{broken: handler})
    boss = await agent("boss")
    handle = await boss.send(broken, None)
    with pytest.raises(HandoffError) as caught:
        await handle.result(timeout=20)
    error = caught.value
    assert (error.code, error.name, error.reason, error.retryable) == (500, "agent_failed", "no_source", False)
    assert error.message == f"The handoff {handle.id} failed ({worker.agent}): the source is gone"
    assert error.outcome is not None
    assert error.outcome["error"] == {"reason": "no_source", "message": "the source is gone", "detail": {"url": "x"}}
    assert (error.handoff, error.docs) == (handle.id, "npx handfast explain 500")
    assert (await handle.outcome())["state"] == "failed"
    # It was acknowledged before it failed.
    assert (await handle.acknowledged())["state"] == "failed"


async def test_a_rejection_is_told_as_one(agent: Agent, name: Name) -> None:
    picky = name("picky")

    def handler(_: None) -> None:
        raise Reject("not mine")

    await serving(agent, **{picky: handler})
    boss = await agent("boss")
    with pytest.raises(HandoffError, match="was rejected") as caught:
        await (await boss.send(picky, None)).result(timeout=20)
    assert caught.value.code == 501


async def test_a_deadline_that_passes_is_a_408_and_the_ack_never_came(agent: Agent, name: Name) -> None:
    boss = await agent("boss")
    handle = await boss.send(name("nobody"), None, queue_if_absent=True, timeout="100ms")
    with pytest.raises(HandoffError) as caught:
        await handle.acknowledged(timeout=20)
    assert (caught.value.code, caught.value.retryable) == (408, True)
    with pytest.raises(HandoffError):
        await handle.result(timeout=20)
    assert (await handle.outcome())["dead_letter"]["status"] == "open"


async def test_a_wait_has_its_own_limit_and_cancels_nothing(agent: Agent, name: Name) -> None:
    boss = await agent("boss")
    handle = await boss.send(name("nobody"), None, queue_if_absent=True)
    with pytest.raises(TimeoutError) as caught:
        await handle.result(timeout="50ms")
    assert isinstance(caught.value, WaitOver)
    assert (caught.value.reason, caught.value.retryable) == ("wait_over", True)
    assert f"The outcome of {handle.id} did not come within 0.05 s" in caught.value.message
    with pytest.raises(HandfastError, match="The ack of"):
        await handle.acknowledged(timeout=datetime.timedelta(milliseconds=20))
    assert (await handle.status())["state"] == "queued"
    canceled = await handle.cancel("no longer needed")
    assert canceled["state"] == "canceled"
    with pytest.raises(HandoffError, match="was canceled") as ended:
        await handle.result(timeout=20)
    assert ended.value.code == 410


@pytest.mark.parametrize(
    ("target", "value", "options", "said"),
    [
        ("upper", float("nan"), {}, "it has nan"),
        ("upper", {"a": "\ud83d"}, {}, "half a surrogate pair"),
        ("upper", [2**60], {}, "beyond 2^53 - 1"),
        ("upper", {1: 2}, {}, "the key 1"),
        ("upper", b"x", {}, "bytes"),
        ("upper", "x" * 1_000_001, {}, "1000003 bytes; at most 1000000 go inline"),
        ("upper", 1, {"text": True}, "text=True sends a str"),
        ("no name", 1, {}, "'no name' is no name (capability)"),
        ({}, 1, {}, "has no target"),
        ({"to": "a b"}, 1, {}, "is no name (to)"),
        ({"too": "a"}, 1, {}, "A target has no 'too'"),
        (7, 1, {}, "The target is 7"),
        ("upper", 1, {"timout": 5}, "There is no option 'timout'"),
        ("upper", 1, {"timeout": "soon"}, "The option timeout is 'soon'"),
        ("upper", 1, {"timeout": 0}, "The option timeout is 0"),
        ("upper", 1, {"timeout": 31 * 86_400}, "The option timeout is 2678400"),
        ("upper", 1, {"timeout": float("inf")}, "The option timeout is inf"),
        ("upper", 1, {"lease": 1}, "The option lease is 1"),
        ("upper", 1, {"priority": 10}, "The option priority is 10"),
        ("upper", 1, {"attempts": True}, "The option attempts is True"),
        ("upper", 1, {"labels": {"a:b": "c"}}, "The label 'a:b' does not fit"),
        ("upper", 1, {"labels": {"a": 1}}, "The label 'a' does not fit"),
        ("upper", 1, {"labels": "x"}, "The option labels is 'x'"),
        ("upper", 1, {"idempotency_key": ""}, "The option idempotency_key is ''"),
        ("upper", 1, {"correlation": "a\nb"}, "The option correlation is"),
        ("upper", 1, {"artifacts": [{"sha256": "x"}]}, "is no artifact"),
        ("upper", 1, {"artifacts": [{"bytes": "x"}]}, "are no bytes"),
        ("upper", 1, {"artifacts": 5}, "The option artifacts is 5"),
        ("upper", 1, {"expects": 7}, "The option expects is 7"),
        ("upper", 1, {"expects": "int("}, "The option expects is 'int(', which has no JSON Schema: SyntaxError"),
        ("upper", 1, {"ext": {"urn:x": float("inf")}}, "it has inf"),
    ],
)
async def test_what_cannot_be_sent_is_told_before_anything_is(
    agent: Agent, target: Any, value: Any, options: Any, said: str
) -> None:
    boss = await agent("boss")
    with pytest.raises(UsageError) as caught:
        await boss.send(target, value, **options)
    assert said in caught.value.message
    assert caught.value.remedy
    assert (await boss.call("list", query={"from": boss.agent}))["handoffs"] == []


async def test_what_the_relay_refuses_comes_with_code_and_remedy(agent: Agent, name: Name) -> None:
    strict, boss = name("strict"), await agent("boss")

    async def handler(report: Report) -> str:
        return report.summary

    await serving(agent, **{strict: handler})
    with pytest.raises(HandoffError) as unfit:
        await boss.send(strict, {"summary": 7})
    assert (unfit.value.code, unfit.value.name) == (422, "input_unfit")
    assert unfit.value.problem is not None
    with pytest.raises(HandoffError) as absent:
        await boss.send(name("nobody"), None)
    assert absent.value.code == 406
    key = name("key")
    first = await boss.send(strict, {"summary": "a", "more": 1}, idempotency_key=key)
    again = await boss.send(strict, {"more": 1, "summary": "a"}, idempotency_key=key)
    assert (again.id, again.receipt["repeated"]) == (first.id, True)
    with pytest.raises(HandoffError) as conflict:
        await boss.send(strict, {"summary": "b"}, idempotency_key=key)
    assert (conflict.value.code, conflict.value.reason) == (409, "key_conflict")
    assert conflict.value.remedy
    assert conflict.value.docs == "npx handfast explain key_conflict"


async def test_output_that_was_expected_otherwise_is_refused_at_the_worker(agent: Agent, name: Name) -> None:
    free = name("free")
    await serving(agent, **{free: lambda value: value})
    boss = await agent("boss")
    fitting = await boss.send(free, {"summary": "ok"}, expects=Report)
    assert await fitting.result(timeout=20) == Report(summary="ok")
    with pytest.raises(HandoffError):
        await (await boss.send(free, {"other": 1}, expects=Report, attempts=1)).result(timeout=20)


async def test_events_tell_its_life_and_progress_between(agent: Agent, name: Name) -> None:
    slow = name("slow")
    go = asyncio.Event()

    async def handler(_: None, ctx: AsyncContext) -> str:
        ctx.progress(0.5, "half")
        await ctx.write("one ")
        await ctx.write("two 😀")
        await go.wait()
        return "done"

    await serving(agent, **{slow: handler})
    boss = await agent("boss")
    handle = await boss.send(slow, None)
    pieces: list[str] = []
    async for piece in handle.chunks():
        pieces.append(piece)
        if "".join(pieces).endswith("😀"):
            break
    types: list[str] = []
    async for event in handle.events():
        types.append(event["type"])
        if event["type"] == "progress" or handle.progress is not None:
            go.set()
        if event["type"] == "acknowledged":
            await handle.status()
            if handle.progress is not None:
                go.set()
    assert types[:3] == ["accepted", "delivered", "acknowledged"]
    assert types[-1] in ("completed", "taken")
    assert handle.progress is not None
    assert (handle.progress["fraction"], handle.progress["note"]) == (0.5, "half")
    assert await handle.chunks().text() == "one two 😀"


async def test_every_receipt_of_its_life_is_proven(agent: Agent, name: Name) -> None:
    upper = name("upper")
    worker = await serving(agent, **{upper: lambda text: text.upper()})
    boss = await agent("boss")
    handle = await boss.send(upper, "x", evidence="signed")
    assert await handle.result(timeout=20) == "X"
    proven = await handle.proofs()
    assert [(each.kind, each.by, each.evidence) for each in proven.receipts] == [
        ("handoff", boss.agent, "signed"),
        ("ack", worker.agent, "signed"),
        ("outcome", worker.agent, "signed"),
    ]
    assert [each.key for each in proven.receipts] == [boss.key, worker.key, worker.key]
    assert proven.receipts[2].payload == b'"X"'


async def test_a_notice_ends_when_it_is_acknowledged(agent: Agent, name: Name) -> None:
    bell = name("bell")
    heard = asyncio.Event()

    async def handler(_: str) -> None:
        heard.set()

    await serving(agent, **{bell: handler})
    boss = await agent("boss")
    receipt = await boss.notify(bell, "ding")
    await asyncio.wait_for(heard.wait(), 20)
    assert await boss.handle(receipt["id"]).result(timeout=20) is None


async def test_an_agent_is_named_directly(agent: Agent, name: Name) -> None:
    upper = name("upper")
    worker = await serving(agent, **{upper: lambda text: text.upper()})
    boss = await agent("boss")
    handle = await boss.send({"to": worker.agent, "capability": upper}, "x")
    assert await handle.result(timeout=20) == "X"
    assert handle.view["to"] == worker.agent


async def test_a_handle_is_found_again_by_its_id_and_an_unknown_one_is_explained(agent: Agent, name: Name) -> None:
    boss = await agent("boss")
    sent = await boss.send(name("nobody"), None, queue_if_absent=True)
    found = boss.handle(sent.id)
    assert (found.receipt, found.view, found.correlation) == (None, None, None)
    assert (await found.status())["state"] == "queued"
    assert found.correlation == sent.id
    await found.cancel()
    with pytest.raises(UsageError, match="is no id of a handoff"):
        boss.handle(sent.id.upper())
    with pytest.raises(HandoffError) as caught:
        await boss.handle("01932f6b-7a00-7c3a-9b1e-0123456789ab").result(timeout=20)
    assert (caught.value.code, caught.value.reason) == (404, "unknown_handoff")
    assert "Check the id" in caught.value.remedy


async def test_waits_for_one_thing_share_one_call(agent: Agent, name: Name) -> None:
    boss = await agent("boss")
    handle = await boss.send(name("nobody"), None, queue_if_absent=True)
    calls: list[str] = []
    real = boss._base.link.call

    async def counted(name: str, **rest: Any) -> Any:
        calls.append(name)
        return await real(name, **rest)

    boss._base.link.call = counted
    waits = [asyncio.create_task(handle.result()) for _ in range(20)]
    await asyncio.sleep(0.05)
    for wait in waits[:10]:
        wait.cancel()
    await asyncio.sleep(0.05)
    assert calls == ["get"]
    await handle.cancel()
    ended = await asyncio.gather(*waits, return_exceptions=True)
    assert [type(each).__name__ for each in ended] == ["CancelledError"] * 10 + ["HandoffError"] * 10
    assert calls.count("get") == 1


async def test_outcomes_that_nobody_took_are_listed_once_each(agent: Agent, name: Name) -> None:
    upper = name("upper")
    await serving(agent, **{upper: lambda text: text.upper()})
    boss = await agent("boss")
    sent = [await boss.send(upper, text) for text in "abc"]
    for handle in sent:
        await handle.result(timeout=20, take=False)
    found: dict[str, str] = {}
    async for handle in boss.outcomes(follow=False):
        assert handle.view["state"] == "completed"
        found[handle.id] = await handle.result(take=False)
    assert found == {handle.id: text for handle, text in zip(sent, "ABC", strict=True)}
    assert len([handle.id async for handle in boss.outcomes(follow=False, take=True)]) == 3
    await boss._sending.settled()
    assert [handle.id async for handle in boss.outcomes(follow=False)] == []
    following = asyncio.create_task(_first(boss.outcomes()))
    late = await boss.send(upper, "d")
    assert (await asyncio.wait_for(following, 20)).id == late.id


async def _first(stream: Any) -> Any:
    async for item in stream:
        await stream.aclose()
        return item


async def test_questions_are_listed_and_answered(agent: Agent, name: Name) -> None:
    unsure = name("unsure")

    async def handler(_: None, ctx: AsyncContext) -> Any:
        return await ctx.ask({"go": "on?"}, within="60s")

    await serving(agent, **{unsure: handler})
    boss = await agent("boss")
    handle = await boss.send(unsure, None)
    question = await asyncio.wait_for(_first(boss.questions()), 20)
    assert (question["handoff"], question["question"]) == (handle.id, {"go": "on?"})
    answered = await boss.answer(question, {"yes": True})
    assert answered["resolution"] == "answered"
    assert await handle.result(timeout=20) == {"yes": True}
    again = await boss.answer(question["id"], {"yes": True})
    assert again["id"] == question["id"]
    with pytest.raises(HandoffError) as caught:
        await boss.answer(question["id"], {"yes": False})
    assert caught.value.code == 409
    with pytest.raises(UsageError, match="The answer cannot be sent"):
        await boss.answer(question, float("nan"))
    assert [each async for each in boss.questions(follow=False)] == []


async def test_names_and_texts_may_be_members_of_an_enum(agent: Agent, name: Name) -> None:
    class Work(str, enum.Enum):
        ECHO = name("echo")

        def __str__(self) -> str:
            return "never this"

    worker, boss = await agent("worker"), await agent("boss")
    await worker.serve({Work.ECHO: {"handler": lambda text: text, "text": True}}, signals=False)
    handle = await boss.send(Work.ECHO, Work.ECHO, text=True, correlation=Work.ECHO, labels={"work": Work.ECHO})
    assert await handle.result() == Work.ECHO.value
    view = await handle.status()
    assert (view["capability"], view["correlation_id"]) == (Work.ECHO.value, Work.ECHO.value)
    assert view["labels"] == {"work": Work.ECHO.value}
    scatter = boss.scatter([{"capability": Work.ECHO, "input": "x", "text": True}], idempotency_key=Work.ECHO)
    assert await scatter.all(timeout=20) == ["x"]
    assert scatter.correlation == Work.ECHO.value
