"""One agent in two processes, each with capabilities of its own: neither takes the other's out of the manifest."""

from __future__ import annotations

import os

import pytest
from serve_stage import Stage, new_key

from handfast import AsyncClient, UsageError


async def offered(sender: AsyncClient, agent: str) -> list[str]:
    view = await sender.call("agent", params={"name": agent})
    return sorted(capability["name"] for capability in view["capabilities"])


async def test_two_processes_of_one_agent_serve_each_its_own(stage: Stage) -> None:
    name, key = f"shared-{os.urandom(4).hex()}", new_key()
    one = await stage.agent("one", agent=name, key=key)
    two = await stage.agent("two", agent=name, key=key)
    sender = await stage.agent("sender")
    upper, lower = f"upper-{name}", f"lower-{name}"
    said = {"input": {"type": "string"}, "timeout": 60}

    def low(text: str) -> str:
        """Makes it small."""
        return text.lower()

    first = await one.serve(
        {upper: {"handler": lambda text: text.upper(), **said}}, elsewhere={lower: low}, signals=False
    )
    digest = (await sender.call("agent", params={"name": name}))["manifest"]["digest"]
    await two.serve({lower: low}, elsewhere={upper: said}, signals=False)
    assert await offered(sender, name) == sorted([upper, lower])
    # Both state the same manifest, so that no lease was given under one that the other took back.
    assert (await sender.call("agent", params={"name": name}))["manifest"]["digest"] == digest
    handles = [await sender.send(each, "Ab") for each in (upper, lower) for _ in range(5)]
    assert [await handle.result() for handle in handles] == ["AB"] * 5 + ["ab"] * 5
    await first.stop()
    assert await offered(sender, name) == sorted([upper, lower])
    assert [stage.warnings(each) for each in ("one", "two")] == [[], []]


async def test_what_is_served_elsewhere_is_checked_as_what_is_served_here(stage: Stage) -> None:
    worker = await stage.agent("worker")
    with pytest.raises(UsageError, match="is no name"):
        await worker.serve({"here": lambda text: text}, elsewhere={"not a name": {}}, signals=False)
    with pytest.raises(UsageError, match="is not an option"):
        await worker.serve({"here": lambda text: text}, elsewhere={"there": {"handles": 1}}, signals=False)
