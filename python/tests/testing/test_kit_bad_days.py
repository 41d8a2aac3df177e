"""The bad days of agents as plain tests, with the synchronous client."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
import time
from datetime import timedelta
from typing import Any

import pytest

from handfast import Client, Context, HandoffError, RelayUnreachable, SyncServer, UsageError, WaitOver
from handfast.testing import TestRelay, _standstill, crash, fail, hang, reject


def types_of(relay: TestRelay, handoff: Any) -> list[str]:
    return [event["type"] for event in relay.events_of(handoff)]


def test_a_good_day_the_fake_answers_and_no_time_passes(relay: TestRelay) -> None:
    alice = relay.connect("alice")
    worker = relay.fake("research", lambda input: {"summary": f"all about {input['query']}"})
    began = relay.now()
    handle = alice.send("research", {"query": "fsync"})
    assert handle.result() == {"summary": "all about fsync"}
    assert [received.input for received in worker.received] == [{"query": "fsync"}]
    assert relay.now() == began
    assert types_of(relay, handle) == ["accepted", "delivered", "acknowledged", "completed", "taken"]


class TestTime:
    def test_a_deadline_of_15_minutes_passes_in_15_virtual_minutes_and_not_before(self, relay: TestRelay) -> None:
        alice = relay.connect("alice")
        relay.fake("research", hang)
        handle = alice.send("research", {}, timeout="15m", attempt="1h")
        relay.advance("14m")
        assert relay.handoff(handle)["state"] == "working"
        relay.advance("1m")
        with pytest.raises(HandoffError) as told:
            handle.result()
        assert (told.value.code, told.value.name, told.value.handoff) == (408, "deadline_passed", handle.id)
        assert [(letter["id"], letter["code"]) for letter in relay.dead_letters()] == [(handle.id, 408)]

    def test_a_handler_that_hangs_but_beats_is_ended_by_the_attempt_clock(self, relay: TestRelay) -> None:
        alice = relay.connect("alice")
        relay.fake("research", [hang, "second try"])
        handle = alice.send("research", {}, attempt="1m")
        assert relay.until(handle.result) == "second try"
        view = relay.handoff(handle)
        assert view["attempts"] == 2
        assert [failure["fence"] for failure in view["failures"]] == [1]

    def test_nobody_offers_it_in_time(self, relay: TestRelay) -> None:
        alice = relay.connect("alice")
        handle = alice.send("research", {}, queue_if_absent=True, queue="5m")
        with pytest.raises(HandoffError) as told:
            relay.until(handle.result)
        assert told.value.code == 503

    def test_a_handler_that_takes_its_time_gets_it(self, relay: TestRelay) -> None:
        alice = relay.connect("alice")

        def slow(_input: Any) -> str:
            relay.sleep("2m")
            return "done"

        relay.fake("research", slow)
        began = relay.now()
        handle = alice.send("research", {})
        assert relay.until(handle.result) == "done"
        assert relay.now() - began == timedelta(minutes=2)

    def test_a_retry_waits_for_its_backoff_and_for_as_long_as_the_worker_asked(self, relay: TestRelay) -> None:
        alice = relay.connect("alice")
        worker = relay.fake("research", [fail("busy"), fail("still busy", after="2m"), {"found": 1}])
        handle = alice.send("research", {})
        relay.settle()
        assert len(worker.received) == 1
        relay.advance("1m")
        assert len(worker.received) == 2
        relay.advance("1m")
        assert len(worker.received) == 2
        assert relay.until(handle.result) == {"found": 1}
        assert [each["error"]["message"] for each in relay.handoff(handle)["failures"]] == ["busy", "still busy"]

    def test_a_healthy_worker_keeps_its_lease_over_an_hour(self, relay: TestRelay) -> None:
        alice = relay.connect("alice")
        worker = relay.fake("research", hang)
        handle = alice.send("research", {}, timeout="2h", attempt="2h")
        relay.advance("1h")
        view = relay.handoff(handle)
        assert (view["state"], view["fence"]) == ("working", 1)
        assert len(worker.received) == 1


class TestWorkers:
    def test_one_that_crashes_loses_its_lease_after_its_time_and_another_attempt_is_made(
        self, relay: TestRelay
    ) -> None:
        alice = relay.connect("alice")
        worker = relay.fake("research", [hang, "done"])
        handle = alice.send("research", {})
        handle.acknowledged()
        relay.crash(worker)
        assert not worker.is_running
        relay.advance("29s")
        assert relay.handoff(handle)["state"] == "working"
        relay.advance("1s")
        assert relay.handoff(handle)["state"] == "queued"
        worker.restart()
        assert relay.until(handle.result) == "done"
        assert [received.attempt for received in worker.received] == [1, 2]

    def test_after_a_crash_the_next_attempt_goes_on_from_the_checkpoint(self, relay: TestRelay) -> None:
        alice = relay.connect("alice")

        def first(_input: Any, ctx: Context) -> Any:
            ctx.checkpoint({"page": 3})
            return crash

        def second(_input: Any, ctx: Context) -> Any:
            return {"resumed_from": ctx.previous.checkpoint, "attempt": ctx.attempt}

        relay.fake("research", [first, second])
        handle = alice.send("research", {})
        assert relay.until(handle.result) == {"resumed_from": {"page": 3}, "attempt": 2}

    def test_every_attempt_crashes_it_ends_as_a_dead_letter_and_a_redrive_gives_it_another_life(
        self, relay: TestRelay
    ) -> None:
        alice = relay.connect("alice")
        is_broken = True
        relay.fake("research", lambda _input: crash if is_broken else {"found": 1})
        handle = alice.send("research", {"query": "fsync"})
        with pytest.raises(HandoffError) as told:
            relay.until(handle.result)
        assert told.value.code == 521
        assert len(relay.dead_letters()) == 1
        is_broken = False
        again = relay.redrive(handle)
        assert relay.until(alice.handle(again).result) == {"found": 1}
        assert relay.dead_letters() == []

    def test_a_failure_that_no_retry_mends_ends_it_at_once(self, relay: TestRelay) -> None:
        alice = relay.connect("alice")
        worker = relay.fake("research", fail("no such topic", retryable=False, reason="unknown_topic"))
        handle = alice.send("research", {})
        with pytest.raises(HandoffError) as told:
            handle.result()
        assert (told.value.code, told.value.reason) == (500, "unknown_topic")
        assert len(worker.received) == 1

    def test_what_an_agent_rejects_is_left_to_another_and_where_there_is_none_it_ends(self, relay: TestRelay) -> None:
        alice = relay.connect("alice")
        relay.fake("research", reject("not my field"), agent="picky").ready()
        handle = alice.send("research", {}, attempts=1)
        relay.settle()
        relay.fake("research", lambda _input: "anything goes", agent="easy")
        other = alice.send("research", {}, attempts=1)
        with pytest.raises(HandoffError) as told:
            handle.result()
        assert told.value.code == 501
        assert relay.until(other.result) == "anything goes"

    def test_one_that_is_cut_off_for_longer_than_its_lease_comes_too_late_and_its_outcome_is_kept(
        self, relay: TestRelay
    ) -> None:
        alice = relay.connect("alice")

        def late(_input: Any) -> str:
            relay.sleep("1m")
            return "too late"

        slow = relay.fake("research", late)
        handle = alice.send("research", {}, attempts=2)
        handle.acknowledged()
        relay.disconnect(slow)
        relay.advance("31s")
        quick = relay.fake("research", lambda _input: "in time", agent="quick")
        assert relay.until(handle.result) == "in time"
        assert len(quick.received) == 1
        relay.reconnect(slow)
        relay.advance("1m")
        view: Any = relay.handoff(handle)
        assert (view["outcome"]["agent"], view["outcome"]["output"]) == ("quick", "in time")
        assert [(each["state"], each["outcome"]["output"]) for each in view["late"]] == [("completed", "too late")]

    def test_my_own_agent_can_crash_too(self, relay: TestRelay) -> None:
        alice = relay.connect("alice")
        mine = relay.connect("mine")
        inputs: list[str] = []
        handler_before = signal.getsignal(signal.SIGTERM)

        def shout(input: str, ctx: Context) -> str:
            inputs.append(input)
            if ctx.attempt == 1:
                ctx.signal.wait()
            return input.upper()

        def serve(client: Client) -> SyncServer:
            return client.serve({"shout": shout})

        serve(mine)
        handle = alice.send("shout", "hello")
        handle.acknowledged()
        relay.crash(mine)
        serve(relay.connect("mine"))
        assert relay.until(handle.result) == "HELLO"
        assert inputs == ["hello", "hello"]
        relay.stop()
        assert signal.getsignal(signal.SIGTERM) == handler_before


class TestQuestions:
    def test_a_parked_question_holds_no_worker_and_its_answer_brings_the_handoff_back(self, relay: TestRelay) -> None:
        alice = relay.connect("alice")

        def trip(_input: Any, ctx: Context) -> Any:
            return {"booked": ctx.ask("Which day?", park=True)}

        worker = relay.fake("trip", trip)
        handle = alice.send("trip", {"to": "Oslo"})
        relay.settle()
        view: Any = relay.handoff(handle)
        assert (view["state"], view["lease"], view["question"]["parked"]) == ("waiting", None, True)
        relay.advance("5m")
        for question in alice.questions(follow=False):
            alice.answer(question, "Monday")
        assert relay.until(handle.result) == {"booked": "Monday"}
        assert len(worker.received) == 2

    def test_a_parked_question_that_nobody_answers_in_time_ends_the_handoff(self, relay: TestRelay) -> None:
        alice = relay.connect("alice")
        relay.fake("trip", lambda _input, ctx: ctx.ask("Which day?", park=True, within="2m"))
        handle = alice.send("trip", {})
        relay.advance("119s")
        assert relay.handoff(handle)["state"] == "waiting"
        relay.advance("1s")
        with pytest.raises(HandoffError):
            handle.result()


class TestTheNetworkAndTheRelay:
    @pytest.fixture
    def research(self, relay: TestRelay) -> Any:
        def slow(_input: Any) -> str:
            relay.sleep("1m")
            return "done"

        return relay.fake("research", slow)

    def test_a_sender_that_was_cut_off_finds_its_outcome_when_it_is_back(self, relay: TestRelay, research: Any) -> None:
        alice = relay.connect("alice")
        handle = alice.send("research", {})
        relay.disconnect(alice)
        relay.advance("2m")
        assert relay.handoff(handle)["state"] == "completed"
        relay.reconnect(alice)
        assert relay.until(handle.result) == "done"

    def test_a_network_that_is_silent_is_found_out_without_anybody_being_told(
        self, relay: TestRelay, research: Any
    ) -> None:
        alice = relay.connect("alice")
        handle = alice.send("research", {})
        relay.settle()
        relay.disconnect(alice, silently=True)
        relay.advance("5m")
        relay.reconnect(alice)
        assert relay.until(handle.result) == "done"

    def test_a_worker_that_is_silent_for_longer_than_its_lease_loses_it(self, relay: TestRelay) -> None:
        alice = relay.connect("alice")
        worker = relay.fake("research", [hang, "done"])
        handle = alice.send("research", {})
        handle.acknowledged()
        relay.disconnect(worker, silently=True)
        relay.advance("31s")
        assert "requeued" in types_of(relay, handle)
        relay.reconnect(worker)
        assert relay.until(handle.result) == "done"
        assert [received.attempt for received in worker.received] == [1, 2]

    def test_who_is_cut_off_for_longer_than_its_patience_is_told(self, relay: TestRelay) -> None:
        alice = relay.connect("alice", patience="20s")
        relay.fake("research", lambda _input: "done")
        relay.settle()
        relay.disconnect(alice)
        with pytest.raises(RelayUnreachable):
            relay.until(lambda: alice.send("research", {}))

    def test_a_slow_network_is_only_slow(self, relay: TestRelay) -> None:
        alice = relay.connect("alice")
        relay.fake("research", lambda _input: "done")
        relay.delay(alice, "3s")
        began = relay.now()
        assert relay.until(lambda: alice.send("research", {}).result()) == "done"
        assert relay.now() - began >= timedelta(seconds=6)

    def test_the_relay_restarts_in_the_middle_of_the_work_and_the_worker_finishes_under_the_same_fence(
        self, relay: TestRelay, research: Any
    ) -> None:
        alice = relay.connect("alice")
        handle = alice.send("research", {})
        handle.acknowledged()
        relay.restart(down="10s")
        assert relay.until(handle.result) == "done"
        assert len(research.received) == 1
        view = relay.handoff(handle)
        assert (view["fence"], view["attempts"]) == (1, 1)

    def test_the_relay_comes_back_empty_and_its_agents_make_themselves_known_again(self, relay: TestRelay) -> None:
        alice = relay.connect("alice")
        relay.fake("research", lambda _input: "done")
        alice.send("research", {}).result()
        relay.restart_empty(down="1m")
        assert relay.events() == []
        handle = relay.until(lambda: alice.send("research", {}))
        assert relay.until(handle.result) == "done"


class TestATestThatOnlyTimeCouldHelp:
    """It blocks, and nobody but it could let time pass."""

    @pytest.fixture(autouse=True)
    def _soon(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(_standstill, "STANDS_S", 0.3)

    def test_is_told_so_and_goes_on(self, relay: TestRelay) -> None:
        alice = relay.connect("alice")
        relay.fake("research", hang)
        handle = alice.send("research", {})
        for wait in (lambda: handle.result(timeout=2), handle.result, lambda: next(alice.questions())):
            with pytest.raises(UsageError, match="nobody lets time pass") as told:
                wait()
            assert "relay.until(handle.result)" in told.value.remedy
        with pytest.raises(WaitOver):
            relay.until(lambda: handle.result(timeout=2))

    def test_waits_for_what_is_real_as_long_as_that_takes(self, relay: TestRelay) -> None:
        alice = relay.connect("alice")

        async def in_a_thread(_: Any) -> str:
            await asyncio.to_thread(time.sleep, 1.5)
            return "done"

        async def by_a_timer(_: Any) -> str:
            await asyncio.sleep(1.5)
            return "done"

        async def over_a_socket(_: Any) -> str:
            ours, theirs = socket.socketpair()
            threading.Timer(1.5, theirs.send, [b"done"]).start()
            reader, writer = await asyncio.open_connection(sock=ours)
            said = await reader.readexactly(4)
            writer.close()
            theirs.close()
            return said.decode()

        def blocking(_: Any) -> str:
            time.sleep(1.5)
            return "done"

        for number, handler in enumerate((in_a_thread, by_a_timer, over_a_socket, blocking)):
            relay.fake(f"slow-{number}", handler)
            assert alice.send(f"slow-{number}", {}).result() == "done"

    def test_waits_for_programs_that_it_gave_the_real_address_to(self, relay: TestRelay) -> None:
        handle = relay.connect("alice").send("far", {}, queue_if_absent=True)

        def call_off(url: str, token: str) -> None:
            time.sleep(1.5)
            with Client(url=url, token=token) as operator:
                operator.handle(handle.id).cancel()

        outside = threading.Thread(target=call_off, args=(relay.url, relay.operator_token))
        outside.start()
        with pytest.raises(HandoffError) as told:
            handle.result()
        outside.join()
        assert told.value.code == 410
