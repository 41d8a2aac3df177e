"""What is sent by a turn of a team, and by whom.

Agents and tools of a team know nothing of the run that they are part of. The turn is found by a context variable, which
reaches them because a team starts a runtime of its own for each run.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final

from autogen_agentchat.base import TaskResult
from autogen_agentchat.messages import BaseChatMessage, HandoffMessage

from .._adapters import Outcome, hand_off, outcome_text, refusal_as_outcome
from .._adapters.keys import Keys
from .._client import AsyncClient
from .._send.options import SendOptions, Target
from .._serve import AsyncContext, current
from ..errors import UsageError

PAUSED: Final = "handfast"
"""Whom a team hands over to while it waits: ``HandoffTermination(target=PAUSED)`` stops it there."""

LABELS: Final = {"name": "autogen.name", "run": "autogen.run"}
"""By which an outcome finds the run that waits for it."""


@dataclass
class Sent:
    """One that the team waits for."""

    handoff: str | None
    """None where the relay refused it."""
    to: str | None
    """Who is given the outcome; None: whoever handed over."""
    outcome: Outcome | None


@dataclass
class Turn:
    """One run of a team, from a task to its end or to where it waits."""

    keys: Keys
    sender: AsyncContext | None = None
    """What is sent is a child of the handoff being worked on; None: it is sent by the client."""
    labels: dict[str, str] = field(default_factory=dict)
    sent: list[Sent] = field(default_factory=list)
    """Those that the team waits for."""


_turn: ContextVar[Turn | None] = ContextVar("handfast_autogen_turn", default=None)


@contextmanager
def in_turn_of(turn: Turn) -> Generator[None, None, None]:
    """For as long as the block runs, and whatever it starts."""
    token = _turn.set(turn)
    try:
        yield
    finally:
        _turn.reset(token)


async def send_and_wait(hf: AsyncClient, target: Target, input: Any, options: SendOptions) -> Outcome:
    """In place. The same step, run again, sends nothing twice."""
    turn = _turn.get()
    sender = _sender(hf, turn)
    key = None if turn is None else turn.keys.next(target, input)
    return await hand_off(sender, target, input, options, key=key, is_child=isinstance(sender, AsyncContext))


async def send_and_pause(
    hf: AsyncClient, target: Target, input: Any, options: SendOptions, to: str | None = None
) -> str:
    """Its outcome will be given to the team. Returns a line about it, for the conversation."""
    turn = _turn.get()
    if turn is not None and turn.sender is not None:
        # A served team is kept by its handoff: here it waits in place, and is given the outcome in the same way.
        outcome = await send_and_wait(hf, target, input, options)
        turn.sent.append(Sent(outcome["handoff"], to, outcome))
        return "The outcome comes as a message."
    if turn is None:
        raise UsageError(
            "Nobody keeps this team, so it cannot wait for an outcome.",
            "Run it by TeamRuns, with a runtime of its own; or use handoff_tool, which waits in place.",
            "nobody_keeps",
        )
    labels = {**options.get("labels", {}), **turn.labels}
    full: SendOptions = {**options, "idempotency_key": turn.keys.next(target, input), "labels": labels}
    try:
        handle = await hf.send(target, input, **full)
    except Exception as error:
        turn.sent.append(Sent(None, to, refusal_as_outcome(error)))
        return "The handoff was refused."
    turn.sent.append(Sent(handle.id, to, None))
    return f"Handed off as {handle.id}. Its outcome comes as a message."


def handed_over(result: TaskResult, turn: Turn) -> HandoffMessage | None:
    """The message by which a team stopped to wait; None: it has ended otherwise."""
    last = result.messages[-1] if result.messages else None
    paused = last if isinstance(last, HandoffMessage) and last.target == PAUSED else None
    if paused is None and turn.sent:
        raise UsageError(
            "The team went on after it had handed work off.",
            "Give it the termination condition HandoffTermination(target=PAUSED), joined to others by |.",
            "no_pause",
        )
    if paused is not None and not turn.sent:
        raise UsageError(
            f"The team handed over to {PAUSED}, but nothing was sent: {paused.content}",
            "Hand over by pausing_handoff or by a HandoffAgent that pauses, in a team with a runtime of its own.",
            "nothing_sent",
        )
    return paused


def answer_to(to: str, outcome: Outcome) -> BaseChatMessage:
    """The outcome, as a message for whoever waits for it: in a Swarm it is also the next to speak."""
    content = outcome_text(outcome)
    return HandoffMessage(source=PAUSED, target=to, content=content, metadata=metadata_of(outcome))


def metadata_of(outcome: Outcome) -> dict[str, str]:
    """For programs that read the conversation."""
    said = {"status": outcome["status"], "code": str(outcome["code"]), "retryable": str(outcome["retryable"]).lower()}
    handoff = {} if outcome["handoff"] is None else {"handfast.handoff": outcome["handoff"]}
    return {**handoff, **{f"handfast.{name}": value for name, value in said.items()}}


def _sender(hf: AsyncClient, turn: Turn | None) -> AsyncClient | AsyncContext:
    if turn is not None:
        return turn.sender or hf
    context = current()
    return context if isinstance(context, AsyncContext) else hf
