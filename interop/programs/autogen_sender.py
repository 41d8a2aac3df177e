"""A sender whose handoffs are turns of a team of AutoGen: a run for each, which stops until it has its outcome. Many at
once are calls of a tool, which waits in place.

The suite names a capability with every command, and a team has its own: so there are runs of one team for each, with a
name that a new life finds in the labels of what the last one sent.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from autogen_agentchat.agents import AssistantAgent, BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.conditions import HandoffTermination
from autogen_agentchat.messages import BaseChatMessage, TextMessage, ToolCallExecutionEvent
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_core import CancellationToken, FunctionCall
from autogen_core.models import CreateResult, ModelFamily, RequestUsage
from autogen_ext.models.replay import ReplayChatCompletionClient
from handfast.autogen import PAUSED, FileRecords, HandoffAgent, TeamRun, TeamRuns, Waker, handoff_tool
from harness import Sender, tell


class Teller(BaseChatAgent):
    """Says what became of the handoff, in a way that a program can read."""

    @property
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        return (TextMessage,)

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        last = messages[-1]
        status, code = last.metadata["handfast.status"], int(last.metadata["handfast.code"])
        output = json.loads(last.to_model_text()) if status == "completed" else None
        said = json.dumps({"status": status, "code": code, "output": output})
        return Response(chat_message=TextMessage(source=self.name, content=said))

    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        """It has no state."""


class TeamSender(Sender):
    """Runs by the name of their team, each with what wakes them."""

    def __init__(self) -> None:
        super().__init__()
        self._runs: dict[str, TeamRuns] = {}
        self._wakers: list[Waker] = []
        self._ended: dict[str, asyncio.Future[None]] = {}

    async def hand_off(self, tag: str, capability: str, input: dict[str, Any], options: dict[str, Any]) -> None:
        ended = self._ended[tag] = asyncio.get_running_loop().create_future()
        run = await self._runs_of(json.dumps([capability, options])).start(tag, json.dumps(input))
        for handoff in run.waiting:
            self.sent(tag, handoff)
        if run.ended:
            await self._tell(run)
        await ended

    async def scatter(self, tag: str, capability: str, inputs: list[dict[str, Any]]) -> list[Any]:
        tool = await handoff_tool(self.hf, capability, name="work", correlation=tag)
        assistant = AssistantAgent("assistant", _calling("work", inputs), tools=[tool])
        result = await assistant.run(task="Hand all of it off.")
        (done,) = [message for message in result.messages if isinstance(message, ToolCallExecutionEvent)]
        by_call = {each.call_id: json.loads(each.content) for each in done.content}
        return [by_call[str(at)] for at in range(len(inputs))]

    async def resume(self) -> None:
        """Every team of which a run may still sleep goes on; the rest follows by itself."""
        views: list[Any] = []
        for name, query in [
            ("outcomes", {}),
            *(("list", {"state": state}) for state in ("queued", "delivered", "working")),
        ]:
            views.extend((await self.hf.call(name, query={**query, "limit": 500}))["handoffs"])
        for view in views:
            if view["from"] == self.hf.agent and "autogen.name" in view["labels"]:
                self._runs_of(view["labels"]["autogen.name"])

    async def stop(self) -> None:
        """No run is woken any more."""
        await asyncio.gather(*(waker.stop(0) for waker in self._wakers))

    def _runs_of(self, name: str) -> TeamRuns:
        if name not in self._runs:
            capability, options = json.loads(name)
            records = FileRecords(f"runs/{sha256(name.encode()).hexdigest()[:16]}")
            build = lambda: self._team(capability, options)  # noqa: E731
            runs = self._runs[name] = TeamRuns(self.hf, build, records, name=name, on_end=self._tell)
            self._wakers.append(runs.resume_outcomes(on_error=_broken))
        return self._runs[name]

    def _team(self, capability: str, options: dict[str, Any]) -> RoundRobinGroupChat:
        desk = HandoffAgent(
            "desk",
            self.hf,
            capability=capability,
            input=lambda messages: json.loads(messages[-1].to_model_text()),
            pause=True,
            **options,
        )
        stop = HandoffTermination(target=PAUSED)
        return RoundRobinGroupChat([desk, Teller("teller", "Tells.")], termination_condition=stop, max_turns=1)

    async def _tell(self, run: TeamRun) -> None:
        """Once for each run."""
        waiting = self._ended.get(run.id)
        if waiting is not None and waiting.done():
            return
        said = json.loads(run.text)
        if said["status"] == "refused":
            tell(tag=run.id, refused=said["code"])
        else:
            self.ended(run.id, said["status"], said["code"], said["output"])
        if waiting is not None:
            waiting.set_result(None)


def _calling(tool: str, inputs: list[dict[str, Any]]) -> ReplayChatCompletionClient:
    """A model that calls the tool for each, all at once."""
    calls = [FunctionCall(id=str(at), name=tool, arguments=json.dumps(input)) for at, input in enumerate(inputs)]
    usage = RequestUsage(prompt_tokens=0, completion_tokens=0)
    return ReplayChatCompletionClient(
        [CreateResult(finish_reason="function_calls", content=calls, usage=usage, cached=False)],
        model_info={
            "vision": False,
            "function_calling": True,
            "json_output": False,
            "family": ModelFamily.UNKNOWN,
            "structured_output": False,
        },
    )


def _broken(error: BaseException, handoff: str, _key: str) -> None:
    tell(tag=handoff, broken=f"{type(error).__name__}: {error}")


async def main() -> None:
    sender = TeamSender()
    try:
        await sender.run()
    finally:
        await sender.stop()


asyncio.run(main())
