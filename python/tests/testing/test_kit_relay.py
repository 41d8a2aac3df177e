"""The test relay itself, as async tests use it: its clock, its fakes, its clients, its end."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from handfast import AsyncClient, AsyncContext, Context, HandoffError, UsageError, connect
from handfast.testing import AsyncTestRelay, TestRelay, crash, fail, hang


class TestTime:
    async def test_begins_when_it_is_told_to_and_stands_still_by_itself(self) -> None:
        start = datetime(2030, 5, 1, 12, tzinfo=timezone.utc)
        async with AsyncTestRelay(start_at=start) as other:
            await other.settle()
            assert other.now() == start

    async def test_passes_as_far_as_it_was_told_in_any_unit(self, relay: AsyncTestRelay) -> None:
        began = relay.now()
        await relay.advance("1h")
        await relay.advance(0.25)
        await relay.advance(timedelta(days=7))
        assert relay.now() - began == timedelta(days=7, hours=1, milliseconds=250)
        with pytest.raises(UsageError, match="not a duration"):
            await relay.advance("soon")

    async def test_passes_once_for_each_who_asks_one_after_the_other(self, relay: AsyncTestRelay) -> None:
        began = relay.now()
        await asyncio.gather(relay.advance("1m"), relay.advance("2m"))
        assert relay.now() - began == timedelta(minutes=3)

    async def test_until_gives_up_with_what_to_do_about_it(self, relay: AsyncTestRelay) -> None:
        with pytest.raises(UsageError, match="within 10m of virtual time") as told:
            await relay.until(asyncio.Event().wait(), within="10m")
        assert told.value.reason == "never_happened"
        assert "relay.events()" in told.value.remedy

    async def test_until_needs_no_time_for_what_has_happened_and_raises_what_it_raises(
        self, relay: AsyncTestRelay
    ) -> None:
        async def seven() -> int:
            return 7

        async def mine() -> None:
            raise ValueError("mine")

        began = relay.now()
        assert await relay.until(seven()) == 7
        with pytest.raises(ValueError, match="mine"):
            await relay.until(mine())
        assert relay.now() == began

    async def test_sleeps_for_whoever_waits_for_it(self, relay: AsyncTestRelay) -> None:
        began = relay.now()
        woke: list[timedelta] = []

        async def sleeper(duration: str) -> None:
            await relay.sleep(duration)
            woke.append(relay.now() - began)

        sleepers = [asyncio.create_task(sleeper(duration)) for duration in ("3s", "1s", "2s")]
        await relay.advance("2s")
        assert woke == [timedelta(seconds=1), timedelta(seconds=2)]
        await relay.advance("1s")
        await asyncio.gather(*sleepers)

    def test_a_plain_test_lets_time_pass_by_what_it_calls(self) -> None:
        with TestRelay() as relay:
            began = relay.now()
            with pytest.raises(UsageError, match=r"relay\.advance"):
                relay.sleep("1s")
            with pytest.raises(UsageError, match="without calling it"):
                relay.until("done")  # type: ignore[arg-type]
            relay.until(lambda: relay.sleep("2m"))

            async def awaited(_input: Any) -> None:
                relay.sleep("1m")

            relay.fake("awaited", awaited)
            handle = relay.connect("alice").send("awaited", {}, attempts=1)
            with pytest.raises(HandoffError, match="would block"):
                handle.result()
            assert relay.now() - began == timedelta(minutes=2)
            with pytest.raises(UsageError, match="within 5m of virtual time"):
                relay.until(lambda: relay.sleep("10m"), within="5m")


async def story(seed: int) -> str:
    async with AsyncTestRelay(seed=seed) as relay:
        alice, bob = await relay.connect("alice"), await relay.connect("bob")
        relay.fake("research", [fail("busy"), crash, {"found": 1}])

        async def shout(input: str, ctx: AsyncContext) -> str:
            await ctx.checkpoint({"input": input})
            return input.upper()

        relay.fake("shout", shout)
        sent = await asyncio.gather(
            alice.send("research", {"n": 1}),
            bob.send("shout", "a"),
            bob.send("research", {"n": 2}),
            alice.send("shout", "b"),
        )
        await relay.until(asyncio.gather(*(handle.result() for handle in sent)))
        return json.dumps(await relay.events())


async def test_every_run_is_the_same_with_the_same_seed_and_differs_with_another() -> None:
    """To the last id, salt and millisecond."""
    first = await story(7)
    assert await story(7) == first
    assert await story(8) != first


class TestFakes:
    async def test_are_there_before_anything_that_is_sent_after_them_though_nobody_awaited_them(
        self, relay: AsyncTestRelay
    ) -> None:
        alice = await relay.connect("alice")

        async def ask(capability: str) -> Any:
            return await (await alice.send(capability, {})).result()

        asked = []
        for capability in ("one", "two", "three"):
            relay.fake(capability, [capability])
            asked.append(asyncio.create_task(ask(capability)))
        assert await asyncio.gather(*asked) == ["one", "two", "three"]

    async def test_go_on_with_the_last_step_of_their_script(self, relay: AsyncTestRelay) -> None:
        alice = await relay.connect("alice")
        relay.fake("count", [fail("first"), "then"])
        for _ in range(2):
            handle = await alice.send("count", {})
            assert await relay.until(handle.result()) == "then"

    async def test_take_handlers_of_any_form(self, relay: AsyncTestRelay) -> None:
        alice = await relay.connect("alice")
        threads: list[str] = []

        def plain(_input: Any, ctx: Context) -> str:
            threads.append(threading.current_thread().name)
            ctx.checkpoint({"at": "plain"})
            return "plain"

        async def awaited(_input: Any, ctx: AsyncContext) -> str:
            await ctx.checkpoint({"at": "awaited"})
            return "awaited"

        handlers: dict[str, Any] = {"plain": plain, "awaited": awaited, "nothing": lambda: "nothing"}
        for capability, handler in handlers.items():
            relay.fake(capability, handler)
            assert await (await alice.send(capability, {})).result() == capability
        assert threads != [threading.current_thread().name]

    async def test_get_what_their_types_say(self, relay: AsyncTestRelay) -> None:
        alice = await relay.connect("alice")
        relay.fake("double", double)
        assert await (await alice.send("double", 21)).result() == 42
        with pytest.raises(HandoffError) as told:
            await alice.send("double", {"no": "number"})
        assert told.value.code == 422

    async def test_say_what_is_wrong_with_them_where_somebody_waits(self, relay: AsyncTestRelay) -> None:
        relay.fake("research", lambda _input: 1, input=object())
        with pytest.raises(UsageError, match="input of research"):
            await relay.advance("1s")

    async def test_need_a_handler_or_a_script(self, relay: AsyncTestRelay) -> None:
        nothings: list[Any] = [[], "text", None]
        for nothing in nothings:
            with pytest.raises(UsageError, match="neither a handler nor a script"):
                relay.fake("research", nothing)

    async def test_of_one_agent_are_its_workers(self, relay: AsyncTestRelay) -> None:
        alice = await relay.connect("alice")
        one, two = (relay.fake("research", hang, agent="pair", concurrency=1) for _ in range(2))
        await alice.send("research", {"n": 1})
        await alice.send("research", {"n": 2})
        await relay.settle()
        assert [len(one.received), len(two.received)] == [1, 1]

    async def test_are_named_after_their_capability_and_may_be_spoken_of_by_that_name(
        self, relay: AsyncTestRelay
    ) -> None:
        first, second, other = (relay.fake(name, hang) for name in ("research", "research", "shout"))
        assert [first.agent, second.agent, other.agent] == ["research-1", "research-2", "shout-1"]
        await relay.crash("research-2")
        assert [first.is_running, second.is_running] == [True, False]
        await second.restart()
        assert second.is_running

    async def test_that_stop_in_order_give_back_what_they_cannot_finish(self, relay: AsyncTestRelay) -> None:
        alice = await relay.connect("alice")
        is_stuck = True

        async def work(input: Any) -> str:
            if is_stuck:
                await hang(input)
            return "done"

        worker = relay.fake("research", work)
        handle = await alice.send("research", {})
        await handle.acknowledged()
        await relay.until(worker.stop())
        view = await relay.handoff(handle)
        assert (view["state"], view["attempts"]) == ("queued", 0)
        is_stuck = False
        await worker.restart()
        assert await handle.result() == "done"


def double(number: int) -> int:
    return number * 2


class TestClients:
    async def test_of_code_that_connects_by_itself_live_in_the_same_time(self, relay: AsyncTestRelay) -> None:
        relay.fake("research", ["done"])
        async with connect(**relay.connect_options("mine")) as mine:
            assert await (await mine.send("research", {})).result() == "done"
            relay.disconnect("mine")
            sending = asyncio.create_task(relay.until(mine.send("research", {})))
            await relay.reconnect("mine")
            assert await (await sending).result() == "done"

    async def test_with_the_operators_token_see_everything(self, relay: AsyncTestRelay) -> None:
        alice = await relay.connect("alice")
        relay.fake("research", fail("no", retryable=False))
        handle = await alice.send("research", {})
        with pytest.raises(HandoffError, match="no"):
            await handle.result()
        operator = await relay.connect("operator", token=relay.operator_token)
        letters = (await operator.call("dead_letters"))["dead_letters"]
        assert [letter["id"] for letter in letters] == [handle.id]

    async def test_of_other_relays_are_refused_by_name(self, relay: AsyncTestRelay) -> None:
        async with AsyncTestRelay() as other:
            stranger = await other.connect("stranger")
            with pytest.raises(UsageError, match="not one of this test relay"):
                relay.disconnect(stranger)
            with pytest.raises(UsageError, match="No agent nobody is connected yet"):
                relay.disconnect("nobody")

    async def test_follow_events_as_they_come(self, relay: AsyncTestRelay) -> None:
        """Over a stream that stays open: what comes over it at one moment is there before the next."""
        alice = await relay.connect("alice")

        async def slow(_input: Any, ctx: AsyncContext) -> str:
            for page in range(3):
                await ctx.write(f"page {page}\n")
                await relay.sleep("20s")
            return "done"

        relay.fake("research", slow)
        handle = await alice.send("research", {})
        seen: list[tuple[int, str]] = []
        began = relay.now()

        async def follow() -> None:
            async for chunk in handle.chunks():
                seen.append(((relay.now() - began).seconds, str(chunk)))

        following = asyncio.create_task(follow())
        assert await relay.until(handle.result()) == "done"
        await relay.until(following)
        assert [at for at, _ in seen] == [0, 20, 40]

    async def test_that_beat_together_keep_every_lease(self, relay: AsyncTestRelay) -> None:
        alice = await relay.connect("alice")
        workers = [relay.fake("research", hang, agent=f"worker-{number}", concurrency=2) for number in range(3)]
        sent = [await alice.send("research", {}, timeout="2h", attempt="2h") for _ in range(5)]
        await relay.advance("5m")
        assert {(await relay.handoff(handle))["fence"] for handle in sent} == {1}
        assert sum(len(worker.received) for worker in workers) == 5


class TestTheEnd:
    def test_clients_that_the_test_made_itself_and_never_closed_keep_nobody(self, tmp_path: Path) -> None:
        script = tmp_path / "program.py"
        script.write_text(
            "from handfast import Client\n"
            "from handfast.testing import TestRelay\n"
            "with TestRelay() as relay:\n"
            "    mine = Client(**relay.connect_options('mine'))\n"
            "    mine.serve({'shout': lambda text, ctx: ctx.signal.wait()}, signals=False)\n"
            "    handle = Client(**relay.connect_options('other')).send('shout', 'hello')\n"
            "    handle.acknowledged()\n"
            "    relay.advance('1m')\n"
            "print('stopped')\n"
        )
        ended = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=50, check=False)
        assert (ended.returncode, ended.stdout) == (0, "stopped\n"), ended.stderr

    async def test_a_relay_of_another_event_loop_says_so(self, relay: AsyncTestRelay) -> None:
        await relay.settle()
        with pytest.raises(UsageError, match="another event loop"):
            await asyncio.to_thread(asyncio.run, relay.advance("1s"))

    async def test_a_relay_that_was_stopped_says_so_to_whoever_comes_after(self) -> None:
        relay = AsyncTestRelay()
        await relay.stop()
        with pytest.raises(UsageError) as told:
            await relay.connect("late")
        assert told.value.reason == "stopped"
        with pytest.raises(UsageError, match="was stopped"):
            await relay.advance("1s")
        plain = TestRelay()
        plain.stop()
        plain.stop()
        with pytest.raises(UsageError, match="was stopped"):
            plain.connect("late")

    async def test_a_handler_that_is_still_running_is_told_when_the_relay_stops(self) -> None:
        reasons: list[str] = []

        async def research(_input: Any, ctx: AsyncContext) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                reasons.append(getattr(ctx.signal.reason, "reason", ""))

        relay = AsyncTestRelay()
        alice = await relay.connect("alice")
        relay.fake("research", research)
        await (await alice.send("research", {})).acknowledged()
        await relay.stop()
        await relay.stop()
        assert reasons == ["worker_stopping"]

    async def test_nothing_of_one_test_is_there_in_the_next(self) -> None:
        async with AsyncTestRelay() as first:
            handle = await send_one(first, await first.connect("alice"))
        async with AsyncTestRelay() as second:
            assert await second.events() == []
            with pytest.raises(UsageError):
                await second.handoff(handle)

    def test_threads_and_loops_end_with_it(self) -> None:
        before = set(threading.enumerate())
        with TestRelay() as relay:
            alice = relay.connect("alice")
            relay.fake("research", hang)
            relay.connect("bob").serve({"shout": lambda text: text.upper()})
            alice.send("research", {}).acknowledged()
            assert alice.send("shout", "a").result() == "A"
            relay.advance("1m")
        for thread in set(threading.enumerate()) - before:
            thread.join(5)
        assert {thread.name for thread in set(threading.enumerate()) - before} == set()


async def send_one(relay: AsyncTestRelay, alice: AsyncClient) -> str:
    relay.fake("research", ["done"])
    handle = await alice.send("research", {})
    await handle.result()
    return handle.id
