"""Questions from within a handler: asked and waited for, parked, asked again."""

from __future__ import annotations

import asyncio
from typing import Any

import pydantic
import pytest
from serve_stage import Stage, until

from handfast import AsyncClient, AsyncContext, Context, HandfastError, HandoffError, Parked


async def answer_all(member: AsyncClient, handoff: str, answers: list[Any]) -> list[str]:
    """Answers every question put to the member, in order."""
    asked: list[str] = []
    questions = member.questions()
    async for question in questions:
        asked.append(question["id"].removeprefix(f"{handoff}:"))
        await member.answer(question, answers[len(asked) - 1])
        if len(asked) == len(answers):
            break
    await questions.aclose()
    return asked


class Yes(pydantic.BaseModel):
    yes: bool


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_handler_that_waits_for_an_answer_keeps_its_lease_and_goes_on_with_it(
    stage: Stage, is_async: bool
) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")

    async def pay(amount: int, ctx: AsyncContext) -> Any:
        answer = await ctx.ask({"text": f"Pay {amount}?"}, schema=Yes)
        return [answer.yes, ctx.handoff["fence"]]

    def pay_plainly(amount: int, ctx: Context) -> Any:
        answer = ctx.ask({"text": f"Pay {amount}?"}, schema=Yes)
        return [answer.yes, ctx.handoff["fence"]]

    name = f"pay-{worker.agent}"
    await worker.serve({name: pay if is_async else pay_plainly}, signals=False)
    handle = await sender.send(name, 3, lease=2)
    assert await answer_all(sender, handle.id, [{"yes": True}]) == ["q1"]
    assert await handle.result() == [True, 1]


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_parked_question_holds_no_slot_and_the_handler_is_run_again_with_the_answer(
    stage: Stage, is_async: bool
) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")
    runs: list[int] = []

    async def approve(_input: Any, ctx: AsyncContext) -> Any:
        runs.append(ctx.attempt)
        try:
            first = await ctx.ask("first?", park=True)
            second = await ctx.ask("second?", park=True)
        except Exception:
            # What catches everything does not catch this.
            return "caught"
        return [first, second, len(ctx.previous.questions)]

    def approve_plainly(_input: Any, ctx: Context) -> Any:
        runs.append(ctx.attempt)
        try:
            return [ctx.ask("first?", park=True), ctx.ask("second?", park=True), len(ctx.previous.questions)]
        except Exception:
            return "caught"

    name, other = f"approve-{worker.agent}", f"other-{worker.agent}"
    handlers = {name: approve if is_async else approve_plainly, other: lambda: "done meanwhile"}
    server = await worker.serve(handlers, concurrency=1, signals=False)
    handle = await sender.send(name, None)
    await until(lambda: runs and server.active == 0)
    assert await (await sender.send(other, None)).result() == "done meanwhile"
    assert await answer_all(sender, handle.id, ["one", "two"]) == ["q1", "q2"]
    assert await handle.result() == ["one", "two", 2]
    assert runs == [1, 1, 1]
    assert stage.warnings("worker") == []


async def test_an_attempt_that_was_lost_after_an_answer_is_not_asked_the_same_again(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")

    async def twice(_input: Any, ctx: AsyncContext) -> Any:
        answer = await ctx.ask("your name?", id="name")
        if ctx.attempt == 1:
            raise ValueError("lost it")
        return answer

    name = f"twice-{worker.agent}"
    await worker.serve({name: twice}, signals=False)
    handle = await sender.send(name, None)
    assert await answer_all(sender, handle.id, ["Ada"]) == ["name"]
    assert await handle.result() == "Ada"


async def test_questions_asked_at_once_are_put_one_after_the_other(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")

    async def both(_input: Any, ctx: AsyncContext) -> Any:
        return await asyncio.gather(ctx.ask("a?"), ctx.ask("b?"))

    name = f"both-{worker.agent}"
    await worker.serve({name: both}, signals=False)
    handle = await sender.send(name, None)
    await answer_all(sender, handle.id, [1, 2])
    assert await handle.result() == [1, 2]


async def test_a_question_to_a_capability_is_answered_by_whoever_offers_it(stage: Stage) -> None:
    worker, desk, sender = [await stage.agent(name) for name in ("worker", "desk", "sender")]
    name, approval = f"pay-{worker.agent}", f"approval-{worker.agent}"
    await desk.serve({approval: lambda: None}, signals=False)

    async def pay(_input: Any, ctx: AsyncContext) -> Any:
        return await ctx.ask("may I?", to=approval)

    await worker.serve({name: pay}, signals=False)
    handle = await sender.send(name, None)
    await answer_all(desk, handle.id, ["yes"])
    assert await handle.result() == "yes"


async def test_a_question_that_nobody_answers_in_time_is_an_error_in_the_handler(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")

    def ask(_input: Any, ctx: Context) -> Any:
        try:
            return ctx.ask("anybody?", within="200ms")
        except HandoffError as error:
            return [error.code, error.reason]

    name = f"ask-{worker.agent}"
    await worker.serve({name: ask}, signals=False)
    assert await (await sender.send(name, None)).result() == [408, "unanswered"]


async def test_an_answer_that_does_not_fit_what_only_a_validator_knows_is_an_error(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")

    class Even(pydantic.BaseModel):
        n: int

        @pydantic.field_validator("n")
        @classmethod
        def even(cls, n: int) -> int:
            if n % 2:
                raise ValueError("odd")
            return n

    async def ask(_input: Any, ctx: AsyncContext) -> Any:
        try:
            return (await ctx.ask("an even number?", schema=Even)).n
        except HandoffError as error:
            return [error.code, error.message.split(": ", 1)[1]]

    name = f"ask-{worker.agent}"
    await worker.serve({name: ask}, signals=False)
    handle = await sender.send(name, None)
    await answer_all(sender, handle.id, [{"n": 3}])
    assert await handle.result() == [422, "/n: Value error, odd"]


async def test_a_cancel_ends_the_wait_for_an_answer(stage: Stage) -> None:
    worker, sender = await stage.agent("worker"), await stage.agent("sender")
    ended: list[Any] = []

    def ask(_input: Any, ctx: Context) -> None:
        try:
            ctx.ask("anybody?")
        except HandfastError as error:
            ended.append(error)
            raise

    name = f"ask-{worker.agent}"
    server = await worker.serve({name: ask}, signals=False)
    handle = await sender.send(name, None, lease=2)
    questions = sender.questions()
    await anext(questions)
    await questions.aclose()
    await handle.cancel()
    await until(lambda: server.active == 0)
    assert [error.code for error in ended] == [410]


def test_parked_is_no_exception_that_handlers_catch_by_the_way() -> None:
    assert not issubclass(Parked, Exception)
