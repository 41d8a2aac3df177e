"""Flows that hand work off and sleep: the method's output is what is sent, and its listeners get the outcome.

CrewAI lets a flow pause for feedback, keeps its state, and can go on with it in another process. Here the feedback is
the outcome of a handoff, as JSON text.
"""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections.abc import Callable
from typing import Any, Final, TypeVar, Union
from weakref import WeakKeyDictionary

from crewai.flow import Flow, HumanFeedbackResult, human_feedback
from crewai.flow.async_feedback import HumanFeedbackPending, PendingFeedbackContext
from crewai.flow.persistence import FlowPersistence
from pydantic_core import to_jsonable_python
from typing_extensions import Unpack

from .._adapters import AnyClient, Outcome, async_client_of, blocked, hand_off, refusal_as_outcome, sender_of, target_of
from .._adapters import outcome_of as outcome_at
from .._adapters.keys import short_key
from .._client import AsyncClient
from .._protocol.ids import is_text_id
from .._send.handle import AsyncHandle
from .._send.options import SendOptions, Target
from .._sync import Client
from ..errors import HandoffError, UsageError
from ._scene import context_now, key_within

F = TypeVar("F", bound=Callable[..., Any])

LABELS: Final = {"flow": "crewai.flow", "id": "crewai.id", "method": "crewai.method"}
"""By which an outcome finds the flow that waits for it."""

MARK: Final = "handfast"
"""Where the metadata of a pause names its handoff."""

Connected = Union[AnyClient, Callable[[], AnyClient]]
"""A client, or what gives one when it is first needed: classes are made before a program has connected."""

LABEL_CHARS: Final = 256
"""As long as the relay takes them."""

_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def handoff(
    hf: Connected,
    capability: str | None = None,
    *,
    to: str | None = None,
    input: Callable[[Any], Any] | None = None,
    **options: Unpack[SendOptions],
) -> Callable[[F], F]:
    """Put it under ``@start()`` or ``@listen(…)``: what the method returns is handed off, and the flow sleeps until
    ``resume_outcomes`` wakes it. Listeners get a HumanFeedbackResult, of which ``outcome_of`` reads the outcome.

    :param capability: What is needed. With `to`, of that agent.
    :param input: What is sent, out of what the method returned. Default: the same.
    :param options: Those of `send`.
    """
    who = capability or to or "a handoff"
    provider = HandoffProvider(hf, capability, to=to, input=input, **options)
    return human_feedback(message=f"Waits for {who}.", provider=provider)


def outcome_of(result: HumanFeedbackResult | str) -> Outcome:
    """The outcome that a listener was given: also a failure or a missed deadline."""
    text = result if isinstance(result, str) else result.feedback
    outcome: Outcome = json.loads(text)
    return outcome


class HandoffProvider:
    """A provider for ``@human_feedback`` that hands off what the method returned."""

    def __init__(
        self,
        hf: Connected,
        capability: str | None = None,
        *,
        to: str | None = None,
        input: Callable[[Any], Any] | None = None,
        **options: Unpack[SendOptions],
    ) -> None:
        self._hf = hf
        self._target: Target = target_of(capability, to)
        self._input = input
        self._options: SendOptions = options

    def request_feedback(self, context: PendingFeedbackContext, flow: Flow[Any]) -> str:
        """Sends, and raises HumanFeedbackPending: CrewAI keeps the flow and lets it rest."""
        _check(context, flow)
        output = context.method_output if self._input is None else self._input(context.method_output)
        input = to_jsonable_python(output)
        ctx = context_now()
        if ctx is not None:
            # A flow that is served waits in place: its own handoff has the deadline, and is tried again as a whole.
            key = key_within(ctx, [context.method_name, input])
            work = hand_off(sender_of(ctx), self._target, input, self._options, key=key, is_child=True)
            return _text(blocked(ctx, work))
        hf = self._hf if isinstance(self._hf, (Client, AsyncClient)) else self._hf()
        sending: Any = self._request(async_client_of(hf), context, flow, input)
        # CrewAI awaits what is to be awaited, on the loop that the flow was kicked off on.
        text: str = sending if isinstance(hf, AsyncClient) else blocked(hf, sending)
        return text

    async def _request(self, hf: AsyncClient, context: PendingFeedbackContext, flow: Flow[Any], input: Any) -> str:
        _one_at_a_time(flow, context)
        run = f"{context.flow_id}:{context.method_name}"
        marks = {
            LABELS["flow"]: type(flow).__name__,
            LABELS["id"]: context.flow_id,
            LABELS["method"]: context.method_name,
        }
        options: Any = {**self._options, "labels": {**self._options.get("labels", {}), **marks}}
        after = _previous(flow)
        while True:
            try:
                sent = await hf.send(self._target, input, **{**options, "idempotency_key": short_key(f"{run}:{after}")})
                is_new = sent.receipt is not None and not sent.receipt["repeated"]
            except HandoffError as error:
                found = _known(error)
                if found is None:
                    return _text(refusal_as_outcome(error))
                # A method that is run again may return something else: what was sent first counts.
                sent, is_new = hf.handle(found), False
            if is_new:
                raise _pending(context, sent)
            # It was cut off after it had sent; or it is a new run of a flow with the same id.
            view = await sent.status()
            if view["ended_at"] is None:
                raise _pending(context, sent)
            if view["taken_at"] is None:
                return _text(await outcome_at(sent, take=True))
            after = sent.id


