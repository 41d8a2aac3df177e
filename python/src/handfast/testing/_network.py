"""The network between the clients of a test and its relay.

Every request goes the same way: held back while a fake that was made before it starts, slowed, cut off or silenced as
the test wants it, then sent to the real relay. One thing arrives at a time, a request there or an answer here, and all
that follows from it is over before the next, so that every run is the same. What is in flight is counted: time does not
pass before everything is answered or parked.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import httpx

from ._calm import Calm, Stir
from ._clock import VirtualClock
from ._loops import OtherLoops
from ._process import RelayProcess, State
from ._wire import Wire

T = TypeVar("T")

CALL_HEADER = b"handfast-test-call"
MOMENT_S = 0.000_5
"""Of real time, in which something that is on its way may arrive."""


class Call:
    """One request on its way, and the answer that comes of it. Of the kit's own loop."""

    def __init__(self, number: int, end: End) -> None:
        self.number = number
        self.end = end
        self.head: asyncio.Future[httpx.Response] = asyncio.get_running_loop().create_future()
        self.task: asyncio.Task[None] | None = None
        self.is_parked = False
        """Known to the relay, which has no answer yet."""
        self.is_over = False
        """Answered, or given up."""
        self.is_given_up = False
        """Nobody waits for it, but the relay does not know."""
        self.is_stream = False
        self.received = 0
        """Bytes of the body that have come."""
        self.answer: httpx.Response | None = None
        """Whole, or the head of a stream: it has come, and is handed over in its turn."""
        self.come: list[bytes] = []
        """Pieces of a stream, likewise."""
        self.pieces: list[bytes] = []
        """Those that were handed over."""
        self.has_ended = False
        """Of a stream: nothing comes any more."""
        self.error: Exception | None = None
        self.news = asyncio.Event()
        """Of a stream: there are pieces, or it has ended."""

    def tear(self, error: BaseException) -> None:
        """The connection breaks: the relay learns of it, and the client unless its process is gone."""
        if self.task is not None:
            self.task.cancel()
        if not self.head.done():
            if isinstance(error, Exception):
                self.head.set_exception(error)
                # Whoever waits is told; where nobody does any more, nobody need be.
                self.head.exception()
            else:
                self.head.cancel()
        if self.error is None and isinstance(error, Exception):
            self.error = error
        self.is_over = True
        self.has_ended = True
        self.news.set()

    def arrive(self) -> None:
        """What has come is there for whoever waits for it."""
        if self.answer is not None and not self.head.done():
            self.head.set_result(self.answer)
        self.pieces += self.come
        self.come.clear()
        self.has_ended = self.is_over
        self.news.set()


