"""The client for code that blocks: the same abilities, from many threads at once."""

from __future__ import annotations

import inspect
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from relay_process import RelayProcess

import handfast
from handfast import (
    AsyncChunks,
    AsyncClient,
    AsyncHandle,
    AsyncScatter,
    Chunks,
    Client,
    Context,
    HandoffError,
    Scatter,
    UsageError,
)
from handfast._sync_handle import Handle

Name = Callable[[str], str]
SyncAgent = Callable[..., Client]


@pytest.mark.parametrize(
    ("blocking", "awaited"),
    [(Client, AsyncClient), (Handle, AsyncHandle), (Scatter, AsyncScatter), (Chunks, AsyncChunks)],
)
def test_both_kinds_have_the_same_names_and_parameters(blocking: type, awaited: type) -> None:
    def surface(kind: type) -> dict[str, list[str]]:
        found = {}
        for name in dir(kind):
            member = inspect.getattr_static(kind, name)
            if not name.startswith("_"):
                found[name] = list(inspect.signature(member).parameters) if inspect.isfunction(member) else []
        return found

    attributes = {"agent", "url", "key", "id", "receipt", "correlation"}
    one, other = surface(blocking), surface(awaited)
    assert {name: value for name, value in one.items() if name not in attributes} == {
        name: value for name, value in other.items() if name not in attributes
    }


def test_a_handoff_from_beginning_to_end(sync_agent: SyncAgent, name: Name) -> None:
    upper = name("upper")
    worker, boss = sync_agent("worker"), sync_agent("boss")

    @worker.capability(upper, timeout=300)
    def shout(text: str, ctx: Context) -> str:
        ctx.progress(0.5)
        ctx.write(text)
        return text.upper()

    server = worker.serve(signals=False)
    handle = boss.send(upper, "hello", evidence="signed")
    assert handle.acknowledged(timeout=20)["id"] == handle.id
    assert handle.result(timeout=20) == "HELLO"
    assert list(handle.chunks()) == ["hello"]
    assert handle.chunks().text() == "hello"
    types = [event["type"] for event in handle.events()]
    assert types[:3] == ["accepted", "delivered", "acknowledged"]
    assert [receipt.kind for receipt in handle.proofs().receipts] == ["handoff", "ack", "outcome"]
    assert handle.take()["taken_at"] is not None
    assert boss.handle(handle.id).status()["state"] == "completed"
    assert handle.cancel()["state"] == "completed"
    assert handle.view is not None
    assert handle.view["state"] == "completed"
    assert repr(handle) == f"<Handle {handle.id} completed>"
    scatter = boss.scatter([{"capability": upper, "input": text} for text in "ab"])
    assert sorted(str(each.output) for each in scatter) == ["A", "B"]
    assert boss.gather(scatter.correlation).all(timeout=20) == ["A", "B"]
    assert [each.status for each in scatter.settled(timeout=20)] == ["completed", "completed"]
    assert scatter.any(timeout=20) in ("A", "B")
    receipt = boss.notify(upper, "ding")
    assert boss.handle(receipt["id"]).result(timeout=20) is None
    assert list(boss.questions(follow=False)) == []
    server.stop()
    assert server.is_stopping


def test_threads_share_one_client(sync_agent: SyncAgent, name: Name) -> None:
    double = name("double")
    worker, boss = sync_agent("worker"), sync_agent("boss")
    worker.serve({double: lambda number: number * 2}, signals=False)

    def ask(number: int) -> Any:
        return boss.send(double, number).result(timeout=60)

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(ask, range(64))) == [number * 2 for number in range(64)]


def test_errors_are_raised_where_they_are_waited_for(sync_agent: SyncAgent, name: Name) -> None:
    boss = sync_agent("boss")
    with pytest.raises(HandoffError) as caught:
        boss.send(name("nobody"), None)
    assert caught.value.code == 406
    with pytest.raises(UsageError, match="it has nan"):
        boss.send("upper", float("nan"))
    with pytest.raises(UsageError, match="no id"):
        boss.handle("x")
    with pytest.raises(HandoffError):
        boss.gather("nobody's").all()


def test_leaving_a_loop_lets_go_of_its_stream(sync_agent: SyncAgent, name: Name) -> None:
    boss = sync_agent("boss")
    handle = boss.send(name("nobody"), None, queue_if_absent=True)
    for event in handle.events():
        assert event["type"] == "accepted"
        break
    stream = boss.outcomes()
    threading.Timer(0.1, handle.cancel).start()
    assert next(stream).id == handle.id
    stream.close()


def test_an_interrupt_ends_a_wait_and_nothing_else(relay: RelayProcess, name: Name) -> None:
    script = f"""
import os, signal, threading, handfast
with handfast.Client(url={relay.url!r}, agent={name("stopped")!r}) as hf:
    handle = hf.send({name("nobody")!r}, None, queue_if_absent=True)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        handle.result()
    except KeyboardInterrupt:
        print("interrupted", handle.status()["state"])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout.strip(), done.stderr) == ("interrupted queued", "")


def test_a_program_that_forgets_to_close_still_takes_what_it_got(
    relay: RelayProcess, sync_agent: SyncAgent, name: Name
) -> None:
    upper, agent = name("upper"), name("careless")
    worker = sync_agent("worker")
    worker.serve({upper: lambda text: text.upper()}, signals=False)
    script = f"""
import handfast
hf = handfast.Client(url={relay.url!r}, agent={agent!r})
handle = hf.send({upper!r}, "x")
print(handle.result(timeout=30))
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout.strip(), done.stderr) == ("X", "")
    with Client(url=relay.url, agent=agent) as again:
        assert list(again.outcomes(follow=False)) == []


def test_the_package_says_its_version_and_its_names() -> None:
    assert handfast.__version__ == "0.1.0"
    assert all(hasattr(handfast, each) for each in handfast.__all__)


def test_a_server_says_what_it_serves_and_when_it_has_stopped(sync_agent: SyncAgent, name: Name) -> None:
    worker, upper = sync_agent("worker"), name("upper")
    server = worker.serve({upper: str.upper}, signals=False)
    assert repr(server) == f"<SyncServer {worker.agent} serves {upper}, works on 0>"
    server.stop()
    assert repr(server) == f"<SyncServer {worker.agent} stopped>"
