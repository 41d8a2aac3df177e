"""Flows that hand off, sleep, and are woken by the outcome."""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from crewai.flow import Flow, human_feedback, listen, router, start
from crewai.flow.async_feedback import HumanFeedbackPending
from crewai.flow.persistence import FlowPersistence, SQLiteFlowPersistence
from pydantic import BaseModel
from relay_process import RelayProcess

from handfast import AsyncClient, Client, Context, Fail, UsageError
from handfast.crewai import HandoffProvider, Outcome, Woken, _resume, handoff, outcome_of, resume_outcomes

Agents = Callable[..., Client]
Name = Callable[[str], str]
LONG = 30


class State(BaseModel):
    topic: str = ""
    round: int = 0


class Bench:
    """A worker that echoes, a sender, and where its flows are kept."""

    def __init__(self, sync_agent: Agents, name: Name, folder: Path) -> None:
        self.capability = name("echo")
        self.inputs: list[Any] = []
        self.worker = sync_agent("worker")
        self.worker.serve({self.capability: self._work}, signals=False)
        self.sender = sync_agent("sender")
        self.store = SQLiteFlowPersistence(str(folder / "flows.db"))
        self.heard: queue.Queue[Outcome] = queue.Queue()
        self.woken: queue.Queue[Woken] = queue.Queue()
        self.hold = threading.Event()
        self.hold.set()

    def _work(self, input: Any, ctx: Context) -> Any:
        self.inputs.append(input)
        self.hold.wait(LONG)
        if input == "fail" or (input == "fail once" and self.inputs.count(input) == 1):
            raise Fail("No.", reason="refused_by_hand")
        return f"echo {input}"

    def flow(self, **options: Any) -> type[Flow[State]]:
        bench = self

        class Ask(Flow[State]):
            @start()
            @handoff(bench.sender, bench.capability, **{"timeout": LONG, **options})
            def request(self) -> Any:
                return self.state.topic

            @listen(request)
            def use(self, result: Any) -> str:
                bench.heard.put(outcome_of(result))
                return "used"

        return Ask

    def wake(self, flow: type[Flow[Any]], **options: Any) -> Any:
        return resume_outcomes(self.sender, flow, persistence=self.store, on_woken=self.woken.put, **options)

    def kickoff(self, flow: type[Flow[Any]], topic: str, **inputs: Any) -> Any:
        return flow(persistence=self.store).kickoff(inputs={"topic": topic, **inputs})

    def untaken(self) -> list[str]:
        return [handle.id for handle in self.sender.outcomes(follow=False)]

    def redrive(self, relay: RelayProcess, id: str) -> None:
        with Client(url=relay.url, agent="operator", token=relay.operator_token()) as operator:
            operator.call("redrive", params={"id": id}, body={})


@pytest.fixture
def bench(sync_agent: Agents, name: Name, tmp_path: Path) -> Bench:
    return Bench(sync_agent, name, tmp_path)


def test_a_flow_pauses_and_its_listener_gets_the_outcome(bench: Bench) -> None:
    flow = bench.flow()
    with bench.wake(flow):
        pending = bench.kickoff(flow, "fsync")
        assert isinstance(pending, HumanFeedbackPending)
        outcome = bench.heard.get(timeout=LONG)
        woken = bench.woken.get(timeout=LONG)
    assert outcome["status"] == "completed"
    assert outcome["output"] == "echo fsync"
    assert outcome["handoff"] == pending.callback_info["handoff"] == woken.handoff
    assert woken.how == "resumed"
    assert bench.untaken() == []
    # Nothing is left behind beside CrewAI's own.
    assert bench.store.load_pending_feedback(f"handfast:{woken.handoff}") is None


def test_a_resumer_that_stopped_leaves_nothing_behind(bench: Bench, tmp_path: Path) -> None:
    def threads() -> set[threading.Thread]:
        return {each for each in threading.enumerate() if each.name.startswith("handfast-handler")}

    flow = bench.flow()
    before = threads()
    with bench.wake(flow):
        for topic in ("a", "b"):
            bench.kickoff(flow, topic)
            assert bench.woken.get(timeout=LONG).how == "resumed"
    with closing(sqlite3.connect(tmp_path / "flows.db")) as store:
        kept = [
            id
            for table in ("flow_states", "pending_feedback")
            for (id,) in store.execute(f"SELECT flow_uuid FROM {table}")
        ]
    assert [id for id in kept if id.startswith("handfast:")] == []
    bench.worker.close()
    for thread in threads() - before:
        thread.join(LONG)
        assert not thread.is_alive()


