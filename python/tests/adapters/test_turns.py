"""One thing at a time for each key, whatever happens to those in the line."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager
from typing import Any

import pytest

from handfast._adapters.turns import in_turn


async def test_those_of_one_key_go_one_after_the_other_and_those_of_another_do_not_wait() -> None:
    log: list[str] = []
    gate = asyncio.Event()

    async def one(key: str, name: str) -> None:
        async with in_turn(key, None):
            log.append(f"{name} in")
            if name == "first":
                await gate.wait()
            log.append(f"{name} out")

    first = asyncio.ensure_future(one("a", "first"))
    await asyncio.sleep(0)
    second = asyncio.ensure_future(one("a", "second"))
    await one("b", "other")
    assert log == ["first in", "other in", "other out"]
    gate.set()
    await asyncio.gather(first, second)
    assert log[3:] == ["first out", "second in", "second out"]


async def test_one_that_gives_up_in_the_line_does_not_let_those_behind_it_in_early() -> None:
    inside: list[str] = []
    gate = asyncio.Event()

    async def one(name: str) -> None:
        async with in_turn("c", None):
            inside.append(name)
            await gate.wait()

    tasks = []
    for name in ("first", "gives up", "third"):
        tasks.append(asyncio.ensure_future(one(name)))
        await asyncio.sleep(0)
    tasks[1].cancel()
    await asyncio.wait((tasks[1],))
    await asyncio.sleep(0.02)
    assert inside == ["first"]
    gate.set()
    await asyncio.gather(tasks[0], tasks[2])
    assert inside == ["first", "third"]


async def test_event_loops_of_different_threads_stand_in_one_line() -> None:
    log: list[str] = []
    entered, gate = threading.Event(), threading.Event()

    async def there() -> None:
        async with in_turn("d", None):
            entered.set()
            await asyncio.to_thread(gate.wait, 10)
            log.append("there")

    other = asyncio.ensure_future(asyncio.to_thread(asyncio.run, there()))
    await asyncio.to_thread(entered.wait, 10)
    asyncio.get_running_loop().call_later(0.05, gate.set)
    async with in_turn("d", None):
        log.append("here")
    await other
    assert log == ["there", "here"]


async def test_a_lock_belongs_to_one_thread_and_is_given_back_whatever_happens() -> None:
    threads: list[int] = []

    @contextmanager
    def lock(key: str) -> Any:
        assert key == "e"
        threads.append(threading.get_ident())
        try:
            yield
        finally:
            threads.append(threading.get_ident())

    with pytest.raises(ValueError, match="inside"):
        async with in_turn("e", lock):
            raise ValueError("inside")
    async with in_turn("e", lock):
        pass
    assert threads[0] == threads[1]
    assert threads[2] == threads[3]
    assert threading.get_ident() not in threads


async def test_a_lock_that_cannot_be_had_is_an_error_and_the_next_one_tries() -> None:
    is_broken = [True]

    @contextmanager
    def lock(_: str) -> Any:
        if is_broken.pop() if is_broken else False:
            raise ConnectionError("no database")
        yield

    with pytest.raises(ConnectionError, match="no database"):
        async with in_turn("f", lock):
            pytest.fail("it was let in")
    async with in_turn("f", lock):
        is_broken.append(False)
    assert is_broken == [False]
