"""A look into a team while it runs.

AutoGen can save a team's state only when it stands still, and wraps whatever an agent raises into text. Both are seen
here from inside: a termination condition is asked after each turn, when the turn is in the conversation and the next
speaker is not chosen yet; and the agents' own errors are noted where they are raised. Of AutoGen's own names three are
used that are not public, `_termination_condition`, `_participants` and `_max_turns`; tests hold them against what is
installed.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Any, Final

from autogen_agentchat.base import TerminationCondition
from autogen_agentchat.messages import BaseAgentEvent, BaseChatMessage, StopMessage

_LOOKS: Final = 50
"""How often the event loop may turn until every participant has heard the last message: it takes two or three."""


def watch_team(runner: Any, keep: Callable[[Any], Awaitable[None]], raised: list[Exception]) -> bool:
    """Keeps the state after every turn. To be called before the first run. False: it is an agent, or an unknown kind.

    :param raised: Gets what the participants raise.
    """
    if not hasattr(runner, "_termination_condition") or not hasattr(runner, "_participants"):
        return False
    for participant in runner._participants:
        if hasattr(participant, "on_messages_stream"):
            participant.on_messages_stream = _noting(participant.on_messages_stream, raised)
    runner._termination_condition = _EveryTurn(runner, runner._termination_condition, keep)
    return True


def _noting(stream: Any, raised: list[Exception]) -> Any:
    async def noted(*args: Any, **named: Any) -> AsyncGenerator[Any, None]:
        try:
            async for message in stream(*args, **named):
                yield message
        except Exception as error:
            raised.append(error)
            raise

    return noted


class _EveryTurn(TerminationCondition):
    """Ends when the one within does, if there is one."""

    def __init__(self, team: Any, within: TerminationCondition | None, keep: Callable[[Any], Awaitable[None]]) -> None:
        self._team = team
        self._within = within
        self._keep = keep

    @property
    def terminated(self) -> bool:
        return self._within is not None and self._within.terminated

    async def __call__(self, messages: Sequence[BaseAgentEvent | BaseChatMessage]) -> StopMessage | None:
        stop = None if self._within is None else await self._within(messages)
        if stop is None:
            state = await self._state_with(messages[-1])
            if state is not None:
                await self._keep(state)
        return stop

    async def reset(self) -> None:
        if self._within is not None:
            await self._within.reset()

    async def _state_with(self, last: BaseAgentEvent | BaseChatMessage) -> Any:
        """Once everybody has heard the last message; None: it never came to that, and this turn is not kept."""
        for _ in range(_LOOKS):
            state = await self._team.save_state()
            agents = {name: each for name, each in state["agent_states"].items() if "message_buffer" in each}
            if all(name == last.source or _has_heard(each, last.id) for name, each in agents.items()):
                # The turn is counted only after this: a team of so many turns would have one more.
                for each in state["agent_states"].values():
                    if "current_turn" in each and last.source in agents:
                        each["current_turn"] += 1
                        if each["current_turn"] >= (getattr(self._team, "_max_turns", None) or math.inf):
                            # The team ends here: from this state another would speak after the last.
                            return None
                return state
            await asyncio.sleep(0)
        return None


def _has_heard(state: Any, message: str) -> bool:
    return any(each.get("id") == message for each in state["message_buffer"])