class End:
    """One client's end of the network: it can be cut, silenced and slowed. Of the kit's own loop."""

    def __init__(self, is_fake: bool = False) -> None:
        self.is_fake = is_fake
        self.is_cut = False
        self.is_silent = False
        self.is_gone = False
        self.is_broken = False
        """The last that it said did not get through."""
        self.delay_ms = 0
        self.calls: dict[Call, None] = {}
        self._last_at = {"out": 0, "in": 0}
        self._changed = asyncio.Event()

    def cut(self) -> None:
        self.is_cut = True
        self.is_silent = False
        self._tear(httpx.ReadError("the connection to the relay was lost"))

    def silence(self) -> None:
        self.is_silent = True

    def restore(self) -> None:
        self.is_cut = False
        self.is_silent = False
        for call in list(self.calls):
            if call.is_given_up:
                call.tear(asyncio.CancelledError())
        self._change()

    def leave(self) -> None:
        """The client's process is gone, for good."""
        self.is_gone = True
        self._tear(asyncio.CancelledError())

    def _tear(self, error: BaseException) -> None:
        self.is_broken = True
        for call in list(self.calls):
            call.tear(error)
        self._change()

    def _change(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def check(self) -> None:
        if self.is_gone:
            # Code of a process that is dead does not go on.
            raise asyncio.CancelledError
        if self.is_cut:
            self.is_broken = True
            raise httpx.ConnectError("the connection to the relay was refused")

    async def passage(self, direction: str, clock: VirtualClock) -> None:
        """Until something gets through in this direction, in order."""
        self.check()
        while self.is_silent:
            await self._changed.wait()
            self.check()
        at = max(self._last_at[direction], clock.now() + self.delay_ms)
        self._last_at[direction] = at
        if at > clock.now():
            over = asyncio.Event()
            call_off = clock.after(at - clock.now(), over.set)
            try:
                await over.wait()
            finally:
                call_off()
            self.check()


class Network:
    """Lives on one loop, the kit's own; clients on other loops and threads come to it."""

    def __init__(
        self, clock: VirtualClock, process: RelayProcess, beginning: State, stir: Stir, calm: Calm, others: OtherLoops
    ) -> None:
        self.clock = clock
        self.others = others
        self.loop = asyncio.get_running_loop()
        # Dictionaries where order matters: that of a set differs from run to run.
        self.starting: dict[asyncio.Future[Any], None] = {}
        """Fakes that are not ready yet: what others say waits for them."""
        self.state = beginning
        """How the relay stood when it was last asked."""
        self._stir = stir
        self._calm = calm
        self._process = process
        self._wire = Wire(beginning["url"])
        self._numbers = itertools.count(1)
        self._sent: dict[int, Call] = {}
        self._queue: deque[Callable[[], None]] = deque()
        self._come: dict[int, Call] = {}
        # Whether anything went to the relay since it was last asked.
        self._is_stale = False
        self._carrier: asyncio.Task[None] | None = None
        self._is_closed = False

    def ask(self, order: dict[str, Any]) -> State:
        """An order to the relay; which calls are parked there is learned from every answer."""
        self._is_stale = False
        self.state = self._process.ask(order)
        for number in self.state["calls"]:
            if number.isdecimal() and int(number) in self._sent:
                self._sent[int(number)].is_parked = True
        return self.state

    async def ask_slowly(self, order: dict[str, Any]) -> State:
        """One that closes connections, so that what is on them is read meanwhile."""
        self.state = await asyncio.to_thread(self._process.ask, order)
        self._is_stale = True
        return self.state

    def distrust(self) -> None:
        """Programs that the kit does not know may have called the relay meanwhile."""
        self._is_stale = True

    def is_at_rest(self) -> bool:
        """Whether nothing is on its way: the relay has parked exactly what is in flight here, and all it sent has come.

        What it was asked last is asked again where that may be different by now.
        """
        if self._is_carrying or self._come:
            return False
        if self._is_stale:
            self.ask({"do": "settle"})
        parked = self.state["calls"]
        in_flight = {str(number): call for number, call in self._sent.items()}
        is_same = parked.keys() == in_flight.keys() and all(
            not call.is_stream or parked[number] == call.received for number, call in in_flight.items()
        )
        # Else something is about to move: that it does must be seen.
        self._is_stale = self._is_stale or not is_same
        return is_same

    @property
    def is_in_use(self) -> bool:
        """Whether any call waits at the relay."""
        return bool(self._sent)

    @property
    def connections(self) -> int:
        """How many are open to the relay."""
        return self._wire.connections

    async def until_carried(self) -> None:
        """Until nothing waits for its turn any more."""
        while self._carrier is not None and not self._carrier.done():
            await asyncio.wait((self._carrier,))

    async def come(self, errand: Callable[[], Awaitable[T]]) -> T:
        """Runs it on the kit's loop, from whichever this is."""
        here = asyncio.get_running_loop()
        if here is self.loop:
            return await errand()
        if self._is_closed:
            # The test is over, and with it the process that this client stands for.
            raise asyncio.CancelledError
        self.others.touch(here)

        async def run() -> T:
            try:
                return await errand()
            finally:
                self.others.touch(here)

        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(run(), self.loop))

    async def carry(self, end: End, request: httpx.Request) -> tuple[httpx.Response, Call]:
        """The relay's answer, whole, or the head of a stream."""
        self._stir.note()
        for start in () if end.is_fake else tuple(self.starting):
            await asyncio.wait((start,))
        await end.passage("out", self.clock)
        call = Call(next(self._numbers), end)
        end.calls[call] = None
        self._post(lambda: self._send(call, request))
        try:
            try:
                response = await asyncio.shield(call.head)
            except httpx.HTTPError:
                end.is_broken = True
                raise
            await end.passage("in", self.clock)
            return response, call
        except asyncio.CancelledError:
            self.give_up(call)
            raise

    def give_up(self, call: Call) -> None:
        """Nobody waits for it any more. In silence the relay does not learn of that, until the network is back."""
        if call.end.is_silent:
            call.is_given_up = True
        else:
            call.tear(asyncio.CancelledError())
            call.end.calls.pop(call, None)

    @property
    def _is_carrying(self) -> bool:
        return self._carrier is not None and not self._carrier.done()

    def _post(self, arrive: Callable[[], None]) -> None:
        """Soon, and after everything that was posted before."""
        self._queue.append(arrive)
        self._go_on()

    def _go_on(self) -> None:
        self._stir.note()
        if not self._is_carrying and not self._is_closed:
            self._carrier = self.loop.create_task(self._carry_all())

    async def _carry_all(self) -> None:
        while True:
            await self._calm.reach()
            # Everything that the relay says to what it was sent is on its way, or here, when it is at rest.
            if self._is_stale:
                self.ask({"do": "settle"})
                continue
            if any(not (call.is_parked or call.answer) for call in self._sent.values()):
                # Neither there nor back: it is on its way.
                await self._stir.since(self._stir.count, MOMENT_S)
                self._is_stale = True
                continue
            # In the order in which the relay said it: so they came, though each over a connection of its own.
            for call in self._come.values():
                self._queue.append(call.arrive)
            self._come.clear()
            if not self._queue:
                return
            self._queue.popleft()()
            self._stir.note()

    def _send(self, call: Call, request: httpx.Request) -> None:
        if call.is_over:
            return
        self._is_stale = True
        self._sent[call.number] = call
        call.task = self.loop.create_task(self._exchange(call, request))

    async def _exchange(self, call: Call, request: httpx.Request) -> None:
        try:
            answer = await self._wire.exchange(request, [(CALL_HEADER, str(call.number).encode())])
            call.end.is_broken = False
            call.is_stream = answer.headers.get("content-type", "").startswith("text/event-stream")
            if call.is_stream:
                call.answer = httpx.Response(answer.status, headers=answer.headers)
            content = b""
            # As fast as it comes, so that what was sent and what has come can be compared.
            async for piece in answer.pieces():
                call.received += len(piece)
                if call.is_stream:
                    call.come.append(piece)
                    self._arrived(call)
                else:
                    content += piece
            if not call.is_stream:
                call.answer = httpx.Response(answer.status, headers=answer.headers, content=content)
        except httpx.HTTPError as error:
            call.tear(error)
        finally:
            call.is_over = True
            self._sent.pop(call.number, None)
            call.end.calls.pop(call, None)
            self._arrived(call)

    def _arrived(self, call: Call) -> None:
        self._come[call.number] = call
        self._go_on()

    async def next_piece(self, call: Call) -> bytes | None:
        """Of a stream; None: it has ended."""
        while not call.pieces:
            if call.error is not None:
                raise call.error
            if call.has_ended:
                return None
            call.news.clear()
            await call.news.wait()
        await call.end.passage("in", self.clock)
        piece = b"".join(call.pieces)
        call.pieces.clear()
        return piece

    async def close(self) -> None:
        """What is still in flight is dropped."""
        self._is_closed = True
        tasks = [call.task for call in self._sent.values() if call.task is not None]
        for call in list(self._sent.values()):
            call.tear(asyncio.CancelledError())
        if self._carrier is not None:
            self._carrier.cancel()
            tasks.append(self._carrier)
        if tasks:
            await asyncio.wait(tasks)
        self._wire.close()
