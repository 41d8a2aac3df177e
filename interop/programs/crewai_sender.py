"""A sender whose handoffs are steps of CrewAI flows: a flow for each, asleep until it has its outcome.

The suite names a capability with every command, and a step of a flow has its own: so the class is made for each. A new
life needs only one of them to go on, for they have the same name and the same methods.
"""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

from crewai.flow import Flow, listen, start
from crewai.flow.async_feedback import HumanFeedbackPending
from crewai.flow.persistence import SQLiteFlowPersistence
from handfast.crewai import Outcome, Waker, handoff, outcome_of, resume_outcomes
from harness import Sender, tell


class FlowSender(Sender):
    """Flows are kept in this participant's own folder."""

    _waker: Waker

    def __init__(self) -> None:
        super().__init__()
        self._store = SQLiteFlowPersistence("flows.db")
        self._outcomes: dict[str, asyncio.Future[Outcome]] = {}

    async def open(self) -> None:
        """From here on every flow that sleeps is woken, those of an earlier life too."""
        self._waker = resume_outcomes(self.hf, self._flow("any", {}), persistence=self._store, on_error=_broken)

    async def hand_off(self, tag: str, capability: str, input: dict[str, Any], options: dict[str, Any]) -> None:
        await self._run(tag, capability, input, options)

    async def scatter(self, tag: str, capability: str, inputs: list[dict[str, Any]]) -> list[Any]:
        runs = [self._run("", capability, input, {"correlation": tag}) for input in inputs]
        return [outcome.get("output") for outcome in await asyncio.gather(*runs)]

    async def resume(self) -> None:
        """They go on by themselves."""

    async def stop(self) -> None:
        """No flow is woken any more."""
        await self._waker.stop(0)

    async def _run(self, tag: str, capability: str, input: dict[str, Any], options: dict[str, Any]) -> Outcome:
        """A flow from its beginning to its end. Without a tag, nothing of it is told."""
        id = tag or str(uuid.uuid4())
        outcome = self._outcomes[id] = asyncio.get_running_loop().create_future()
        flow = self._flow(capability, options)(persistence=self._store, suppress_flow_events=True)
        pending = await flow.kickoff_async(inputs={"id": id, "tag": tag, "task": input})
        if tag and isinstance(pending, HumanFeedbackPending):
            self.sent(tag, pending.callback_info["handoff"])
        return await outcome

    def _flow(self, capability: str, options: dict[str, Any]) -> type[Flow[dict[str, Any]]]:
        sender = self

        class Ask(Flow[dict[str, Any]]):
            """One handoff."""

            @start()
            @handoff(sender.hf, capability, **options)
            async def request(self) -> Any:
                return self.state["task"]

            @listen(request)
            async def end(self, result: Any) -> None:
                sender._ended(self.state["id"], self.state["tag"], outcome_of(result))

        return Ask

    def _ended(self, id: str, tag: str, outcome: Outcome) -> None:
        if tag and outcome["status"] == "refused":
            tell(tag=tag, refused=outcome["code"])
        elif tag:
            self.ended(tag, outcome["status"], outcome["code"], outcome.get("output"))
        if id in self._outcomes:
            self._outcomes.pop(id).set_result(outcome)


def _broken(error: BaseException, handoff: str, _key: str) -> None:
    tell(tag=handoff, broken=f"{type(error).__name__}: {error}")


async def main() -> None:
    sender = FlowSender()
    try:
        await sender.run()
    finally:
        await sender.stop()


asyncio.run(main())