@pytest.mark.parametrize(
    ("topic", "options", "expected"),
    [
        ("fail", {}, ("failed", 500, "refused_by_hand", False)),
        ("late", {"timeout": "400ms"}, ("expired", 408, "deadline_passed", True)),
    ],
)
def test_a_failure_and_a_missed_deadline_come_as_values(
    bench: Bench, topic: str, options: Any, expected: tuple[str, int, str, bool]
) -> None:
    if topic == "late":
        bench.hold.clear()
    flow = bench.flow(**options)
    with bench.wake(flow):
        bench.kickoff(flow, topic)
        outcome: Any = bench.heard.get(timeout=LONG)
        bench.woken.get(timeout=LONG)
    bench.hold.set()
    status, code, reason, retryable = expected
    assert (outcome["status"], outcome["code"], outcome["error"]["reason"]) == (status, code, reason)
    assert outcome["retryable"] is retryable or status == "expired"


def test_what_the_relay_refuses_comes_at_once(bench: Bench, name: Name) -> None:
    class Nowhere(Flow[State]):
        @start()
        @handoff(bench.sender, name("nowhere"))
        def request(self) -> Any:
            return "x"

        @listen(request)
        def use(self, result: Any) -> Any:
            return outcome_of(result)

    outcome = bench.kickoff(Nowhere, "x")
    assert (outcome["status"], outcome["code"], outcome["handoff"]) == ("refused", 406, None)


def test_a_loop_hands_off_in_each_round(bench: Bench) -> None:
    class Loop(Flow[State]):
        @start("again")
        @handoff(lambda: bench.sender, bench.capability, timeout=LONG)
        def request(self) -> Any:
            return self.state.topic

        @router(request)
        def look(self, result: Any) -> str:
            bench.heard.put(outcome_of(result))
            self.state.round += 1
            return "again" if self.state.round < 3 else "done"

    with bench.wake(Loop):
        bench.kickoff(Loop, "same")
        outcomes = [bench.heard.get(timeout=LONG) for _ in range(3)]
        for _ in range(3):
            assert bench.woken.get(timeout=LONG).how == "resumed"
    assert len({each["handoff"] for each in outcomes}) == 3
    assert bench.inputs == ["same"] * 3
    assert bench.untaken() == []


class KilledBeforeThePause(SQLiteFlowPersistence):
    """As a process that dies after it has sent and before CrewAI has kept the pause."""

    def save_pending_feedback(self, *_: Any, **__: Any) -> None:
        raise KeyboardInterrupt


def test_cut_off_before_it_paused_it_sends_nothing_twice(bench: Bench) -> None:
    bench.hold.clear()
    flow = bench.flow()
    dying = KilledBeforeThePause(db_path=bench.store.db_path)
    with pytest.raises(KeyboardInterrupt):
        flow(persistence=dying).kickoff(inputs={"id": "one", "topic": "first"})
    with bench.wake(flow):
        # Run again it makes something else of it: what was sent first counts.
        pending = bench.kickoff(flow, "second", id="one")
        assert isinstance(pending, HumanFeedbackPending)
        bench.hold.set()
        outcome: Any = bench.heard.get(timeout=LONG)
        bench.woken.get(timeout=LONG)
    assert outcome["output"] == "echo first"
    assert bench.inputs == ["first"]
    assert bench.untaken() == []


def test_cut_off_before_it_paused_it_may_find_its_outcome_there(bench: Bench) -> None:
    flow = bench.flow()
    dying = KilledBeforeThePause(db_path=bench.store.db_path)
    with pytest.raises(KeyboardInterrupt):
        flow(persistence=dying).kickoff(inputs={"id": "one", "topic": "first"})
    handle = next(bench.sender.outcomes())
    assert handle.result(take=False) == "echo first"
    assert bench.kickoff(flow, "first", id="one") == "used"
    assert bench.heard.get(timeout=LONG)["handoff"] == handle.id
    assert bench.inputs == ["first"]
    assert bench.untaken() == []


