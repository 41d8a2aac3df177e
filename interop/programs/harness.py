"""What every program of the suite in Python has in common: lines of JSON in and out, and the work itself.

A framework's worker overrides `Worker.offer`; its sender overrides `Sender.hand_off` and `Sender.resume`. Everything
else is the SDK's, and the same for all. interop/README.md describes the lines.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from handfast import AsyncClient, AsyncContext, AsyncHandle, Context, HandoffError, connect
from pydantic import BaseModel, ConfigDict

NAME = os.environ["INTEROP_NAME"]
LOOK_EVERY = 0.02
ANSWER_LOOKS = 500
HOLDING = "holding"
QUESTION = {"word": "which?"}


class TaskInput(BaseModel):
    """What every worker is given."""

    model_config = ConfigDict(extra="forbid")

    text: str
    mode: Literal["plain", "hold", "ask"] = "plain"
    hold: str = ""


class TaskOutput(BaseModel):
    """What every worker answers."""

    model_config = ConfigDict(extra="forbid")

    text: str
    by: str
    answer: str | None = None


INPUT_SCHEMA = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "mode": {"type": "string", "enum": ["plain", "hold", "ask"]},
        "hold": {"type": "string"},
    },
    "required": ["text"],
    "additionalProperties": False,
}
OUTPUT_SCHEMA = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "by": {"type": "string"}, "answer": {"type": "string"}},
    "required": ["text", "by"],
    "additionalProperties": False,
}


def output_of(text: str, answer: str | None = None) -> dict[str, str]:
    """The output of a task, as it goes on the wire."""
    return {"text": text.upper(), "by": NAME, **({} if answer is None else {"answer": answer})}


async def do_task(input: dict[str, Any], ctx: AsyncContext) -> dict[str, str]:
    """The work, for frameworks whose own code is async."""
    if input.get("mode") == "hold":
        with held(input["hold"], ctx) as may_go:
            while not may_go():  # noqa: ASYNC110 (a file says it, not an event)
                await asyncio.sleep(LOOK_EVERY)
    answer = await ctx.ask(QUESTION, schema={"type": "string"}) if input.get("mode") == "ask" else None
    return output_of(input["text"], answer)


def do_task_blocking(input: dict[str, Any], ctx: Context) -> dict[str, str]:
    """The work, for frameworks whose own code blocks."""
    if input.get("mode") == "hold":
        with held(input["hold"], ctx) as may_go:
            while not may_go():
                ctx.check()
                time.sleep(LOOK_EVERY)
    answer = ctx.ask(QUESTION, schema={"type": "string"}) if input.get("mode") == "ask" else None
    return output_of(input["text"], answer)


@contextmanager
def held(hold: str, ctx: AsyncContext | Context) -> Generator[Callable[[], bool], None, None]:
    """Says that the work is in its middle, and that it stops if it does. Gives whether the suite lets it go on."""
    ctx.progress(0.5, HOLDING)
    Path(f"{hold}.begun").touch()
    try:
        yield Path(f"{hold}.go").exists
    except BaseException:
        Path(f"{hold}.stopped").touch()
        raise


def tell(**message: Any) -> None:
    """Says one thing to the suite."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


async def commands(obey: Callable[[str, dict[str, Any]], Awaitable[None]]) -> None:
    """Each command in a task of its own, until the input ends."""
    reader = asyncio.StreamReader(limit=2**24)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    running = set[asyncio.Task[None]]()
    while line := await reader.readline():
        ((name, said),) = json.loads(line).items()
        task = asyncio.create_task(_told(obey(name, said), said.get("tag", name)))
        running.add(task)
        task.add_done_callback(running.discard)
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)


async def _told(work: Awaitable[None], tag: str) -> None:
    try:
        await work
    except Exception as error:
        tell(tag=tag, broken=f"{type(error).__name__}: {error}")


class Worker:
    """A worker: every `serve` is another agent in this process."""

    def __init__(self) -> None:
        self.clients: list[AsyncClient] = []

    async def offer(self, hf: AsyncClient, capability: str) -> None:
        """Offers the capability. A framework does it in its own way."""

        async def handler(input: dict[str, Any], ctx: AsyncContext) -> dict[str, str]:
            return await do_task(input, ctx)

        definition = {"handler": handler, "input": INPUT_SCHEMA, "output": OUTPUT_SCHEMA}
        await hf.serve({capability: definition}, concurrency=12, signals=False)

    async def run(self) -> None:
        """Until the input ends."""
        await commands(self._obey)
        await asyncio.gather(*(client.close() for client in self.clients))

    async def _obey(self, name: str, said: dict[str, Any]) -> None:
        hf = await connect(agent=said["agent"])
        self.clients.append(hf)
        await self.offer(hf, said["capability"])
        tell(serving=said["capability"])


