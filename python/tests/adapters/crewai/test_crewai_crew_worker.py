"""A crew as a worker."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from crewai import Crew, Task
from crewai.tools import BaseTool
from crewai_model import crew_of, last_of, model, tool_call, tool_result
from pydantic import BaseModel

import handfast
from handfast import AsyncClient, Client, ClientWarning, Context
from handfast._serve import StopSignal
from handfast.crewai import _own_thread, handoff_tool, serve_crew

Agents = Callable[..., Client]
Name = Callable[[str], str]
LONG = 30


class Shout(BaseTool):
    """A tool that works on the handoff itself."""

    name: str = "shout"
    description: str = "Shouts."

    def _run(self, text: str) -> str:
        ctx = handfast.current()
        assert isinstance(ctx, Context)
        ctx.progress(0.5, "shouting")
        return str(ctx.ask("How loud?", schema={"type": "string"})) + text.upper()


def test_a_crew_does_the_work_and_its_tools_reach_the_handoff(sync_agent: Agents, name: Name) -> None:
    def script(messages: list[Any]) -> Any:
        return tool_result(messages) or tool_call("shout", text="hello" if "hello" in last_of(messages) else "?")

    capability = name("shout")
    serve_crew(sync_agent("crew"), capability, crew_of(model(script), "Shout {text}", tools=[Shout()]), signals=False)
    sender = sync_agent("sender")
    handle = sender.send(capability, {"text": "hello"}, timeout=LONG)
    question = next(sender.questions())
    progress = handle.status()["progress"]
    assert progress is not None
    assert (progress["fraction"], progress["note"]) == (0.5, "shouting")
    sender.answer(question, "!")
    assert handle.result() == "!HELLO"


def test_what_a_crew_hands_on_is_below_its_handoff_and_not_sent_twice(sync_agent: Agents, name: Name) -> None:
    below = name("lookup")
    seen: list[dict[str, Any]] = []

    def lookup(input: Any, ctx: Context) -> str:
        seen.append(dict(ctx.handoff))
        return f"found {input}"

    sync_agent("lookup").serve({below: lookup}, signals=False)
    worker = sync_agent("crew")
    tool = handoff_tool(worker, below, name="lookup")
    failures = iter([True])

    def script(messages: list[Any]) -> Any:
        result = tool_result(messages)
        if result is None:
            return tool_call("lookup", input="x")
        if next(failures, False):
            raise RuntimeError("the model is away")
        return result

    capability = name("report")
    serve_crew(worker, capability, lambda: crew_of(model(script), "Report", tools=[tool]), signals=False)
    handle = sync_agent("sender").send(capability, None, timeout=LONG)
    assert handle.result() == "found x"
    assert [(each["causation_id"], each["correlation_id"]) for each in seen] == [(handle.id, handle.correlation)]


def test_a_redelivery_goes_on_after_the_last_task_that_was_done(sync_agent: Agents, name: Name) -> None:
    asked: list[str] = []
    failures = iter([True])

    def script(messages: list[Any]) -> Any:
        first = "First" in last_of(messages)
        asked.append("first" if first else "second")
        if not first and next(failures, False):
            raise RuntimeError("the model is away")
        return "an outline" if first else f"a text, {'knowing' if 'an outline' in last_of(messages) else 'not knowing'}"

    capability = name("write")
    crew = crew_of(model(script), "First", "Then")
    serve_crew(sync_agent("crew"), capability, crew, signals=False)
    handle = sync_agent("sender").send(capability, {}, timeout=LONG)
    assert handle.result() == "a text, knowing"
    assert asked == ["first", "second", "second"]
    assert handle.status()["attempts"] == 2


class Report(BaseModel):
    title: str
    pages: int


def test_a_task_with_a_model_of_its_output_is_found_again_as_that(sync_agent: Agents, name: Name) -> None:
    failures = iter([True])
    read: list[Any] = []

    def script(messages: list[Any]) -> Any:
        if "Plan" in last_of(messages):
            return '{"title": "Fsync", "pages": 3}'
        if next(failures, False):
            raise RuntimeError("the model is away")
        return "written"

    def made() -> Crew:
        crew = crew_of(model(script), "Plan it", "Write it")
        crew.tasks[0].output_pydantic = Report
        return crew

    capability = name("write")

    def result(output: Any) -> Any:
        read.append(output.tasks_output[0].pydantic)
        return output.tasks_output[0].pydantic.pages

    serve_crew(sync_agent("crew"), capability, made, result=result, output=int, signals=False)
    assert sync_agent("sender").send(capability, {}, timeout=LONG).result() == 3
    assert read == [Report(title="Fsync", pages=3)]


def test_a_crew_that_raises_is_tried_again_and_tells_its_class_and_message(sync_agent: Agents, name: Name) -> None:
    def script(_messages: list[Any]) -> Any:
        raise MemoryError("no room for the model\n  File secret.py, line 7")

    capability = name("broken")
    serve_crew(sync_agent("crew"), capability, lambda: crew_of(model(script), "Try"), signals=False)
    view = sync_agent("sender").send(capability, {}, timeout=LONG, attempts=1).outcome()
    assert view["outcome"] is not None
    error = view["outcome"]["error"] or {}
    assert (view["state"], view["code"], view["retryable"]) == ("failed", 500, True)
    assert "no room for the model" in error["message"]
    assert "secret.py" not in error["message"]


def test_an_output_that_does_not_fit_is_no_output(sync_agent: Agents, name: Name) -> None:
    capability = name("unfit")
    serve_crew(sync_agent("crew"), capability, crew_of(model(lambda _: "text"), "Say"), output=Report, signals=False)
    view = sync_agent("sender").send(capability, {}, timeout=LONG, attempts=1).outcome()
    assert view["outcome"] is not None
    error = view["outcome"]["error"] or {}
    assert (view["state"], error["reason"]) == ("failed", "output_unfit")


class Hang:
    """A model that does not answer until it is let go."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.go = threading.Event()

    def __call__(self, messages: list[Any]) -> Any:
        if "hang" not in last_of(messages):
            return "done"
        self.begun.set()
        self.go.wait(LONG)
        return tool_call("shout", text="late")


