"""A team that plans, hands the research off, and writes; and a life of the process that runs it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from autogen_agentchat.agents import AssistantAgent, BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.conditions import HandoffTermination, TextMentionTermination
from autogen_agentchat.messages import BaseChatMessage, TextMessage
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_core import CancellationToken, FunctionCall
from autogen_core.models import CreateResult, ModelFamily, RequestUsage
from autogen_ext.models.replay import ReplayChatCompletionClient

from handfast import AsyncClient, connect
from handfast.autogen import PAUSED, FileRecords, TeamRun, TeamRuns, pausing_handoff, serve_team

Did = Callable[[str], None]


def model(*script: Any) -> ReplayChatCompletionClient:
    """One that says text, or calls: ``("tool", {"argument": 1})``, or a list of those."""

    def result_of(said: Any, number: int) -> Any:
        if isinstance(said, str):
            return said
        calls = said if isinstance(said, list) else [said]
        content = [
            FunctionCall(id=f"{number}.{index}", name=name, arguments=json.dumps(arguments))
            for index, (name, arguments) in enumerate(calls)
        ]
        usage = RequestUsage(prompt_tokens=0, completion_tokens=0)
        return CreateResult(finish_reason="function_calls", content=content, usage=usage, cached=False)

    return ReplayChatCompletionClient(
        [result_of(said, number) for number, said in enumerate(script)],
        model_info={
            "vision": False,
            "function_calling": True,
            "json_output": False,
            "family": ModelFamily.UNKNOWN,
            "structured_output": False,
        },
    )


class Plain(BaseChatAgent):
    """Says what a function makes of the messages."""

    def __init__(self, name: str, say: Callable[[Sequence[BaseChatMessage]], str]) -> None:
        super().__init__(name, name)
        self._say = say

    @property
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        return (TextMessage,)

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        return Response(chat_message=TextMessage(source=self.name, content=self._say(messages)))

    async def on_reset(self, cancellation_token: CancellationToken) -> None: ...


async def planner(hf: AsyncClient, capability: str, did: Did, **options: Any) -> Callable[[], RoundRobinGroupChat]:
    """Builds it: an assistant that hands off, and a writer."""
    research = await pausing_handoff(
        hf, capability=capability, name="research", description="Finds out.", input=str, **options
    )

    def plan() -> ReplayChatCompletionClient:
        return model(("research", {"input": "fsync"}))

    def write(messages: Sequence[BaseChatMessage]) -> str:
        did("write")
        return f"{messages[-1].to_model_text()} DONE"

    def team() -> RoundRobinGroupChat:
        stop = HandoffTermination(target=PAUSED) | TextMentionTermination("DONE")
        return RoundRobinGroupChat(
            [AssistantAgent("assistant", plan(), handoffs=[research]), Plain("writer", write)],
            termination_condition=stop,
        )

    return team


def die() -> None:
    """As a machine that fails: without a word."""
    os.kill(os.getpid(), signal.SIGKILL)


def die_when_accepted() -> None:
    """The relay has it, and nothing is kept of that."""
    send: Any = AsyncClient.send

    async def send_and_die(*args: Any, **named: Any) -> Any:
        await send(*args, **named)
        die()

    AsyncClient.send = send_and_die  # type: ignore[method-assign]


async def live(
    folder: Path, capability: str, task: str, killed: str = "never", say: Callable[[str], None] = print, **options: Any
) -> None:
    """One life."""
    effects = folder / "effects"

    def did(what: str) -> None:
        with effects.open("a") as lines:
            lines.write(what + "\n")
        if what == killed:
            die()

    async def ended(run: TeamRun) -> None:
        if killed == "after_end":
            die()
        say(f"ended {run.text}")

    if killed == "after_accept":
        die_when_accepted()
    async with connect(**options) as hf:
        team = await planner(hf, capability, did)
        runs = TeamRuns(hf, team, FileRecords(folder / "runs"), on_end=ended)
        if task == "run":
            await runs.start("one", "What is fsync?")
            return
        woken = asyncio.Queue[str]()
        async with runs.resume_outcomes(on_woken=lambda each: woken.put_nowait(each.how)):
            say(await asyncio.wait_for(woken.get(), 30))


async def work(folder: Path, capability: str, killed: str = "never", **options: Any) -> None:
    """A life of a worker, which ends when it is killed, or when its task is canceled."""

    def say(who: str) -> Callable[[Sequence[BaseChatMessage]], str]:
        def said(messages: Sequence[BaseChatMessage]) -> str:
            with (folder / "effects").open("a") as lines:
                lines.write(who + "\n")
            if who == killed:
                die()
            return f"{messages[-1].to_model_text()} {who}"

        return said

    def team() -> RoundRobinGroupChat:
        return RoundRobinGroupChat([Plain("first", say("first")), Plain("second", say("second"))], max_turns=2)

    async with connect(**options) as hf:
        server = await serve_team(hf, capability, team, signals=False, input=str)
        await server.stopped()
