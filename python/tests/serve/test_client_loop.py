"""The event loop of a client that blocks goes on, whatever handlers and validators raise; and what is said once it is
closed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pydantic
import pytest

from handfast import Client, Context, HandfastError

SyncAgent = Callable[..., Client]
Name = Callable[[str], str]


class Rude(pydantic.BaseModel):
    """Its validator raises what ends a program."""

    how: str

    @pydantic.field_validator("how")
    @classmethod
    def end(cls, how: str) -> str:
        raise {"exit": SystemExit(4), "interrupt": KeyboardInterrupt()}[how]


async def interrupt() -> None:
    raise KeyboardInterrupt


async def leave() -> None:
    raise SystemExit(4)


def takes(_given: Rude) -> None: ...


def gives(how: str) -> Rude:
    return {"how": how}  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("handler", "input", "reason", "says"),
    [
        (interrupt, None, "handler_error", "KeyboardInterrupt"),
        (leave, None, "handler_error", "SystemExit: 4"),
        (takes, {"how": "exit"}, "handler_error", "SystemExit: 4"),
        (takes, {"how": "interrupt"}, "handler_error", "KeyboardInterrupt"),
        (gives, "exit", "output_not_json", "SystemExit: 4"),
        (gives, "interrupt", "output_not_json", "KeyboardInterrupt"),
    ],
)
def test_what_ends_a_program_is_a_failure_and_the_worker_goes_on(
    sync_agent: SyncAgent, name: Name, handler: Any, input: Any, reason: str, says: str
) -> None:
    worker, sender = sync_agent("worker", on_warning=lambda _warning: None), sync_agent("sender")
    rude, plain = name("rude"), name("plain")
    worker.serve({rude: handler, plain: lambda: "fine"}, signals=False)
    error = sender.send(rude, input, attempts=1).outcome(timeout=20)["outcome"]["error"]  # type: ignore[index]
    assert error is not None
    assert error["reason"] == reason
    assert says in error["message"]
    assert sender.send(plain, None).result(timeout=20) == "fine"


def ask(_input: Any, ctx: Context) -> str:
    try:
        ctx.ask("how?", schema=Rude)
    except SystemExit as error:
        return f"caught {error.code}"
    return "nothing was raised"


async def test_a_validator_of_an_answer_does_not_end_the_program_that_serves(agent: Any, name: Name) -> None:
    worker, sender = await agent("worker"), await agent("sender")
    asks = name("asks")
    await worker.serve({asks: ask}, signals=False)
    handle = await sender.send(asks, None)
    async for question in sender.questions():
        await sender.answer(question, {"how": "exit"})
        break
    assert await handle.result(timeout=20) == "caught 4"


def test_a_validator_of_an_answer_raises_in_the_handler_that_asked(sync_agent: SyncAgent, name: Name) -> None:
    worker, sender = sync_agent("worker"), sync_agent("sender")
    asks, plain = name("asks"), name("plain")
    worker.serve({asks: ask, plain: lambda: "fine"}, signals=False)
    handle = sender.send(asks, None)
    sender.answer(next(sender.questions()), {"how": "exit"})
    assert handle.result(timeout=20) == "caught 4"
    assert sender.send(plain, None).result(timeout=20) == "fine"


def test_a_task_that_a_handler_left_behind_does_not_end_the_client(
    sync_agent: SyncAgent, name: Name, caplog: pytest.LogCaptureFixture
) -> None:
    worker, sender = sync_agent("worker"), sync_agent("sender")
    starts, plain = name("starts"), name("plain")
    tasks: list[Any] = []

    async def start() -> None:
        tasks.append(asyncio.ensure_future(leave()))

    worker.serve({starts: start, plain: lambda: "fine"}, signals=False)
    with caplog.at_level(logging.ERROR, "asyncio"):
        sender.send(starts, None).result(timeout=20)
        assert sender.send(plain, None).result(timeout=20) == "fine"
    assert "the client goes on" in caplog.text
    assert isinstance(tasks[0].exception(), SystemExit)


def test_a_worker_whose_client_is_closed_has_stopped(sync_agent: SyncAgent, name: Name) -> None:
    client = sync_agent("worker")
    server = client.serve({name("idle"): lambda: None}, signals=False)
    client.close()
    server.stopped()
    server.stop()
    assert server.is_stopping


def test_a_worker_whose_loop_ended_under_it_says_so(sync_agent: SyncAgent, name: Name) -> None:
    client = sync_agent("worker")
    server = client.serve({name("idle"): lambda: None}, signals=False)
    client._loop.stop()
    for act in (server.stopped, server.stop, lambda: client.send("anything", None)):
        with pytest.raises(HandfastError) as caught:
            act()
        assert caught.value.reason == "closed"
    # As if it had been closed between the look and the call.
    client._loop._is_closed = False
    with pytest.raises(HandfastError) as caught:
        client.send("anything", None)
    assert caught.value.reason == "closed"
    client._loop._is_closed = True
