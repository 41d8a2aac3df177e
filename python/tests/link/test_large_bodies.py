"""What is too large is refused at once: a relay closes the connection while it is still written, as if it were away."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from handfast import AsyncContext, HandoffError

Agent = Callable[..., Any]
LARGE = "x" * 8_000_000


async def refusal_of(call: Any) -> tuple[int, str, bool]:
    with pytest.raises(HandoffError) as raised:
        await call
    return raised.value.code, raised.value.reason, raised.value.retryable


async def test_a_checkpoint_and_a_question(agent: Agent, name: Callable[[str], str]) -> None:
    worker, sender = await agent("worker"), await agent("sender")
    capability = name("keep")

    async def keep(input: Any, ctx: AsyncContext) -> Any:
        return [await refusal_of(ctx.checkpoint({"said": LARGE})), await refusal_of(ctx.ask(LARGE))]

    await worker.serve({capability: keep}, signals=False, grace=0)
    handle = await sender.send(capability, None, timeout=20)
    assert await handle.result(timeout=20) == [[413, "too_large", False]] * 2


async def test_an_output_of_text(agent: Agent, name: Callable[[str], str]) -> None:
    worker, sender = await agent("worker"), await agent("sender")
    capability = name("write")
    await worker.serve({capability: {"handler": lambda _: LARGE, "text": True}}, signals=False, grace=0)
    view = await (await sender.send(capability, None, timeout=20, attempts=1)).outcome(timeout=20)
    assert (view["state"], view["outcome"]["error"]["reason"]) == ("failed", "output_refused")


async def test_what_is_sent(agent: Agent) -> None:
    sender = await agent("sender")
    assert await refusal_of(sender.send("nobody", 1, labels={"large": LARGE})) == (413, "too_large", False)
    tasks = [{"capability": "nobody", "input": "x" * 900_000}] * 20
    assert await refusal_of(sender.scatter(tasks).all()) == (413, "too_large", False)
