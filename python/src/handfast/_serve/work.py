"""One lease from its delivery to its outcome.

Who sent it is checked, it is acknowledged, and only when the relay has confirmed that does the handler run. An ack that
comes too late is dropped in silence: nothing was started.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from .._acts import acknowledge, reject
from .._signal import unless
from .._typed import Unfit
from ..errors import HandfastError, HandoffError
from .capabilities import Offered
from .ending import Ending, Failed, Rejected, Released, ending_of_raised, ending_of_returned, is_verdict
from .faults import message_of, outcome_error, story_of
from .handlers import Handlers
from .held import Held
from .limits import NO_THREAD_PAUSE_S
from .report import Said, release, report
from .running import Raised, Returned, run_handler
from .serving import Serving
from .signals import is_of_process
from .threads import NoThread
from .workings import Workings


async def work(serving: Serving, held: Held) -> None:
    if held.lease["kind"] == "notice":
        taken = await _take(serving, held)
        if taken is not None:
            await _run_notice(serving, held, taken)
        return
    # Before the ack, so that a handler that blocks at once finds it beating.
    serving.beats.hold(held)
    try:
        taken = await _take(serving, held)
        if taken is None:
            return
        ending, enclosed = await _run(serving, held, taken)
        if ending is not None and not held.is_left:
            await report(serving, held, Said(ending, enclosed))
    finally:
        serving.beats.drop(held)


@dataclass(frozen=True)
class _Taken:
    offered: Offered
    input: Any


async def _take(serving: Serving, held: Held) -> _Taken | None:
    base, lease = serving.base, held.lease
    offered = _handler_for(serving.handlers, lease["capability"])
    if offered is None:
        await _no_handler(serving, held)
        return None
    if lease["demands"] == "signed" and not base.signs:
        message = f"Handoff {held.id} demands signed receipts, and {base.agent} has only a token. Connect with a key."
        base.warn("signature_demanded", message, held.id)
        return None
    try:
        checked = await unless(base.trust.check_lease(dict(lease)), held.told)
        held.hear(await unless(acknowledge(base, lease, held.worker, patience=held.deadline()), held.told))
    except HandfastError as error:
        await _not_taken(serving, held, error)
        return None
    return _Taken(offered, _as_text(checked.input) if offered.text else checked.input)


_TOO_LATE: Final = frozenset([404, 408, 410, 412])
"""Codes of an ack that came too late, or for a lease that this worker has given up meanwhile."""


async def _not_taken(serving: Serving, held: Held, error: HandfastError) -> None:
    if held.is_over:
        return
    if held.told.is_set:
        # The worker stops. The ack may have been heard or not: given back it is right in both cases.
        await release(serving.base, held.worker, held.lease, serving.gone)
        return
    is_from_relay = isinstance(error, HandoffError) and error.problem is not None
    if isinstance(error, HandoffError) and is_from_relay and error.code in _TOO_LATE:
        return
    if isinstance(error, HandoffError) and not is_from_relay:
        serving.base.warn(error.reason, error.message, held.id)
        await _refuse(serving, held, error.reason, error.message)
        return
    message = f"Handoff {held.id} was not started: {message_of(error)}"
    serving.base.warn("not_acknowledged", message, held.id)


async def _refuse(serving: Serving, held: Held, reason: str, message: str) -> None:
    patience = held.lease["ack_ms"] / 1_000
    act = reject(serving.base, held.lease, held.worker, outcome_error(reason, message), patience=patience)
    try:
        await unless(act, serving.gone)
    except HandfastError:
        # Where even this is not heard, the ack clock gives it to another worker.
        pass


def _handler_for(handlers: Handlers, capability: str | None) -> Offered | None:
    """One that names only the agent goes to the only handler there is."""
    if capability is not None:
        return handlers.find(capability)
    names = handlers.names
    return handlers.find(names[0]) if len(names) == 1 else None


async def _no_handler(serving: Serving, held: Held) -> None:
    """A capability that this process does not know is in the manifest by another process of the agent, a newer one for
    instance. To reject it would exclude that one too: it is left to the ack clock, which prefers another worker."""
    base = serving.base
    capability = held.lease["capability"]
    names = ", ".join(serving.handlers.names)
    if capability is None:
        message = f"{base.agent} serves several capabilities ({names}): name one of them."
        await _refuse(serving, held, "no_handler", message)
        return
    message = (
        f"Handoff {held.id} asks for {capability}, which another process of {base.agent} offers and this one does not "
        f"({names}). It is left to that one; let all workers of an agent serve the same capabilities."
    )
    base.warn("no_handler", message, held.id)


def _as_text(input: Any) -> str:
    if isinstance(input, str):
        return input
    if isinstance(input, bytes):
        return input.decode("utf-8", "replace")
    return json.dumps(input, ensure_ascii=False, separators=(",", ":"))


async def _run_notice(serving: Serving, held: Held, taken: _Taken) -> None:
    """It ended with its ack: what its handler does is told to nobody but the people here."""
    ending, _ = await _run(serving, held, taken)
    if isinstance(ending, (Failed, Rejected)):
        message = f"The handler of notice {held.id} failed: {ending.error['message']}"
        serving.base.warn("notice_failed", message, held.id)


async def _run(serving: Serving, held: Held, taken: _Taken) -> tuple[Ending | None, dict[str, Any]]:
    """How it ended, None where nothing is to be said of it, and what goes with an outcome."""
    workings = Workings(serving, held)
    ending = await _ending(serving, held, taken, workings)
    if not held.is_over and workings.is_unfinished:
        await workings.finish()
    return ending, workings.enclosed()


async def _ending(serving: Serving, held: Held, taken: _Taken, workings: Workings) -> Ending | None:
    offered = taken.offered
    try:
        input = taken.input if offered.input is None else offered.input.opened(taken.input)
    except Unfit as fault:
        return Failed(outcome_error("input_unfit", f"The input does not fit: {fault}"), False)
    except BaseException as error:  # A validator of the user's own may raise anything.
        if is_of_process(error):
            raise
        return _ending_of_error(serving, held, offered, error)
    try:
        ended = await _ended(serving, held, offered, input, workings)
    except NoThread:
        return None if held.is_over else Released()
    if not isinstance(ended, Raised):
        return ending_of_returned(offered, ended.value)
    return None if held.is_over else _ending_of_error(serving, held, offered, ended.error)


async def _ended(serving: Serving, held: Held, offered: Offered, input: Any, workings: Workings) -> Returned | Raised:
    """Raises NoThread where the handler could not be begun: the handoff is given back, and no attempt is counted.

    A notice cannot be given back, it is over with its ack: it is tried again until its deadline.
    """
    is_first = True
    while True:
        try:
            return await run_handler(serving, held, offered, input, workings)
        except NoThread as error:
            is_notice = held.lease["kind"] == "notice"
            if is_first:
                then = "it is tried again" if is_notice else "it is given back"
                message = f"The system had no thread for {offered.name} on handoff {held.id}, and {then}: {error}"
                serving.base.warn("no_thread", message, held.id)
            is_first = False
            # The slot stays taken meanwhile, so that this worker does not ask for what it cannot do.
            try:
                await unless(serving.base.surroundings.sleep(NO_THREAD_PAUSE_S), held.told)
            except HandfastError:
                raise error from None
            if not is_notice or held.deadline_ms() == 0:
                raise


def _ending_of_error(serving: Serving, held: Held, offered: Offered, raised: BaseException) -> Ending:
    """A handler that was told to stop and raised is done with; any other error is news to the people here."""
    if is_verdict(raised):
        return ending_of_raised(raised)
    if held.told.is_set:
        return Released()
    message = f"The handler of {offered.name} raised on handoff {held.id}: {story_of(raised)}"
    serving.base.warn("handler_error", message, held.id)
    return ending_of_raised(raised)
