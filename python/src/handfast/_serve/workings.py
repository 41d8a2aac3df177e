"""What stands behind both kinds of context: one attempt's streams, questions and children, on its server's event
loop."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from typing_extensions import Unpack

from .._generated.views import Receipt
from .._protocol.limits import SAFE_INTEGER
from .._send.handle import AsyncHandle
from .._send.options import SendOptions, Target
from .._send.sending import Sending, SendingFrom
from .._signal import Signal, unless
from .._surroundings import Surroundings
from .._wire_json import plain_json
from ..errors import HandfastError, HandoffError
from .chunk_writer import ChunkWriter
from .held import Held
from .progress import Progress
from .questions import Asking, Questions
from .serving import Serving


class Workings:
    """Few handlers stream, report or ask: each is made when it is first used."""

    def __init__(self, serving: Serving, held: Held) -> None:
        self.held = held
        self.loop = asyncio.get_running_loop()
        self.artifacts: list[dict[str, Any]] = []
        self._base = serving.base
        self._sending = serving.sending
        self._children: SendingFrom | None = None
        self._writer: ChunkWriter | None = None
        self._progress: Progress | None = None
        self._questions: Questions | None = None
        self._usage: dict[str, int] | None = None
        self._lock = threading.Lock()
        self._thread = threading.get_ident()

    @property
    def surroundings(self) -> Surroundings:
        return self._base.surroundings

    @property
    def sending(self) -> SendingFrom:
        """What is sent in the name of this handoff."""
        if self._children is None:
            self._children = _sending_for(self._sending, self.held)
        return self._children

    @property
    def is_unfinished(self) -> bool:
        """Something was streamed or reported."""
        return self._writer is not None or self._progress is not None

    def is_on_loop(self) -> bool:
        return threading.get_ident() == self._thread

    def post(self, act: Callable[[], None]) -> None:
        """From any thread, without waiting for it."""
        if self.is_on_loop():
            act()
            return
        try:
            self.loop.call_soon_threadsafe(act)
        except RuntimeError:  # The loop is closed: nobody is there to be told.
            pass

    def report(self, fraction: float | None, note: str | None) -> None:
        if self._progress is None:
            self._progress = Progress(self._base, self.held)
        self._progress.report(fraction, note)

    async def write(self, text: str) -> None:
        await self._writing().write(text)

    def push(self, text: str) -> None:
        self._writing().push(text)

    def _writing(self) -> ChunkWriter:
        if self._writer is None:
            self._writer = ChunkWriter(self._base, self.held)
        return self._writer

    async def checkpoint(self, state: Any) -> None:
        body = {**self.held.holder, "state": plain_json(state, "The checkpoint")}
        call = self._base.link.call("checkpoint", params={"id": self.held.id}, body=body, patience=self.held.deadline())
        try:
            await unless(call, self.held.over)
        except HandfastError as error:
            self.held.refused(error)
            raise

    async def ask(self, question: Any, asking: Asking) -> Any:
        if self._questions is None:
            self._questions = Questions(self._base, self.held)
        return await self._questions.ask(question, asking)

    def use(self, cost: float, tokens: float) -> None:
        with self._lock:
            before = self._usage or {"cost": 0, "tokens": 0}
            self._usage = {"cost": _sum(before["cost"], cost), "tokens": _sum(before["tokens"], tokens)}

    async def finish(self) -> None:
        """What was streamed and reported last is at the relay."""
        if self._writer is not None:
            await self._writer.finish()
        if self._progress is not None:
            await self._progress.finish()

    def enclosed(self) -> dict[str, Any]:
        """What an outcome carries beside its output."""
        return {
            **({} if self._usage is None else {"usage": self._usage}),
            **({} if not self.artifacts else {"artifacts": self.artifacts}),
        }


def _sum(before: int, more: float) -> int:
    """What is no amount counts as none: an outcome must not be lost by what it cost."""
    try:
        amount = float(more)
    except (TypeError, ValueError, OverflowError):
        amount = 0.0
    total = before + (0.0 if math.isnan(amount) else amount)
    return round(min(max(total, 0), SAFE_INTEGER))


@dataclass(frozen=True)
class _Parent:
    """The handoff that a handler works on, as the sender of others in its name."""

    held: Held

    @property
    def id(self) -> str:
        return self.held.id

    @property
    def fence(self) -> int:
        return int(self.held.lease["fence"])

    @property
    def correlation_id(self) -> str:
        return str(self.held.lease["correlation_id"])

    @property
    def conversation_id(self) -> str | None:
        found: str | None = self.held.lease["conversation_id"]
        return found

    @property
    def traceparent(self) -> str | None:
        found: str | None = self.held.lease.get("traceparent")
        return found

    @property
    def signal(self) -> Signal:
        return self.held.told

    def time_left(self) -> float:
        return self.held.deadline()

    def lost(self, refusal: HandoffError) -> None:
        self.held.end(refusal)


class _OfNotice(SendingFrom):
    """A notice is over once it is acknowledged: what its handler sends belongs to its group, but is no child of it."""

    def __init__(self, sending: SendingFrom, correlation: str) -> None:
        super().__init__(sending._sender)
        self._correlation = correlation

    async def send(self, target: Target, input: Any, **options: Unpack[SendOptions]) -> AsyncHandle[Any]:
        return await super().send(target, input, **self._in_group(options))

    async def notify(self, target: Target, input: Any, **options: Unpack[SendOptions]) -> Receipt:
        return await super().notify(target, input, **self._in_group(options))

    def _in_group(self, options: SendOptions) -> SendOptions:
        return options if "correlation" in options else {**options, "correlation": self._correlation}


def _sending_for(sending: Sending, held: Held) -> SendingFrom:
    if held.lease["kind"] != "notice":
        return sending.of(_Parent(held))
    return _OfNotice(sending.patient(held.deadline), held.lease["correlation_id"])