_paused: WeakKeyDictionary[Flow[Any], int] = WeakKeyDictionary()
"""Of each flow, after how many feedbacks it handed off last."""


def _one_at_a_time(flow: Flow[Any], context: PendingFeedbackContext) -> None:
    """CrewAI keeps one pause for each flow: a second one beside it would never be woken."""
    heard = len(flow.human_feedback_history)
    if _paused.get(flow) != heard:
        _paused[flow] = heard
        return
    error = UsageError(
        f"Two methods of the flow {context.flow_id} hand off at the same time ({context.method_name} is the second), "
        "and CrewAI keeps only one pause.",
        "Let one method listen to the other, or hand off in one method, by scatter().",
    )
    # CrewAI drops what a method raises beside one that pauses.
    warnings.warn(str(error), RuntimeWarning, stacklevel=2)
    raise error


def _check(context: PendingFeedbackContext, flow: Flow[Any]) -> None:
    where = f"The method {context.method_name}"
    if context.emit:
        raise UsageError(
            f"{where} has emit=, by which CrewAI has a model read the outcome.",
            "Leave it out, and route by the outcome itself: @router on a listener.",
        )
    if len(context.flow_id) > LABEL_CHARS:
        raise UsageError(f"The flow's id has {len(context.flow_id)} characters.", f"Use up to {LABEL_CHARS}.")
    if not is_text_id(context.flow_id):
        raise UsageError(f"The flow's id is {context.flow_id!r}.", "Use one without control characters.")
    store = flow.persistence
    if store is not None and type(store).load_pending_feedback is FlowPersistence.load_pending_feedback:
        raise UsageError(
            f"{where} hands off, and {type(store).__name__} cannot keep a flow that pauses.",
            "Use SQLiteFlowPersistence, or one that has save_, load_ and clear_pending_feedback.",
        )


def _pending(context: PendingFeedbackContext, sent: AsyncHandle[Any]) -> HumanFeedbackPending:
    # A copy: it is the decorator's own, and the same in every run.
    context.metadata = {**context.metadata, MARK: {"handoff": sent.id}}
    return HumanFeedbackPending(context=context, callback_info={"handoff": sent.id})


def _previous(flow: Flow[Any]) -> str:
    """What the flow heard last tells this step from an earlier one of the same method, in whatever process."""
    last = flow.last_human_feedback
    if last is None:
        return "first"
    try:
        return str(outcome_of(last)["handoff"] or _digest(last.feedback))
    except (ValueError, TypeError, KeyError):
        return _digest(last.feedback)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _known(error: HandoffError) -> str | None:
    """The handoff that the key stands for, where its content is another."""
    if error.reason != "key_conflict":
        return None
    found = _ID.search(error.message.split("stands for")[-1])
    return None if found is None else found.group()


def _text(outcome: Outcome) -> str:
    return json.dumps(outcome, ensure_ascii=False)