def test_a_new_run_under_the_same_id_sends_anew(bench: Bench) -> None:
    flow = bench.flow()
    with bench.wake(flow):
        for topic in ("monday", "monday", "tuesday"):
            bench.kickoff(flow, topic, id="daily")
            assert bench.heard.get(timeout=LONG)["status"] == "completed"
            bench.woken.get(timeout=LONG)
    assert bench.inputs == ["monday", "monday", "tuesday"]


def test_a_listener_that_fails_is_run_again_with_the_same_state(bench: Bench) -> None:
    class Fragile(Flow[State]):
        @start()
        @handoff(bench.sender, bench.capability, timeout=LONG)
        def request(self) -> Any:
            return self.state.topic

        @listen(request)
        def use(self, result: Any) -> None:
            self.state.round += 1
            bench.heard.put(outcome_of(result))
            if bench.heard.qsize() == 1:
                # CrewAI has forgotten by now that the flow waited.
                assert bench.store.load_pending_feedback(self.flow_id) is None
                raise OSError("the disk is away")
            assert self.state.round == 1

    with bench.wake(Fragile, pause=0.05):
        bench.kickoff(Fragile, "x")
        assert bench.woken.get(timeout=LONG).how == "continued"
    assert bench.heard.get()["handoff"] == bench.heard.get()["handoff"]
    assert bench.untaken() == []


def test_what_fails_for_good_stays_at_the_relay_for_the_next_start(bench: Bench) -> None:
    is_mended = threading.Event()

    class Broken(Flow[State]):
        @start()
        @handoff(bench.sender, bench.capability, timeout=LONG)
        def request(self) -> Any:
            return self.state.topic

        @listen(request)
        def use(self, result: Any) -> None:
            if not is_mended.is_set():
                raise OSError("broken")
            bench.heard.put(outcome_of(result))

    errors: queue.Queue[BaseException] = queue.Queue()
    with bench.wake(Broken, attempts=2, pause=0.05, on_error=lambda error, *_: errors.put(error)):
        bench.kickoff(Broken, "x")
        assert isinstance(errors.get(timeout=LONG), OSError)
    assert len(bench.untaken()) == 1
    is_mended.set()
    with bench.wake(Broken):
        assert bench.woken.get(timeout=LONG).how == "continued"
    assert bench.heard.get()["status"] == "completed"
    assert bench.untaken() == []


def test_a_redrive_wakes_a_flow_that_waits_for_the_first_one(bench: Bench, relay: RelayProcess) -> None:
    flow = bench.flow()
    pending = bench.kickoff(flow, "fail once")
    first = bench.sender.handle(pending.callback_info["handoff"])
    assert first.outcome(take=False)["state"] == "failed"
    bench.redrive(relay, first.id)
    with bench.wake(flow):
        hows = {bench.woken.get(timeout=LONG).how for _ in range(2)}
    assert hows == {"redriven", "resumed"}
    assert bench.heard.get(timeout=LONG)["status"] == "completed"


def test_a_redrive_of_what_the_flow_was_told_long_ago_wakes_nobody(bench: Bench, relay: RelayProcess) -> None:
    flow = bench.flow()
    with bench.wake(flow):
        pending = bench.kickoff(flow, "fail once")
        assert bench.woken.get(timeout=LONG).how == "resumed"
        assert bench.heard.get(timeout=LONG)["status"] == "failed"
        bench.redrive(relay, pending.callback_info["handoff"])
        assert bench.woken.get(timeout=LONG).how == "not_waiting"
    assert bench.heard.empty()
    assert bench.untaken() == []


def test_two_that_wake_the_same_flows_resume_each_once(bench: Bench) -> None:
    flow = bench.flow()
    bench.hold.clear()
    ids = [bench.kickoff(flow, f"{n}").context.flow_id for n in range(3)]
    with bench.wake(flow), bench.wake(flow):
        bench.hold.set()
        hows = sorted(bench.woken.get(timeout=LONG).how for _ in range(6))
    assert hows == ["not_waiting"] * 3 + ["resumed"] * 3
    assert bench.heard.qsize() == len(ids)


