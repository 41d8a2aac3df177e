"""A worker at work: what handlers are given, and what becomes of what they return."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import hashlib
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import pydantic
import pytest
from serve_stage import Stage, outcome_of, until

from handfast import AsyncContext, Context, Fail, HandoffError, Reject, Retry, Task, UsageError


class Query(pydantic.BaseModel):
    words: list[str]
    limit: int = 3


class Report(pydantic.BaseModel):
    found: list[str]
    on: datetime.date


async def test_a_model_comes_in_and_a_model_goes_out(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")

    @worker.capability("search", timeout=300)
    async def search(query: Query, ctx: AsyncContext) -> Report:
        """Looks for words."""
        assert isinstance(query, Query)
        return Report(found=query.words[: query.limit], on=datetime.date(2026, 1, 2))

    await worker.serve(signals=False)
    output = await (await sender.send("search", {"words": list("abcd")})).result()
    assert output == {"found": ["a", "b", "c"], "on": "2026-01-02"}
    agent = await sender.call("agent", params={"name": worker.agent})
    [capability] = agent["capabilities"]
    assert capability["description"] == "Looks for words."
    assert capability["timeout_seconds"] == 300
    with pytest.raises(HandoffError) as refused:
        await sender.send("search", {"words": "abcd"})
    assert refused.value.code == 422
    # The function itself is as it was.
    assert (await search(Query(words=["x"]), None)).found == ["x"]  # type: ignore[arg-type]


async def test_a_plain_function_runs_on_a_thread_of_its_own(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")

    def where(_input: Any, ctx: Context) -> list[str]:
        ctx.progress(0.5, "half")
        ctx.write("some text")
        ctx.checkpoint({"at": 1})
        return [threading.current_thread().name, type(ctx).__name__]

    await worker.serve({"where": where}, signals=False)
    handle = await sender.send("where", None)
    thread, context = await handle.result()
    assert thread.startswith("handfast-handler")
    assert context == "Context"
    assert await handle.chunks().text() == "some text"


@dataclasses.dataclass
class Point:
    x: int
    y: int


async def test_what_is_returned_without_a_type_is_written_as_json(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")
    cases: dict[str, tuple[Any, Any]] = {
        "nothing": (None, None),
        "a-tuple": ((1, 2), [1, 2]),
        "a-dataclass": (Point(1, 2), {"x": 1, "y": 2}),
        "models-inside": ({"deep": [Query(words=[])]}, {"deep": [{"words": [], "limit": 3}]}),
    }
    await worker.serve({name: giving(returned) for name, (returned, _) in cases.items()}, signals=False)
    outputs = await sender.scatter([{"capability": name, "input": None} for name in cases]).all()
    assert outputs == [output for _, output in cases.values()]


def giving(value: Any) -> Callable[[], Any]:
    return lambda: value


async def test_what_json_has_no_room_for_fails_at_once_and_says_where(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")
    cases: dict[str, tuple[Any, str]] = {
        "a-set": ({"found": {1, 2}}, "/found it has a set"),
        "no-number": ([float("nan")], "/0 it has nan"),
        "bytes": ({"raw": b"bytes"}, "/raw it has bytes"),
        "too-large": ("x" * 1_100_000, "bytes; at most 1000000 go inline"),
        "a-large-number": (2**60, "beyond 2^53"),
        "an-object": (object(), "an object"),
    }
    await worker.serve({name: giving(returned) for name, (returned, _) in cases.items()}, signals=False)
    for settled in await sender.scatter([{"capability": name, "input": None} for name in cases]).settled():
        says = list(cases.values())[settled.index][1]
        assert settled.error is not None
        assert settled.error.reason == "output_not_json"
        assert says in settled.error.message
        assert (await settled.handle.status())["attempts"] == 1


async def test_text_comes_in_and_goes_out(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")
    await worker.serve({"upper": {"text": True, "handler": str.upper}}, signals=False)
    view = await (await sender.send("upper", "hällo", text=True)).outcome()
    assert outcome_of(view)["text"] == "HÄLLO"


async def test_usage_and_artifacts_stand_in_the_outcome(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")
    body = b"a picture"
    sha256 = hashlib.sha256(body).hexdigest()

    async def draw(_input: Any, ctx: AsyncContext) -> None:
        ctx.use(tokens=100)
        ctx.use(tokens=50, cost=7)
        ctx.use(cost=float("nan"))
        await worker.call("put_artifact", params={"sha256": sha256}, body=body)
        ctx.attach({"sha256": sha256, "size": len(body), "media_type": "application/octet-stream"})

    await worker.serve({"draw": draw}, signals=False)
    outcome = outcome_of(await (await sender.send("draw", None)).outcome())
    assert outcome["usage"] == {"cost": 7, "tokens": 150}
    assert outcome["artifacts"] == [sha256]
    assert outcome["evidence"] == "signed"


async def test_what_only_a_validator_knows_is_checked_here_and_not_tried_again(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")

    class Palindrome(pydantic.BaseModel):
        word: str

        @pydantic.field_validator("word")
        @classmethod
        def mirrored(cls, word: str) -> str:
            if word != word[::-1]:
                raise ValueError("no palindrome")
            return word

    @worker.capability("mirror")
    def mirror(given: Palindrome) -> str:
        return given.word

    await worker.serve(signals=False)
    handle = await sender.send("mirror", {"word": "abc"})
    with pytest.raises(HandoffError) as failed:
        await handle.result()
    assert failed.value.reason == "input_unfit"
    assert "/word: Value error, no palindrome" in failed.value.message
    assert (await handle.status())["attempts"] == 1
    assert not failed.value.retryable


async def test_output_that_does_not_fit_is_tried_again_and_then_says_where(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")
    runs = 0

    @worker.capability("count")
    def count() -> Report:
        nonlocal runs
        runs += 1
        return {"found": "many"}  # type: ignore[return-value]

    await worker.serve(signals=False)
    handle = await sender.send("count", None, attempts=2)
    with pytest.raises(HandoffError) as failed:
        await handle.result()
    assert failed.value.reason == "output_unfit"
    assert "/found: " in failed.value.message
    assert runs == 2


async def test_output_that_does_not_fit_what_the_sender_expects(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")
    await worker.serve({"count": lambda: {"n": "many"}}, signals=False)
    expects = {"type": "object", "properties": {"n": {"type": "number"}}}
    handle = await sender.send("count", None, attempts=1, expects=expects)
    with pytest.raises(HandoffError) as failed:
        await handle.result()
    assert failed.value.reason == "output_unfit"
    assert "/n" in (await stage.warned("worker", "output_unfit")).message


async def test_types_that_the_relay_cannot_check_whole_are_still_served(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")

    class Tree(pydantic.BaseModel):
        name: str = pydantic.Field(pattern=r"^[a-z]+$")
        price: datetime.timedelta = datetime.timedelta(0)
        below: list[Tree] = []

    Tree.model_rebuild(_types_namespace={"Tree": Tree})

    @worker.capability("walk")
    def walk(tree: Tree) -> list[str]:
        return [tree.name, *(name for each in tree.below for name in walk(each))]

    await worker.serve(signals=False)
    tree = {"name": "a", "below": [{"name": "b", "below": [{"name": "c"}]}]}
    assert await (await sender.send("walk", tree)).result() == ["a", "b", "c"]
    handle = await sender.send("walk", {"name": "a", "below": [{"name": "b", "below": [{"name": "C"}]}]})
    with pytest.raises(HandoffError, match="/below/0/below/0/name"):
        await handle.result()


async def test_a_handoff_that_names_only_the_agent(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")
    await worker.serve({"echo": lambda value: value}, signals=False)
    assert await (await sender.send({"to": worker.agent}, "you")).result() == "you"
    await worker.serve({"other": lambda: None}, signals=False)
    with pytest.raises(HandoffError, match="several capabilities") as rejected:
        await (await sender.send({"to": worker.agent}, None)).result()
    assert rejected.value.reason == "no_handler"
    assert rejected.value.code == 501


async def test_an_exception_is_tried_again_and_the_next_attempt_knows_of_it(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")

    def unsteady(_input: Any, ctx: Context) -> Any:
        if ctx.attempt == 1:
            raise KeyError("page")
        return [ctx.attempt, *(each["error"]["message"] for each in ctx.previous.failures)]

    await worker.serve({"unsteady": unsteady}, signals=False)
    assert await (await sender.send("unsteady", None)).result() == [2, "KeyError: 'page'"]
    assert "test_serve.py" in (await stage.warned("worker", "handler_error")).message


async def test_whatever_is_raised_is_a_failure_like_any_other(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")
    rude = type("Rude", (Exception,), {"__str__": lambda self: 1 / 0})
    cases: dict[str, tuple[BaseException, str]] = {
        "exit": (SystemExit(3), "SystemExit: 3"),
        # A coroutine that raises it raises a RuntimeError that says so, by Python's own rules.
        "stop-iteration": (StopIteration(), "StopIteration"),
        "out-of-memory": (MemoryError(), "MemoryError"),
        "canceled": (asyncio.CancelledError(), "CancelledError"),
        "rude": (rude(), "Rude, which cannot be shown"),
    }
    plain = {name: raising(error) for name, (error, _) in cases.items()}
    waited_for = {f"async-{name}": raising_later(error) for name, (error, _) in cases.items()}
    await worker.serve({**plain, **waited_for}, signals=False)
    for prefix in ("", "async-"):
        tasks: list[Task] = [{"capability": f"{prefix}{name}", "input": None, "attempts": 1} for name in cases]
        for settled in await sender.scatter(tasks).settled():
            says = list(cases.values())[settled.index][1]
            assert settled.error is not None
            assert settled.error.reason == "handler_error"
            assert says in settled.error.message


def raising(error: BaseException) -> Callable[[], None]:
    def handler() -> None:
        raise error

    return handler


def raising_later(error: BaseException) -> Callable[[], Coroutine[Any, Any, None]]:
    async def handler() -> None:
        raise error

    return handler


async def test_fail_ends_it_at_once_with_a_detail_made_to_fit(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")

    def no() -> None:
        detail = {"page": 7, "set": {1}, "nan": float("nan"), "when": datetime.date(2026, 1, 2), "cut": "a\ud83d"}
        raise Fail("there is no such page", reason="page_missing", detail=detail)

    await worker.serve({"no": no}, signals=False)
    handle = await sender.send("no", None)
    error = outcome_of(await handle.outcome())["error"]
    assert error["reason"] == "page_missing"
    assert error["message"] == "there is no such page"
    kept = {"page": 7, "set": [1], "nan": "nan", "when": "2026-01-02", "cut": "a\ufffd"}
    assert error["detail"] == kept
    assert (await handle.status())["attempts"] == 1
    assert stage.warnings("worker") == []


async def test_retry_waits_as_long_as_it_says(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")

    async def later(_input: Any, ctx: AsyncContext) -> str:
        if ctx.attempt == 1:
            raise Retry("the tool is busy", after=1.5)
        return "done"

    await worker.serve({"later": later}, signals=False)
    handle = await sender.send("later", None)
    assert await handle.result() == "done"
    [lost] = (await handle.status())["failures"]
    delivered = [event["at"] async for event in handle.events() if event["type"] == "delivered"]
    assert delivered[-1] - lost["at"] >= 1_500


async def test_reject_leaves_it_to_another_agent(stage: Stage) -> None:
    worker, other, sender = [await stage.agent(name) for name in ("worker", "other", "sender")]

    def not_mine() -> None:
        raise Reject("not my language", reason="language")

    await worker.serve({"work": not_mine}, signals=False)
    await other.serve({"work": lambda: "by other"}, signals=False)
    handle = await sender.send("work", None)
    assert await handle.result() == "by other"


async def test_never_more_at_once_than_the_concurrency_allows(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")
    running, most = 0, 0
    lock, opened = threading.Lock(), threading.Event()

    def hold(_input: Any, ctx: Context) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        opened.wait(10)
        with lock:
            running -= 1

    await worker.serve({"hold": hold}, concurrency=3, signals=False)
    scatter = sender.scatter([{"capability": "hold", "input": None}] * 12)
    await until(lambda: running == 3)
    views = [await handle.status() for handle in await scatter.handles()]
    assert [view["state"] for view in views].count("queued") == 9
    opened.set()
    await scatter.all()
    assert most == 3


async def test_two_workers_of_one_agent_share_the_work_and_nothing_runs_twice(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")
    ran: list[int] = []

    async def share(n: int, ctx: AsyncContext) -> int:
        ran.append(n)
        await ctx.checkpoint(n)
        return n

    first = await worker.serve({"share": share}, worker="worker-1", concurrency=4, signals=False)
    second = await worker.serve({"share": share}, worker="worker-2", concurrency=4, signals=False)
    assert (first.worker, second.worker) == ("worker-1", "worker-2")
    assert await sender.scatter([{"capability": "share", "input": n} for n in range(40)]).all() == list(range(40))
    assert sorted(ran) == list(range(40))


async def test_serving_twice_offers_everything_until_one_of_them_stops(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")
    await worker.serve({"one": lambda: 1}, signals=False)
    second = await worker.serve({"two": lambda: 2}, signals=False)
    assert [await (await sender.send(name, None)).result() for name in ("one", "two")] == [1, 2]
    await second.stop()

    async def is_gone() -> bool:
        try:
            await (await sender.send("two", None)).cancel()
        except HandoffError as error:
            return error.code == 406
        return False

    await until(is_gone)
    assert await (await sender.send("one", None)).result() == 1


async def test_the_same_manifest_is_not_registered_again(stage: Stage) -> None:
    worker = await stage.agent("worker")
    server = await worker.serve({"one": lambda: 1}, signals=False)
    since = (await worker.call("agent", params={"name": worker.agent}))["manifest"]["since"]
    await server.stop()
    await worker.serve({"one": lambda: 1}, signals=False)
    assert (await worker.call("agent", params={"name": worker.agent}))["manifest"]["since"] == since


async def test_wrong_options_are_refused(stage: Stage) -> None:
    worker = await stage.agent("worker")
    for options in ({"concurrency": 0}, {"worker": "no name"}, {"grace": "soon"}):
        with pytest.raises(UsageError):
            await worker.serve({"one": lambda: 1}, **options)
    with pytest.raises(UsageError, match="no capability to serve"):
        await worker.serve()


async def test_an_agent_with_only_a_token_serves_too(stage: Stage) -> None:
    sender = await stage.agent("sender")
    reply = await sender.call("create_token", body={"agent": f"bearer-{sender.agent}", "capabilities": []})
    worker = await stage.agent("bearer", agent=None, key=None, token=reply["token"])
    await worker.serve({"double": lambda n: n * 2}, signals=False)
    view = await (await sender.send("double", 21)).outcome()
    assert outcome_of(view)["output"] == 42
    assert outcome_of(view)["evidence"] == "attested"
    handle = await sender.send("double", 21, evidence="signed", timeout=2, queue_if_absent=True)
    assert (await handle.outcome())["state"] == "expired"
