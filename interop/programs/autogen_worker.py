"""A worker whose work is done by a team of AutoGen: one agent works, another writes down what it said."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

import handfast
from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.messages import BaseChatMessage, TextMessage
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_core import CancellationToken
from handfast import AsyncClient, AsyncContext
from handfast.autogen import serve_team
from harness import INPUT_SCHEMA, OUTPUT_SCHEMA, Worker, do_task


class Upper(BaseChatAgent):
    """Does the work, and reaches the handoff that it works on."""

    @property
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        return (TextMessage,)

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        context = handfast.current()
        assert isinstance(context, AsyncContext)
        work = asyncio.ensure_future(do_task(json.loads(messages[-1].to_model_text()), context))
        cancellation_token.link_future(work)
        return Response(chat_message=TextMessage(source=self.name, content=json.dumps(await work)))

    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        """It has no state."""


class Clerk(Upper):
    """Says it again."""

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        return Response(chat_message=TextMessage(source=self.name, content=messages[-1].to_model_text()))


def build() -> RoundRobinGroupChat:
    """Each speaks once."""
    return RoundRobinGroupChat([Upper("upper", "Works."), Clerk("clerk", "Writes it down.")], max_turns=2)


class TeamWorker(Worker):
    """The same team for every agent."""

    async def offer(self, hf: AsyncClient, capability: str) -> None:
        await serve_team(
            hf,
            capability,
            build,
            result=lambda result: json.loads(result.messages[-1].to_text()),
            input=INPUT_SCHEMA,
            output=OUTPUT_SCHEMA,
            concurrency=12,
            signals=False,
        )


asyncio.run(TeamWorker().run())
