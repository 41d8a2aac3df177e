"""Runs that a framework keeps under ids of the user's, and that outcomes wake."""

from __future__ import annotations

import abc
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from .._client import AsyncClient
from .._duration import Duration
from .._generated.views import HandoffView
from ..errors import HandfastError
from .keys import check_run, joined
from .turns import Lock, in_turn
from .wake import WakeCall, WakeOptions, Waker, Woken, wake_by_outcomes


class DurableRuns(abc.ABC):
    """One run at a time by its id; each outcome goes to the run that its handoff's labels name."""

    def __init__(self, framework: str, hf: AsyncClient, name: str, lock: Lock | None) -> None:
        self._framework = framework
        self._hf = hf
        self._name = check_run(name)
        self._lock = lock

    def resume_outcomes(
        self,
        *,
        follow: bool = True,
        concurrency: int = 10,
        attempts: int = 3,
        pause: Duration = 1.0,
        on_woken: Callable[[Woken], None] | None = None,
        on_error: Callable[[BaseException, str, str], None] | None = None,
    ) -> Waker:
        """Goes on with each run exactly once for each outcome, from now on: also with those whose process was killed.

        ``on_woken`` is told how: ``resumed``; ``kept``, where the run waits for others besides; ``continued``, where it
        had been cut off; ``not_waiting``, where it had the outcome already.

        :param follow: Go on with what comes. False: end after what is there now.
        :param concurrency: How many are woken at once.
        :param attempts: How often one is tried, with a `pause` before another try that doubles each time.
        :param on_error: Told of one that could not be woken (error, handoff, key): its outcome stays at the relay.
            Default: a warning of the client.
        """
        options = WakeOptions(follow, self._lock, concurrency, attempts, pause, on_woken, on_error)
        return wake_by_outcomes(self._hf, self, options)

    def key_of(self, view: HandoffView) -> str | None:
        """For the waker."""
        run = self._run_of(view)
        is_ours = run is not None and view["labels"].get(f"{self._framework}.name") == self._name
        return self._key(str(run)) if is_ours else None

    async def wake(self, call: WakeCall) -> str:
        """For the waker, which takes the run's turn itself."""
        return await self._wake(str(self._run_of(call.view)), call)

    @abc.abstractmethod
    async def _wake(self, run: str, call: WakeCall) -> str:
        """Gives a run its outcome; how that went."""

    def _run_of(self, view: HandoffView) -> str | None:
        return view["labels"].get(f"{self._framework}.run")

    def _turn(self, run: str) -> AbstractAsyncContextManager[None]:
        return in_turn(self._key(run), self._lock)

    def _key(self, run: str) -> str:
        return joined(self._framework, self._name, run)

    def _unknown(self, run: str, place: str) -> HandfastError:
        return HandfastError(
            f"There is no run {run} in this {place}.",
            reason="unknown_run",
            remedy=f"Use the {place} that it was started with. If it was deleted, take the outcome by hand.",
            retryable=False,
            anchor="usage",
        )
