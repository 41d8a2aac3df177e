"""Questions back to the sender or to a desk.

A handler is run again from its start after a parked question, and after a lost attempt: the same question asked again
gets the answer that is there, so ids follow from the order of asking.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from .._base import Base
from .._duration import Duration, to_ms
from .._send.proofs import proven_answer
from .._signal import unless
from .._typed import Unfit
from .._wire_json import plain_json
from ..errors import HandfastError, HandoffError, RelayUnreachable
from .faults import Parked, parked_reason
from .held import Held
from .limits import CLAIM_WAIT_S
from .schema import ReadSchema, read_schema

_AGAIN: Final = "--again-"


@dataclass(frozen=True)
class Asking:
    """How one question is put."""

    to: str | None = None
    schema: Any = None
    within: Duration | None = None
    park: bool = False
    id: str | None = None


class Questions:
    """Of the event loop of its server."""

    def __init__(self, base: Base, held: Held) -> None:
        self._base = base
        self._held = held
        self._asked = 0
        # One question is open at a time.
        self._turn = asyncio.Lock()

    async def ask(self, question: Any, asking: Asking) -> Any:
        self._asked += 1
        name = asking.id if asking.id is not None else f"q{self._asked}"
        async with self._turn:
            return await self._ask_in_turn(name, question, asking)

    async def _ask_in_turn(self, name: str, question: Any, asking: Asking) -> Any:
        held = self._held
        held.told.check()
        schema = (
            None if asking.schema is None else read_schema(asking.schema, "input", f"The schema of question {name}")
        )
        earlier = _answered(held.lease, name)
        if earlier is not None:
            return _accepted(schema, await self._written(earlier), earlier["id"], held.id)
        body = {
            **held.holder,
            "question": plain_json(question, "The question"),
            "question_id": _fresh_name(held.lease, name),
            **({} if asking.to is None else {"to": asking.to}),
            **({} if schema is None else {"schema": schema.json}),
            **({} if asking.within is None else {"answer_ms": max(1, to_ms(asking.within, "The option within"))}),
            **({"park": True} if asking.park else {}),
        }
        asked = await self._call("ask", params={"id": held.id}, body=body)
        if asking.park:
            held.leave(parked_reason(asked["id"]))
            raise Parked(asked["id"])
        view = await self._resolved(asked)
        return _accepted(schema, await self._written(view), view["id"], held.id)

    async def _written(self, told: Mapping[str, Any]) -> Any:
        """Of a sender that signs, the answer is taken from what was written and signed, not from what the relay
        shows."""
        trust, lease = self._base.trust, self._held.lease
        by = told.get("by")
        if not trust.expects_signature(lease["from"]) and (by is None or not trust.expects_signature(by)):
            return told.get("answer")
        view = await self._call("get", params={"id": lease["id"]}, query={"proofs": True})
        return await proven_answer(self._base, lease, view, told["id"])

    async def _resolved(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        view = asked
        while view.get("resolution") != "answered":
            self._held.told.check()
            if view["state"] not in ("waiting", "working"):
                raise _closed(view)
            if view.get("resolution") == "unanswered":
                raise _unanswered(view)
            view = await self._look(view)
        return view

    async def _look(self, view: Mapping[str, Any]) -> Mapping[str, Any]:
        """A relay that is away for long is no answer."""
        try:
            newer: Mapping[str, Any] = await self._call("question", params={"id": view["id"]}, wait=CLAIM_WAIT_S)
        except RelayUnreachable:
            if self._held.deadline_ms() > 0:
                return view
            raise
        return newer

    async def _call(self, name: str, **call: Any) -> Any:
        try:
            return await unless(self._base.link.call(name, **call, patience=self._held.deadline()), self._held.told)
        except HandfastError as error:
            self._held.refused(error)
            raise


def _answered(lease: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    again = f"{lease['id']}:{name}{_AGAIN}"
    for told in lease["questions"]:
        is_this = told["id"] == f"{lease['id']}:{name}" or told["id"].startswith(again)
        if is_this and told["resolution"] == "answered":
            found: Mapping[str, Any] = told
            return found
    return None


def _fresh_name(lease: Mapping[str, Any], name: str) -> str:
    """A question that an earlier attempt put and nobody answered is put anew, under a name of its own."""
    is_taken = any(told["id"] == f"{lease['id']}:{name}" for told in lease["questions"])
    return f"{name}{_AGAIN}{lease['fence']}" if is_taken else name


def _accepted(schema: ReadSchema | None, answer: Any, id: str, handoff: str) -> Any:
    try:
        return answer if schema is None else schema.opened(answer)
    except Unfit as fault:
        message = f"The answer to {id} does not fit: {fault}"
        raise HandoffError(message, code=422, reason="answer_unfit", handoff=handoff) from fault


def _unanswered(view: Mapping[str, Any]) -> HandoffError:
    message = f"Nobody answered question {view['id']} in time."
    return HandoffError(message, code=408, reason="unanswered", handoff=view["handoff"], retryable=False)


def _closed(view: Mapping[str, Any]) -> HandoffError:
    """The handoff went on without this handler: its signal says the same in a moment."""
    message = f"Question {view['id']} is closed: the handoff is {view['state']}."
    code = view["code"] if view["code"] >= 400 else 412
    return HandoffError(message, code=code, reason="question_closed", handoff=view["handoff"])