def test_killed_between_waking_and_taking_it_is_not_woken_again(bench: Bench) -> None:
    flow = bench.flow()
    mark = _resume._Sleepers._mark

    def dies(self: Any, *call: Any) -> None:
        mark(self, *call)
        raise OSError("killed")

    with pytest.MonkeyPatch.context() as patched:
        # As a process that dies when the flow is awake, and before the relay knows that its outcome was taken.
        patched.setattr(_resume._Sleepers, "_mark", dies)
        errors: queue.Queue[Any] = queue.Queue()
        with bench.wake(flow, attempts=1, on_error=lambda *told: errors.put(told)):
            bench.kickoff(flow, "x")
            errors.get(timeout=LONG)
    assert len(bench.untaken()) == 1
    with bench.wake(flow):
        assert bench.woken.get(timeout=LONG).how == "not_waiting"
    assert bench.heard.qsize() == 1
    assert bench.untaken() == []


def test_an_outcome_for_a_flow_that_nobody_knows_is_left_and_told(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("handfast.crewai._resume.PAUSE_WITHIN_S", 0.2)
    flow = bench.flow()
    pending = bench.kickoff(flow, "x")
    bench.store.clear_pending_feedback(pending.context.flow_id)
    errors: queue.Queue[Any] = queue.Queue()
    with bench.wake(flow, attempts=1, on_error=lambda error, *_: errors.put(error)):
        error = errors.get(timeout=LONG)
    assert error.reason == "no_such_flow"
    assert pending.context.flow_id in error.message
    assert len(bench.untaken()) == 1


def _raised_or_returned(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except UsageError as error:
        return error


def test_two_handoffs_at_once_in_one_flow_are_refused(bench: Bench) -> None:
    class Both(Flow[State]):
        @start()
        @handoff(bench.sender, bench.capability, timeout=LONG)
        def one(self) -> str:
            return "one"

        @start()
        @handoff(bench.sender, bench.capability, timeout=LONG)
        def two(self) -> str:
            return "two"

    with pytest.warns(RuntimeWarning, match="CrewAI keeps only one pause"):
        returned = _raised_or_returned(lambda: bench.kickoff(Both, "x"))
    # Whichever was first: CrewAI drops what the other one raised.
    assert isinstance(returned, (UsageError, HumanFeedbackPending))


def test_what_cannot_work_is_said_at_once(bench: Bench) -> None:
    provider = HandoffProvider(bench.sender, bench.capability)

    class Emits(Flow[State]):
        @start()
        @human_feedback(message="-", emit=["yes", "no"], llm="none", provider=provider)
        def request(self) -> Any:
            return "x"

    class Forgetful(FlowPersistence):
        def init_db(self) -> None: ...
        def save_state(self, *_: Any, **__: Any) -> None: ...
        def load_state(self, flow_uuid: str) -> None: ...

    with pytest.raises(UsageError, match="emit="):
        bench.kickoff(Emits, "x")
    with pytest.raises(UsageError, match="Forgetful cannot keep a flow that pauses"):
        bench.flow()(persistence=Forgetful()).kickoff()
    with pytest.raises(UsageError, match="no target"):
        HandoffProvider(bench.sender)
    assert bench.inputs == []


async def test_an_async_client_sends_and_wakes_on_its_own_loop(
    bench: Bench, agent: Callable[..., Any], name: Name
) -> None:
    hf: AsyncClient = await agent("sender")
    heard: asyncio.Queue[Any] = asyncio.Queue()

    class Ask(Flow[State]):
        @start()
        @handoff(hf, bench.capability, timeout=LONG)
        async def request(self) -> Any:
            return self.state.topic

        @listen(request)
        async def use(self, result: Any) -> None:
            heard.put_nowait(outcome_of(result))

    async with resume_outcomes(hf, Ask, persistence=bench.store, on_woken=bench.woken.put):
        pending = await Ask(persistence=bench.store).kickoff_async(inputs={"topic": "async"})
        assert isinstance(pending, HumanFeedbackPending)
        outcome = await asyncio.wait_for(heard.get(), LONG)
    assert outcome["output"] == "echo async"
    assert bench.woken.get_nowait().how == "resumed"
