"""One handoff from its sending to its outcome, for a tool that waits in place."""

from __future__ import annotations

import asyncio
from typing import Any

from .._send.options import SendOptions, Target
from .kinds import AsyncSender
from .outcome import Outcome, outcome_of, refusal_as_outcome


async def hand_off(
    sender: AsyncSender,
    target: Target,
    input: Any,
    options: SendOptions,
    *,
    key: str | None = None,
    is_child: bool = False,
) -> Outcome:
    """Ends with a value however the handoff ended. Raises where it could not be sent, or was called off.

    Runs on the sender's event loop: ``awaited(owner, hand_off(sender_of(owner), …))``.

    :param key: The idempotency key. In a run that is tried again it is the same, and nothing is sent twice.
    :param is_child: The sender is a context. The relay then calls it off itself once that handoff has ended: another
        attempt may still want it.
    """
    keyed: SendOptions = options if key is None else {"idempotency_key": key, **options}
    try:
        handle = await sender.send(target, input, **keyed)
    except Exception as error:
        return refusal_as_outcome(error)
    try:
        return await outcome_of(handle, take=True)
    except asyncio.CancelledError:
        if not is_child:
            handle._drop("The caller gave up.")
        raise
