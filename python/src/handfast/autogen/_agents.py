"""Agents that stand for a capability: whatever they are told is handed off, and they answer with what became of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.messages import BaseChatMessage, HandoffMessage, StructuredMessage, TextMessage
from autogen_core import CancellationToken, MessageContext, RoutedAgent, message_handler
from typing_extensions import Unpack

from .._adapters import Outcome, outcome_text, target_of
from .._adapters.keys import joined, short_key
from .._client import AsyncClient
from .._send.options import SendOptions
from ._sending import PAUSED, metadata_of, send_and_pause, send_and_wait


class HandoffAgent(BaseChatAgent):
    """A participant of a team: it hands the last message off, and says what came of it."""

    def __init__(
        self,
        name: str,
        hf: AsyncClient,
        *,
        capability: str | None = None,
        to: str | None = None,
        description: str | None = None,
        input: Callable[[Sequence[BaseChatMessage]], Any] | None = None,
        pause: bool = False,
        **options: Unpack[SendOptions],
    ) -> None:
        """The options of ``send()``, and:

        :param to: A certain agent. Default: whoever offers the capability.
        :param description: What it can do, for whoever chooses the next speaker.
        :param input: The handoff's input, out of the messages since its last turn. Default: what the last one says.
        :param pause: Do not wait in place: the team stops, if it has ``HandoffTermination(target=PAUSED)``, and
            TeamRuns goes on with it when the outcome is there.
        """
        super().__init__(name, description or f"Hands work to an agent that offers {capability or to}.")
        self._hf = hf
        self._target = target_of(capability, to)
        self._input = input or _content_of_last
        self._pause = pause
        self._options = options

    @property
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        return (HandoffMessage,) if self._pause else (TextMessage,)

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        """Hands off."""
        work = asyncio.ensure_future(self._answer(messages))
        cancellation_token.link_future(work)
        return Response(chat_message=await work)

    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        """It has no state."""

    async def _answer(self, messages: Sequence[BaseChatMessage]) -> BaseChatMessage:
        input = self._input(messages)
        if self._pause:
            # Whoever asked is answered; but what came from outside would send the team to sleep again at once.
            to = messages[-1].source if messages and messages[-1].source != PAUSED else None
            told = await send_and_pause(self._hf, self._target, input, self._options, to)
            return HandoffMessage(source=self.name, target=PAUSED, content=told)
        outcome = await send_and_wait(self._hf, self._target, input, self._options)
        return TextMessage(source=self.name, content=outcome_text(outcome), metadata=metadata_of(outcome))


def _content_of_last(messages: Sequence[BaseChatMessage]) -> Any:
    if not messages:
        return None
    last = messages[-1]
    return last.content.model_dump(mode="json") if isinstance(last, StructuredMessage) else last.to_model_text()


@dataclass
class CapabilityTask:
    """Work for a CapabilityAgent."""

    input: Any
    key: str | None = None
    """Names the piece of work: told again with the same key, it is handed off once. Default: each message is a new
    one."""


@dataclass
class CapabilityOutcome:
    """What became of it."""

    outcome: Outcome


class CapabilityAgent(RoutedAgent):
    """For autogen-core: ``CapabilityAgent.register(runtime, "research", lambda: CapabilityAgent(hf, capability=…))``,
    then ``runtime.send_message(CapabilityTask(input), AgentId("research", "default"))`` answers a CapabilityOutcome."""

    def __init__(
        self, hf: AsyncClient, *, capability: str | None = None, to: str | None = None, **options: Unpack[SendOptions]
    ) -> None:
        super().__init__(f"Hands work to an agent that offers {capability or to}.")
        self._hf = hf
        self._target = target_of(capability, to)
        self._options = options

    @message_handler
    async def hand_off(self, message: CapabilityTask, ctx: MessageContext) -> CapabilityOutcome:
        """Hands off and waits, however it ends."""
        keyed: SendOptions = self._options
        if message.key is not None:
            keyed = {**keyed, "idempotency_key": short_key(joined(self.id.type, self.id.key, message.key))}
        return CapabilityOutcome(await send_and_wait(self._hf, self._target, message.input, keyed))
