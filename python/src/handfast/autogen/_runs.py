"""Runs of a team, or of one agent, that sleep while their work is with other agents.

AutoGen can keep the state of a team that has stopped, and go on from it. So a run is a row of turns: in each the team
is built, given the state, and told what came; at the end of the turn state and what it waits for are kept together.
Whoever is killed in a turn finds the record of its beginning, and runs the turn again: what it had sent is not sent
twice, because keys are made of the run, the turn and what is sent.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, Union

from autogen_agentchat.base import ChatAgent, TaskResult, Team
from autogen_agentchat.messages import BaseChatMessage, MessageFactory, TextMessage
from pydantic import BaseModel

from .._adapters import Lock, WakeCall
from .._adapters.durable_runs import DurableRuns
from .._adapters.keys import Keys, check_run, joined
from .._client import AsyncClient
from ..errors import HandfastError, UsageError
from ._records import Records
from ._sending import LABELS, Turn, answer_to, handed_over, in_turn_of

Runner = Union[Team, ChatAgent]

_MOST_TURNS: Final = 20
"""In a row without waiting for anybody: a model that is refused and tries again for ever would cost money for ever."""


@dataclass(frozen=True)
class TeamRun:
    """How a run stands."""

    id: str
    waiting: tuple[str, ...]
    """Handoffs whose outcomes it waits for."""
    ended: bool
    text: str
    """The last message of its last turn."""
    result: TaskResult | None = None
    """Of the last turn, where it was run by this very call."""


class _Awaited(BaseModel):
    handoff: str | None
    to: str
    outcome: dict[str, Any] | None


class _Record(BaseModel):
    turn: int = 0
    status: Literal["running", "waiting", "ended"] = "running"
    task: list[dict[str, Any]] = []
    """Messages of the first turn."""
    state: dict[str, Any] | None = None
    """At the beginning of this turn."""
    awaited: list[_Awaited] = []
    """What the turn before left open; with their outcomes they begin this one."""
    text: str = ""


class TeamRuns(DurableRuns):
    """The runs of one team, each under an id of yours."""

    def __init__(
        self,
        hf: AsyncClient,
        team: Callable[[], Runner],
        records: Records,
        *,
        name: str = "team",
        lock: Lock | None = None,
        on_end: Callable[[TeamRun], Awaitable[None]] | None = None,
    ) -> None:
        """
        :param team: Builds it, or an agent: each turn has one of its own.
        :param records: Where runs are kept: ``FileRecords(folder)``, or your own.
        :param name: Tells these from other runs of the same agent.
        :param lock: One that holds across processes, where several of them run and wake the same runs.
        :param on_end: Told of a run that ended after an outcome came. At least once: it may be told again by a process
            that was started after another was killed.
        """
        super().__init__("autogen", hf, name, lock)
        self._team = team
        self._records = records
        self._on_end = on_end

    async def start(self, run: str, task: str | BaseChatMessage | Sequence[BaseChatMessage]) -> TeamRun:
        """Runs until the team ends or waits. Called again for the same run, it begins nothing anew: it goes on with one
        that was cut off."""
        check_run(run)
        async with self._turn(run):
            record = await self._load(run)
            if record is None:
                record = _Record(task=_dumped(task))
                await self._save(run, record)
            return await self._go_on(run, record)

    async def look(self, run: str) -> TeamRun | None:
        """How a run stands; None: there is none."""
        record = await self._load(run)
        return None if record is None else _shown(run, record)

    async def _wake(self, run: str, call: WakeCall) -> str:
        record = await self._load(run)
        if record is None:
            raise self._unknown(run, "set of records")
        was_cut_off = record.status == "running"
        how = "not_waiting"
        if was_cut_off:
            await self._go_on(run, record)
        open_one = next((e for e in record.awaited if e.outcome is None and e.handoff in call.handoffs), None)
        if open_one is not None:
            open_one.outcome = dict(call.outcome)
            how = "kept"
            if all(each.outcome is not None for each in record.awaited):
                record.status = "running"
                how = "resumed"
            await self._save(run, record)
            await self._go_on(run, record)
        if record.status == "ended" and self._on_end is not None:
            await self._on_end(_shown(run, record))
        return "continued" if was_cut_off else how

    async def _go_on(self, run: str, record: _Record) -> TeamRun:
        """Turn by turn, as long as it waits for nobody. The record is changed and kept."""
        result: TaskResult | None = None
        turns = 0
        while record.status == "running" and turns < _MOST_TURNS:
            result = await self._run_turn(run, record)
            await self._save(run, record)
            turns += 1
        if record.status == "running":
            raise HandfastError(
                f"Run {run} was refused what it hands off in {_MOST_TURNS} turns in a row: {record.text}",
                reason="refused_again",
                remedy="Let the team end when it is refused something: the outcome says whether a retry helps.",
                retryable=False,
                anchor="usage",
            )
        return replace(_shown(run, record), result=result)

    async def _run_turn(self, run: str, record: _Record) -> TaskResult:
        team = self._team()
        if record.state is not None:
            await team.load_state(record.state)
        labels = {LABELS["name"]: self._name, LABELS["run"]: run}
        turn = Turn(Keys(joined(self._name, run, str(record.turn))), labels=labels)
        with in_turn_of(turn):
            result = await team.run(task=_messages_of(record))
        paused = handed_over(result, turn)
        record.turn += 1
        record.state = dict(await team.save_state())
        record.text = _text_of(result)
        record.awaited = []
        for sent in turn.sent:
            to = sent.to or ("" if paused is None else paused.source)
            outcome = None if sent.outcome is None else dict(sent.outcome)
            record.awaited.append(_Awaited(handoff=sent.handoff, to=to, outcome=outcome))
        if paused is None:
            record.status = "ended"
        elif any(each.outcome is None for each in record.awaited):
            record.status = "waiting"
        return result

    async def _load(self, run: str) -> _Record | None:
        kept = await self._records.load(run)
        return None if kept is None else _Record.model_validate_json(kept)

    async def _save(self, run: str, record: _Record) -> None:
        await self._records.save(run, record.model_dump_json())


def _messages_of(record: _Record) -> list[BaseChatMessage]:
    """What a turn begins with."""
    if record.awaited:
        answered: Any = [(each.to, each.outcome) for each in record.awaited]
        return [answer_to(to, outcome) for to, outcome in answered]
    factory = MessageFactory()
    made = [factory.create(each) for each in record.task]
    return [each for each in made if isinstance(each, BaseChatMessage)]


def _dumped(task: str | BaseChatMessage | Sequence[BaseChatMessage]) -> list[dict[str, Any]]:
    messages = [TextMessage(source="user", content=task)] if isinstance(task, str) else task
    every = [messages] if isinstance(messages, BaseChatMessage) else list(messages)
    for each in every:
        if not MessageFactory().is_registered(type(each)):
            raise UsageError(f"A task of type {type(each).__name__} cannot be kept.", "Use text, or a TextMessage.")
    return [dict(BaseModel.model_dump(each, mode="json")) for each in every]


def _shown(run: str, record: _Record) -> TeamRun:
    waiting = tuple(each.handoff for each in record.awaited if each.handoff is not None and each.outcome is None)
    return TeamRun(run, waiting, record.status == "ended", record.text)


def _text_of(result: TaskResult) -> str:
    chat = [message for message in result.messages if isinstance(message, BaseChatMessage)]
    return chat[-1].to_text() if chat else ""
