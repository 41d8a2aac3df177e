"""Giving work: one handoff, a notice, or the tasks of a scatter."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

from .._acts import Draft, submit, submit_batch
from .._generated.views import Receipt
from .._protocol.ids import is_text_id
from .._protocol.limits import BATCH_HANDOFFS
from .._signal import unless
from .._wire_json import plain_text
from ..errors import HandoffError, UsageError
from .artifacts import put_artifacts
from .draft import draft_of, make_ids
from .faults import no_time_left
from .handle import AsyncHandle
from .options import Task, check_option_names
from .sender import Sender

T = TypeVar("T")


async def submit_one(sender: Sender, kind: str, target: Any, given: Any, options: Mapping[str, Any]) -> Receipt:
    check_option_names(options)
    [handoff] = make_ids(sender.base, 1)
    # Everything is checked before anything is sent, its artifacts included.
    draft = draft_of(handoff, kind, target, given, options, [], sender.parent)

    async def act() -> Receipt:
        artifacts = await put_artifacts(sender.base, options, sender.patience_left())
        whole = replace(draft, terms={**draft.terms, "artifacts": artifacts}) if artifacts else draft
        reply = await submit(sender.base, whole, patience=sender.patience_left(), minimal=kind == "handoff")
        return cast(Receipt, reply)

    return await _while_wanted(sender, act)


async def submit_tasks(
    sender: Sender, tasks: Sequence[Task], correlation: str, options: Mapping[str, Any]
) -> list[AsyncHandle[Any]]:
    """All in one batch, up to the number that a batch may have.

    Of more, what was accepted when one is refused is canceled.
    """

    async def act() -> list[AsyncHandle[Any]]:
        ids = make_ids(sender.base, len(tasks))
        common = {**options, "correlation": correlation}
        drafts = await asyncio.gather(
            *(_draft_of_task(sender, ids[index], task, index, common) for index, task in enumerate(tasks))
        )
        handles: list[AsyncHandle[Any]] = []
        for first in range(0, len(drafts), BATCH_HANDOFFS):
            batch = drafts[first : first + BATCH_HANDOFFS]
            try:
                receipts = await submit_batch(sender.base, batch, patience=sender.patience_left())
            except BaseException as error:
                if not options.get("keep"):
                    for handle in handles:
                        handle._drop("Another task of the scatter was refused.")
                named = _named(error, first)
                if named is error:
                    raise
                raise named from error
            handles += [
                AsyncHandle(
                    sender,
                    receipt["id"],
                    receipt=receipt,
                    demands=draft.terms.get("evidence"),
                    expects={**options, **task}.get("expects"),
                )
                for receipt, draft, task in zip(receipts, batch, tasks[first : first + BATCH_HANDOFFS], strict=True)
            ]
        return handles

    return await _while_wanted(sender, act)


async def _draft_of_task(sender: Sender, handoff: str, task: Task, index: int, common: Mapping[str, Any]) -> Draft:
    if not isinstance(task, Mapping):
        raise UsageError(f"Task {index} of the scatter is {task!r}.", 'Give {"capability": ..., "input": ...}.')
    own: dict[str, Any] = {name: value for name, value in task.items() if name not in ("to", "capability", "input")}
    check_option_names(own)
    if "input" not in task:
        raise UsageError(f"Task {index} of the scatter has no input.", "Give None where there is nothing to say.")
    shared = {name: value for name, value in common.items() if name not in ("keep", "idempotency_key")}
    key = common.get("idempotency_key")
    options = {**shared, **({} if key is None else {"idempotency_key": f"{plain_text(key)}/{index}"}), **own}
    target = {name: task.get(name) for name in ("to", "capability") if task.get(name) is not None}
    artifacts = await put_artifacts(sender.base, options, sender.patience_left())
    return draft_of(handoff, "handoff", target, task["input"], options, artifacts, sender.parent)


def correlation_of(sender: Sender, options: Mapping[str, Any], make_one: Callable[[], str]) -> str:
    """The correlation, known before the relay answers, so that it can be kept before anything else happens."""
    check_option_names(options, "keep")
    inherited = None if sender.parent is None else sender.parent.correlation_id
    # Repeated with its key a scatter is the same one, so its correlation is the same too.
    correlation = options.get("correlation") or inherited or options.get("idempotency_key") or make_one()
    if is_text_id(correlation):
        return plain_text(correlation)
    message = f"{correlation!r} is no correlation for {sender.base.agent}."
    raise UsageError(message, "Give 1 to 256 characters without control characters.")


async def _while_wanted(sender: Sender, act: Callable[[], Awaitable[T]]) -> T:
    """Until the caller or the parent lets go."""
    parent = sender.parent
    if parent is None:
        return await act()
    parent.signal.check()
    if parent.time_left() <= 0:
        raise no_time_left(parent.id)
    try:
        return await unless(act(), parent.signal)
    except HandoffError as error:
        if error.reason == "lease_lost":
            parent.lost(error)
        raise


_ABOUT_TASK = {402, 404, 406, 409, 412, 422, 428, 508}
"""A refusal of the first handoff of a batch alone names no place."""


def _named(error: BaseException, first: int) -> BaseException:
    """Says which task it was: a batch is refused by the first in it that does not fit."""
    problem = error.problem if isinstance(error, HandoffError) else None
    if not isinstance(error, HandoffError) or problem is None:
        return error
    refusals = problem.get("refusals")
    refusal: Mapping[str, Any] = refusals[0] if isinstance(refusals, list) and refusals else {}
    place = refusal.get("index", problem.get("index", 0 if error.code in _ABOUT_TASK else None))
    if not isinstance(place, int):
        return error
    return HandoffError(
        f"Task {first + place} of the scatter was refused: {refusal.get('detail', error.message)}",
        code=error.code,
        reason=error.reason,
        remedy=error.remedy,
        retryable=error.retryable,
        problem=problem,
    )
