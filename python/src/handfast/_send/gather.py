"""The handoffs of a correlation, found again: after a restart, or by another process of the same agent."""

from __future__ import annotations

from typing import Any

from .._base import Base
from .._protocol.limits import PAGE_SIZE_MOST
from .handle import AsyncHandle
from .sender import Sender

_ROUTED = "handfast:dead-letter:"


async def find_handles(sender: Sender, correlation: str) -> list[AsyncHandle[Any]]:
    """Those that this agent sent, in the order in which they were accepted: that of the tasks."""
    sent = await _sent_under(sender.base, correlation)
    if not sent:
        # Nobody's, or another agent's: the relay says which, with a problem for the first.
        await sender.base.link.call("correlation", params={"id": correlation})
    return [AsyncHandle(sender, seen["id"], correlation=correlation, seen=seen) for seen in _latest(sent)]


async def _sent_under(base: Base, correlation: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    query: dict[str, Any] = {
        "correlation_id": correlation,
        "from": base.agent,
        "order": "oldest",
        "limit": PAGE_SIZE_MOST,
    }
    while True:
        page = await base.link.call("list", query=query)
        found += page["handoffs"]
        if page["cursor"] is None:
            return found
        query = {**query, "cursor": page["cursor"]}


def _latest(sent: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A redrive stands in the place of what it redrives. A dead letter that was routed elsewhere is nobody's task."""
    redrives = {view["redrive_of"]: view for view in sent if view["redrive_of"] is not None}
    known = {view["id"] for view in sent}
    tasks: list[dict[str, Any]] = []
    for view in sent:
        if view["redrive_of"] in known or view["idempotency_key"].startswith(_ROUTED):
            continue
        last = view
        while last["id"] in redrives:
            last = redrives[last["id"]]
        tasks.append(last)
    return tasks