class Sender:
    """A sender: by the SDK alone, unless a framework sends in its own way."""

    hf: AsyncClient

    def __init__(self) -> None:
        self.handles: dict[str, AsyncHandle[Any]] = {}

    async def open(self) -> None:
        """Before the first command."""

    async def hand_off(self, tag: str, capability: str, input: dict[str, Any], options: dict[str, Any]) -> None:
        """Sends; calls `sent` when the relay has it and `ended` with its outcome. HandoffErrors are refusals.

        `options` are those of `send`: `timeout`, perhaps `lease`, in seconds.
        """
        handle = await self.hf.send(capability, input, idempotency_key=tag, labels={"tag": tag}, **options)
        self.sent(tag, handle.id)
        await self.told_end(tag, handle.id)

    async def scatter(self, tag: str, capability: str, inputs: list[dict[str, Any]]) -> list[Any]:
        """Many at once, the tag their correlation; the outputs in the order of the inputs."""
        tasks: Any = [{"capability": capability, "input": input} for input in inputs]
        return await self.hf.scatter(tasks, correlation=tag).all()

    async def resume(self) -> None:
        """In a new life: tells of every outcome that the last one did not."""
        views: list[Any] = []
        views.extend((await self.hf.call("outcomes", query={"limit": 500}))["handoffs"])
        for state in ("queued", "delivered", "working", "waiting"):
            views.extend((await self.hf.call("list", query={"state": state, "limit": 500}))["handoffs"])
        mine = [view for view in views if view["from"] == self.hf.agent and "tag" in view["labels"]]
        await asyncio.gather(*(self.told_end(view["labels"]["tag"], view["id"]) for view in mine))

    async def told_end(self, tag: str, id: str) -> None:
        """Waits for the end of a handoff, and tells of it."""
        handle = self.handles[tag] = self.hf.handle(id)
        view = await handle.outcome()
        outcome = view["outcome"] or {}
        self.ended(tag, view["state"], view["code"], outcome.get("output"))

    def sent(self, tag: str, id: str) -> None:
        """The relay has it."""
        self.handles[tag] = self.hf.handle(id)
        tell(tag=tag, sent=id)

    def ended(self, tag: str, status: str, code: int, output: Any) -> None:
        """It came to its end."""
        tell(tag=tag, outcome={"status": status, "code": code, **({} if output is None else {"output": output})})

    async def run(self) -> None:
        """Until the input ends."""
        async with connect() as self.hf:
            await self.open()
            await commands(self._obey)

    async def _obey(self, name: str, said: dict[str, Any]) -> None:
        match name:
            case "send":
                await self._send(said)
            case "scatter":
                outputs = await self.scatter(said["tag"], said["capability"], said["inputs"])
                tell(tag=said["tag"], scattered=outputs)
            case "watch":
                await self._watch(said["tag"])
            case "cancel":
                tell(tag=said["tag"], canceled=(await self.handles[said["tag"]].cancel())["state"])
            case "verify":
                await self._verify(said["tag"])
            case "resume":
                await self.resume()

    async def _send(self, said: dict[str, Any]) -> None:
        tag = said["tag"]
        options = {"timeout": said["timeout_ms"] / 1000}
        if "lease_ms" in said:
            options["lease"] = said["lease_ms"] / 1000
        answering = asyncio.create_task(self._answer(tag, said["answer"])) if "answer" in said else None
        try:
            await self.hand_off(tag, said["capability"], said["input"], options)
        except HandoffError as error:
            tell(tag=tag, refused=error.code)
        finally:
            if answering is not None:
                answering.cancel()

    async def _answer(self, tag: str, answer: str) -> None:
        async for question in self.hf.questions():
            # It may be asked before the framework has told which handoff it sent.
            for _ in range(ANSWER_LOOKS):
                if tag in self.handles:
                    break
                await asyncio.sleep(LOOK_EVERY)
            if tag in self.handles and question["handoff"] == self.handles[tag].id:
                await self.hf.answer(question, answer)
                return

    async def _watch(self, tag: str) -> None:
        async for event in self.handles[tag].events():
            if event["type"] == "progress":
                tell(tag=tag, progress={"fraction": event["fraction"], "note": event["note"]})
                return

    async def _verify(self, tag: str) -> None:
        proven = await self.handles[tag].proofs()
        evidence = {receipt.kind: receipt.evidence for receipt in proven.receipts}
        tell(tag=tag, proven={kind: evidence.get(kind) for kind in ("handoff", "ack", "outcome")})
