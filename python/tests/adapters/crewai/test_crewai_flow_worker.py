"""A flow as a worker."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from crewai.flow import Flow, human_feedback, listen, start
from crewai.flow.async_feedback import HumanFeedbackPending
from crewai.flow.persistence import SQLiteFlowPersistence, persist
from pydantic import BaseModel

import handfast
from handfast import Client, Context, Reject
from handfast.crewai import SenderFeedback, handoff, outcome_of, serve_flow

Agents = Callable[..., Client]
Name = Callable[[str], str]
LONG = 30


class Draft(BaseModel):
    topic: str = ""
    text: str = ""


class Written(BaseModel):
    text: str
    id: str


def test_a_flow_does_the_work_under_the_id_of_its_handoff(sync_agent: Agents, name: Name) -> None:
    class Write(Flow[Draft]):
        @start()
        def outline(self) -> Any:
            ctx = handfast.current()
            assert isinstance(ctx, Context)
            ctx.progress(0.1, "outlining")
            return self.state.topic.upper()

        @listen(outline)
        async def write(self, outline: str) -> Written:
            return Written(text=f"about {outline}", id=self.flow_id)

    capability = name("write")
    serve_flow(sync_agent("flow"), capability, Write, input=Draft, output=Written, signals=False)
    handle = sync_agent("sender").send(capability, {"topic": "fsync"}, timeout=LONG)
    assert handle.result() == {"text": "about FSYNC", "id": handle.id}


def test_feedback_is_asked_of_the_sender(sync_agent: Agents, name: Name) -> None:
    class Ask(Flow[dict[str, Any]]):
        @start()
        @human_feedback(message="Good?", provider=SenderFeedback())
        def draft(self) -> str:
            return "a draft"

        @listen(draft)
        def end(self, result: Any) -> str:
            return f"{result.output}: {result.feedback}"

    capability = name("ask")
    serve_flow(sync_agent("flow"), capability, Ask, signals=False)
    sender = sync_agent("sender")
    handle = sender.send(capability, {}, timeout=LONG)
    question = next(sender.questions())
    assert question["question"] == {"message": "Good?", "output": "a draft"}
    sender.answer(question, "very")
    assert handle.result() == "a draft: very"


def test_a_pause_that_nobody_can_end_is_a_failure_that_says_so(sync_agent: Agents, name: Name, tmp_path: Path) -> None:
    class Elsewhere:
        def request_feedback(self, context: Any, flow: Any) -> str:
            raise HumanFeedbackPending(context=context)

    class Pause(Flow[dict[str, Any]]):
        @start()
        @human_feedback(message="Good?", provider=Elsewhere())
        def draft(self) -> str:
            return "a draft"

    capability = name("pause")
    made = lambda: Pause(persistence=SQLiteFlowPersistence(str(tmp_path / "flows.db")))  # noqa: E731
    serve_flow(sync_agent("flow"), capability, made, signals=False)
    view = sync_agent("sender").send(capability, {}, timeout=LONG).outcome()
    assert view["outcome"] is not None
    error = view["outcome"]["error"] or {}
    assert (view["attempts"], error["reason"]) == (1, "flow_paused")
    assert "SenderFeedback" in error["message"]


def test_a_redelivery_finds_the_state_that_was_kept(sync_agent: Agents, name: Name, tmp_path: Path) -> None:
    ran: list[str] = []

    @persist(SQLiteFlowPersistence(str(tmp_path / "flows.db")))
    class Write(Flow[Draft]):
        @start()
        def outline(self) -> None:
            if self.state.text == "":
                ran.append("outline")
                self.state.topic += "!"
                self.state.text = "an outline"

        @listen(outline)
        def write(self) -> str:
            ran.append("write")
            if ran.count("write") == 1:
                raise ValueError("not yet")
            return f"{self.state.topic} {self.state.text}"

    capability = name("write")
    serve_flow(sync_agent("flow"), capability, Write, signals=False)
    handle = sync_agent("sender").send(capability, {"topic": "fsync"}, timeout=LONG)
    assert handle.result() == "fsync! an outline"
    assert ran == ["outline", "write", "write"]


def test_what_a_method_raises_for_the_relay_goes_as_it_is(sync_agent: Agents, name: Name) -> None:
    class Refuse(Flow[dict[str, Any]]):
        @start()
        def refuse(self) -> None:
            raise Reject("Not for me.", reason="too_far")

    capability = name("refuse")
    serve_flow(sync_agent("flow"), capability, Refuse, signals=False)
    view = sync_agent("sender").send(capability, {}, timeout=LONG).outcome()
    assert (view["state"], view["code"]) == ("rejected", 501)


def test_a_served_flow_that_hands_on_waits_in_place(sync_agent: Agents, name: Name) -> None:
    below, capability = name("lookup"), name("report")
    seen: list[Any] = []

    def lookup(input: Any, ctx: Context) -> str:
        seen.append(ctx.handoff["causation_id"])
        return f"found {input}"

    sync_agent("lookup").serve({below: lookup}, signals=False)
    worker = sync_agent("flow")

    class Report(Flow[dict[str, Any]]):
        @start()
        @handoff(worker, below)
        def look(self) -> str:
            return "x"

        @listen(look)
        def end(self, result: Any) -> Any:
            return outcome_of(result).get("output")

    serve_flow(worker, capability, Report, signals=False)
    handle = sync_agent("sender").send(capability, {}, timeout=LONG)
    assert handle.result() == "found x"
    assert seen == [handle.id]


def test_a_flow_that_hangs_loses_its_slot_and_its_handoff_ends(sync_agent: Agents, name: Name) -> None:
    go = threading.Event()

    class Hang(Flow[dict[str, Any]]):
        @start()
        def hang(self) -> str:
            if self.state.get("how") == "hang":
                go.wait(LONG)
            return "done"

        @listen(hang)
        def after(self, text: str) -> str:
            return text

    capability = name("hang")
    serve_flow(sync_agent("flow"), capability, Hang, concurrency=1, signals=False)
    sender = sync_agent("sender")
    handle = sender.send(capability, {"how": "hang"}, timeout=2, lease=2)
    try:
        assert handle.outcome()["code"] == 408
        assert sender.send(capability, {}, timeout=LONG).result() == "done"
        (thread,) = [each for each in threading.enumerate() if each.name == f"handfast-flow-{handle.id}"]
    finally:
        go.set()
    thread.join(LONG)
    assert not thread.is_alive()
