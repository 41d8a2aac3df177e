"""What a sender expects is what it gets: a result of the type that was named, for the type checker too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel, field_validator
from typing_extensions import assert_type

from handfast import AsyncClient, AsyncContext, AsyncHandle, Client, Context, Handle, HandoffError, Task
from handfast._adapters import outcome_of

Name = Callable[[str], str]


class Report(BaseModel):
    summary: str


class LoudReport(BaseModel):
    summary: str

    @field_validator("summary")
    @classmethod
    def is_loud(cls, text: str) -> str:
        if not text.isupper():
            raise ValueError("it is not loud")
        return text


@pytest.fixture
async def echo(agent: Callable[..., Any], name: Name) -> str:
    """A capability that returns its input, of whatever shape."""
    capability = name("echo")
    worker: AsyncClient = await agent("worker")
    await worker.serve({capability: lambda value: value}, signals=False)
    return capability


async def test_a_result_is_of_the_type_that_was_expected(agent: Callable[..., Any], echo: str) -> None:
    boss: AsyncClient = await agent("boss")
    handle = await boss.send(echo, {"summary": "ok"}, expects=Report, timeout=60)
    assert_type(handle, AsyncHandle[Report])
    report = await handle.result(timeout=20)
    assert_type(report, Report)
    assert report == Report(summary="ok")
    numbers = await (await boss.send(echo, [1, 2], expects=tuple[int, int])).result(timeout=20)
    assert_type(numbers, tuple[int, int])
    assert numbers == (1, 2)
    plain = await (await boss.send(echo, {"summary": "ok"}, expects={"type": "object"})).result(timeout=20)
    assert plain == {"summary": "ok"}


async def test_results_of_a_scatter_are_too_and_a_task_may_expect_another(agent: Callable[..., Any], echo: str) -> None:
    boss: AsyncClient = await agent("boss")
    wanted: Task = {"capability": echo, "input": {"summary": "A"}}
    scatter = boss.scatter([wanted, {**wanted, "expects": LoudReport}], expects=Report)
    reports = await scatter.all(timeout=20)
    assert_type(reports, list[Report])
    assert reports == [Report(summary="A"), LoudReport(summary="A")]


async def test_what_fits_the_schema_and_not_the_type_is_said_and_stays_untaken(
    agent: Callable[..., Any], echo: str
) -> None:
    boss: AsyncClient = await agent("boss")
    handle = await boss.send(echo, {"summary": "quiet"}, expects=LoudReport)
    with pytest.raises(HandoffError, match="no LoudReport: /summary: Value error, it is not loud") as told:
        await handle.result(timeout=20)
    assert (told.value.code, told.value.reason, told.value.retryable) == (502, "output_unfit", False)
    assert (await handle.status())["taken_at"] is None
    (settled,) = await boss.scatter([{"capability": echo, "input": {"summary": "q"}}], expects=LoudReport).settled()
    assert settled.error is not None
    assert settled.error.reason == "output_unfit"


async def test_what_a_framework_keeps_stays_plain(agent: Callable[..., Any], echo: str) -> None:
    boss: AsyncClient = await agent("boss")
    outcome: Any = await outcome_of(await boss.send(echo, {"summary": "ok"}, expects=Report), timeout=20)
    assert outcome["output"] == {"summary": "ok"}


def test_the_same_for_code_that_blocks_and_within_handlers(sync_agent: Callable[..., Client], name: Name) -> None:
    inner, plain, awaited = name("inner"), name("plain"), name("awaited")
    worker, boss = sync_agent("worker"), sync_agent("boss")

    @worker.capability(inner)
    def echo(value: Any) -> Any:
        return value

    @worker.capability(plain)
    def hand_on(value: Any, ctx: Context) -> str:
        handle = ctx.send(inner, value, expects=Report)
        assert_type(handle, Handle[Report])
        return handle.result().summary

    @worker.capability(awaited)
    async def ahand_on(value: Any, ctx: AsyncContext) -> str:
        (report,) = await ctx.scatter([{"capability": inner, "input": value}], expects=Report).all()
        assert_type(report, Report)
        return report.summary

    worker.serve(signals=False)
    handle = boss.send(inner, {"summary": "ok"}, expects=Report)
    assert_type(handle, Handle[Report])
    assert handle.result(timeout=20).summary == "ok"
    for capability in (plain, awaited):
        assert boss.send(capability, {"summary": "ok"}).result(timeout=20) == "ok"
