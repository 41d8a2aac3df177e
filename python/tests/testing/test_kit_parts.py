"""What the kit is made of: the clock, the threads it waits for, where it finds the relay."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from handfast import Context, UsageError
from handfast.testing import AsyncTestRelay, TestRelay
from handfast.testing._clock import VirtualClock
from handfast.testing._command import find_command
from handfast.testing._process import acquire, release


class TestTheClock:
    @staticmethod
    def set_out(clock: VirtualClock) -> list[str]:
        fired: list[str] = []
        for name, ms in {"late": 300, "early": 100, "middle": 200, "middle too": 200}.items():
            clock.after(ms, lambda name=name: fired.append(f"{name} at {clock.now()}"))  # type: ignore[misc]
        return fired

    def test_timers_go_off_at_their_own_moments_those_of_one_moment_as_they_were_set(self) -> None:
        clock = VirtualClock(1_000)
        fired = self.set_out(clock)
        while clock.fire_next(2_000):
            pass
        assert fired == ["early at 1100", "middle at 1200", "middle too at 1200", "late at 1300"]

    def test_a_timer_beyond_the_given_moment_stays_and_the_clock_stays_before_it(self) -> None:
        clock = VirtualClock(1_000)
        fired = self.set_out(clock)
        while clock.fire_next(1_150):
            pass
        assert fired == ["early at 1100"]
        assert (clock.now(), clock.next_at()) == (1_100, 1_200)

    def test_a_timer_that_was_called_off_does_not_go_off(self) -> None:
        clock = VirtualClock(0)
        fired: list[str] = []
        call_off = clock.after(10, lambda: fired.append("called off"))
        call_off()
        assert clock.next_at() is None
        assert not clock.fire_next(1_000)
        assert fired == []

    def test_time_never_goes_back_and_its_milliseconds_are_whole(self) -> None:
        clock = VirtualClock(500)
        clock.move_to(100)
        assert clock.now() == 500
        clock.after(0.4, lambda: None)
        clock.fire_next(1_000)
        assert clock.now() == 501
        # As seconds these are a little more than they were.
        clock.after(0.1 * 3 * 1_000, lambda: None)
        assert clock.next_at() == 801


class TestThreadsAtWork:
    def test_a_handler_that_computes_is_waited_for(self, relay: TestRelay) -> None:
        alice = relay.connect("alice")

        def compute(_input: Any) -> int:
            until = time.monotonic() + 0.2
            steps = 0
            while time.monotonic() < until:
                steps += 1
            return steps

        relay.fake("compute", compute)
        handle = alice.send("compute", {})
        relay.advance("1m")
        view = relay.handoff(handle)
        assert view["state"] == "completed"
        assert view["ended_at"] == view["accepted_at"]

    def test_one_that_waits_for_something_real_is_left_behind_by_time(self, relay: TestRelay) -> None:
        alice = relay.connect("alice")
        release_it = threading.Event()

        def stuck(_input: Any) -> str:
            release_it.wait()
            return "done"

        worker = relay.fake("stuck", stuck)
        handle = alice.send("stuck", {}, timeout="1h", attempt="1h")
        relay.advance("20m")
        assert relay.handoff(handle)["state"] == "working"
        assert len(worker.received) == 1
        release_it.set()
        assert handle.result() == "done"

    def test_many_that_wait_for_virtual_time_hold_up_nothing(self, relay: TestRelay) -> None:
        alice = relay.connect("alice")

        def slow(number: int, ctx: Context) -> int:
            ctx.checkpoint(number)
            relay.sleep(f"{number}m")
            return number

        relay.fake("slow", slow)
        sent = [alice.send("slow", number, timeout="1h", attempt="1h") for number in range(1, 8)]
        relay.advance("4m")
        assert [relay.handoff(handle)["state"] for handle in sent] == ["completed"] * 4 + ["working"] * 3
        assert relay.until(lambda: [handle.result() for handle in sent]) == list(range(1, 8))

    async def test_what_goes_on_for_ever_without_time_is_told(
        self, relay: AsyncTestRelay, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("handfast.testing._time.LONGEST_REST_S", 0.3)

        async def spin() -> None:
            while True:
                await asyncio.sleep(0)
                relay._world.clock.after(1, lambda: None)

        spinning = asyncio.create_task(spin())
        with pytest.raises(UsageError, match="did not come to rest") as told:
            await relay.settle()
        assert told.value.reason == "never_rests"
        spinning.cancel()


class TestTheCommand:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        place = tmp_path / "project" / "deep"
        place.mkdir(parents=True)
        return place

    @staticmethod
    def put(path: Path) -> str:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
        return str(path)

    def test_is_what_was_configured_then_the_variable_then_on_path_then_of_the_nearest_node_modules(
        self, folder: Path, tmp_path: Path
    ) -> None:
        near = self.put(folder.parent / "node_modules/.bin/handfast")
        on_path = self.put(tmp_path / "bin/handfast")
        env = {"HANDFAST_COMMAND": "node 'a b.js'", "PATH": str(tmp_path / "bin")}
        assert find_command("mine --now", env=env, folder=folder).words == ("mine", "--now")
        assert find_command(env=env, folder=folder).words == ("node", "a b.js")
        assert find_command(env={"PATH": env["PATH"]}, folder=folder).words == (on_path,)
        found = find_command(env={"PATH": ""}, folder=folder)
        assert found.words == (near,)

    def test_finds_the_node_that_was_installed_beside_it_before_the_system_s(
        self, folder: Path, tmp_path: Path
    ) -> None:
        near = self.put(folder.parent / "node_modules/.bin/handfast")
        on_path = self.put(tmp_path / "bin/handfast")
        old = f"/old/node/bin{os.pathsep}{tmp_path / 'bin'}"
        for command, own in (
            (find_command(f"{near} --quiet", env={"PATH": old}), near),
            (find_command(env={"PATH": old, "HANDFAST_COMMAND": near}), near),
            (find_command(env={"PATH": old}), on_path),
            (find_command(env={"PATH": ""}, folder=folder), near),
        ):
            assert command.environment()["PATH"].split(os.pathsep)[0] == str(Path(own).parent)

    def test_that_is_nowhere_is_told_with_what_to_do(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="was not found") as told:
            find_command(env={"PATH": ""}, folder=tmp_path)
        assert told.value.reason == "no_command"
        assert "npm install --save-dev handfast" in told.value.remedy
        assert "HANDFAST_COMMAND" in told.value.remedy

    def test_that_is_another_program_is_told_with_what_it_said(self, tmp_path: Path) -> None:
        for script, said in {
            "echo usage: something else": "usage: something else",
            "echo handfast needs Node 24 >&2; exit 78": "handfast needs Node 24",
            "exit 3": "it said nothing",
        }.items():
            program = tmp_path / "handfast"
            program.write_text(f"#!/bin/sh\n{script}\n")
            program.chmod(0o755)
            with pytest.raises(UsageError, match=said):
                TestRelay(command=str(program))
        with pytest.raises(UsageError, match="cannot be started"):
            TestRelay(command=str(tmp_path / "nothing-there"))


class TestTheProcess:
    def test_is_used_again_and_two_at_a_time_are_two(self) -> None:
        command = find_command()
        first, _ = acquire(command, 1, 0)
        second, _ = acquire(command, 1, 0)
        assert first.pid != second.pid
        release(first)
        third, beginning = acquire(command, 2, 5_000)
        assert (third.pid, beginning["now"]) == (first.pid, 5_000)
        release(second)
        release(third)

    def test_that_died_is_not_used_again_and_says_so_to_who_has_it(self) -> None:
        process, _ = acquire(find_command(), 1, 0)
        os.kill(process.pid, 9)
        with pytest.raises(UsageError, match="does not answer"):
            process.ask({"do": "settle"})
        release(process)
        other, _ = acquire(find_command(), 1, 0)
        assert other.pid != process.pid
        release(other)

    def test_tells_what_is_wrong_with_an_order(self) -> None:
        process, _ = acquire(find_command(), 1, 0)
        with pytest.raises(UsageError, match="nothing to do called"):
            process.ask({"do": "dance"})
        release(process)

    def test_ends_with_whoever_started_it_though_that_was_killed(self, tmp_path: Path) -> None:
        script = tmp_path / "program.py"
        script.write_text(
            "import time\n"
            "from handfast.testing import TestRelay\n"
            "relay = TestRelay()\n"
            "relay.connect('alice')\n"
            "print(relay._relay._process.pid, flush=True)\n"
            "time.sleep(60)\n"
        )
        program = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE)
        assert program.stdout is not None
        relay = int(program.stdout.readline())
        program.kill()
        program.wait()
        program.stdout.close()
        give_up = time.monotonic() + 20
        while is_alive(relay) and time.monotonic() < give_up:
            time.sleep(0.02)
        assert not is_alive(relay)

    def test_of_a_program_that_never_stops_its_relay_ends_with_it(self, tmp_path: Path) -> None:
        script = tmp_path / "program.py"
        script.write_text(
            "from handfast.testing import TestRelay, hang\n"
            "relay = TestRelay()\n"
            "alice = relay.connect('alice')\n"
            "relay.fake('research', hang)\n"
            "alice.send('research', {}).acknowledged()\n"
            "print(relay._relay._process.pid)\n"
        )
        ended = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=50, check=False)
        assert (ended.returncode, ended.stderr) == (0, "")
        give_up = time.monotonic() + 20
        while is_alive(int(ended.stdout)) and time.monotonic() < give_up:
            time.sleep(0.02)
        assert not is_alive(int(ended.stdout))


def is_alive(pid: int) -> bool:
    """One that has ended and waits to be reaped is not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"