@pytest.mark.parametrize(
    ("limits", "ended"),
    [({"timeout": 2}, ("expired", 408)), ({"timeout": LONG, "attempt": 1}, ("failed", 500))],
    ids=["deadline", "attempt clock"],
)
def test_a_crew_that_hangs_loses_its_slot_and_its_handoff_ends(
    sync_agent: Agents, name: Name, monkeypatch: pytest.MonkeyPatch, limits: Any, ended: tuple[str, int]
) -> None:
    monkeypatch.setattr(_own_thread, "DEAF_S", 0.1)
    warned: list[ClientWarning] = []
    heard = threading.Event()

    def on_warning(warning: ClientWarning) -> None:
        warned.append(warning)
        heard.set()

    hang = Hang()
    llm = model(hang)
    capability = name("hang")
    worker = sync_agent("crew", on_warning=on_warning)
    made = lambda: crew_of(llm, "{how}", tools=[Shout()])  # noqa: E731
    serve_crew(worker, capability, made, concurrency=1, signals=False)
    sender = sync_agent("sender")
    handle = sender.send(capability, {"how": "hang"}, attempts=1, lease=2, **limits)
    view = handle.outcome()
    assert (view["state"], view["code"]) == ended
    try:
        # The only slot is free again, though the thread still hangs.
        assert sender.send(capability, {"how": "quick"}, timeout=LONG).result() == "done"
        name_of_thread = f"handfast-crew-{handle.id}"
        assert name_of_thread in [thread.name for thread in threading.enumerate()]
        assert heard.wait(LONG)
        assert (warned[0].reason, warned[0].handoff) == ("run_hangs", handle.id)
        assert name_of_thread in warned[0].message
    finally:
        hang.go.set()
    # Let go, it is told to stop before its next step: no tool is called for a handoff that is over.
    for thread in threading.enumerate():
        if thread.name == name_of_thread:
            thread.join(LONG)
            assert not thread.is_alive()
    assert sender.handle(handle.id).status()["outcome"] is not None


def test_a_canceled_crew_calls_no_model_and_no_tool_any_more(sync_agent: Agents, name: Name) -> None:
    called: list[str] = []

    class Spend(BaseTool):
        name: str = "spend"
        description: str = "Spends."

        def _run(self, text: str) -> str:
            called.append(text)
            return "spent"

    begun, go = threading.Event(), threading.Event()
    asked: list[Any] = []

    stops: list[StopSignal] = []

    def script(messages: list[Any]) -> Any:
        ctx = handfast.current()
        assert ctx is not None
        stops.append(ctx.signal)
        asked.append(messages)
        begun.set()
        go.wait(LONG)
        return tool_call("spend", text="x")

    capability = name("spend")
    serve_crew(sync_agent("crew"), capability, crew_of(model(script), "Spend", tools=[Spend()]), signals=False)
    handle = sync_agent("sender").send(capability, {}, timeout=LONG, lease=2)
    assert begun.wait(LONG)
    (thread,) = [each for each in threading.enumerate() if each.name == f"handfast-crew-{handle.id}"]
    assert handle.cancel()["state"] == "canceled"
    # It is told by a heartbeat. Only then does the model answer.
    assert stops[0].wait(LONG)
    go.set()
    thread.join(LONG)
    assert not thread.is_alive()
    assert (len(asked), called) == (1, [])


def test_with_too_many_that_hang_a_worker_begins_no_other(
    sync_agent: Agents, name: Name, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_own_thread, "MOST_ABANDONED", 0)
    warned: list[str] = []
    capability = name("full")
    worker = sync_agent("crew", on_warning=lambda warning: warned.append(warning.reason))
    serve_crew(worker, capability, crew_of(model(lambda _: "-"), "Say"), signals=False)
    view = sync_agent("sender").send(capability, {}, timeout=LONG, attempts=1).outcome()
    assert view["retryable"]
    assert "start it anew" in str(view["outcome"])
    assert warned == ["runs_hang"]


async def test_an_async_client_serves_as_well(agent: Callable[..., Any], name: Name) -> None:
    worker: AsyncClient = await agent("crew")
    capability = name("say")
    crew = crew_of(model(last_of), "Say {input}")
    async with await serve_crew(worker, capability, crew, signals=False):
        sender: AsyncClient = await agent("sender")
        handle = await sender.send(capability, "seven", timeout=LONG)
        assert "Say seven" in await handle.result()


def test_the_callback_of_a_crew_is_still_called(sync_agent: Agents, name: Name) -> None:
    heard: list[str] = []
    crew = crew_of(model(lambda _: "done"), "One", "Two", task_callback=lambda output: heard.append(output.raw))
    capability = name("calls")
    serve_crew(sync_agent("crew"), capability, lambda: crew, signals=False)
    assert sync_agent("sender").send(capability, {}, timeout=LONG).result() == "done"
    assert heard == ["done", "done"]
    assert isinstance(crew.tasks[0], Task)
