"""A sender whose handoffs are nodes of a workflow of Microsoft Agent Framework: a run for each, asleep until it has its
outcome.

The suite names a capability with every command, and a workflow has its own: so there are runs of one workflow for each,
with a name that a new life finds in the labels of what the last one sent.
"""

from __future__ import annotations

import asyncio
import json
from hashlib import sha256
from typing import Any

from agent_framework import Executor, FileCheckpointStorage, Workflow, WorkflowBuilder, WorkflowContext, handler
from handfast.agent_framework import HandoffExecutor, Outcome, Waker, WorkflowRun, WorkflowRuns
from harness import Sender, tell


class Split(Executor):
    """One message for each task."""

    @handler
    async def split(self, tasks: list[Any], ctx: WorkflowContext[Any]) -> None:
        for at, input in enumerate(tasks):
            await ctx.send_message({"at": at, "input": input})


class Collect(Executor):
    """Puts each outcome out, with the place of its task."""

    @handler
    async def collect(self, ended: dict[str, Any], ctx: WorkflowContext[Any, Any]) -> None:
        await ctx.yield_output(ended)


class WorkflowSender(Sender):
    """Runs by the name of their workflow, each with what wakes them."""

    def __init__(self) -> None:
        super().__init__()
        self._runs: dict[str, WorkflowRuns] = {}
        self._wakers: list[Waker] = []
        self._ended: dict[str, asyncio.Future[WorkflowRun]] = {}

    async def hand_off(self, tag: str, capability: str, input: dict[str, Any], options: dict[str, Any]) -> None:
        ended = self._ended[tag] = asyncio.get_running_loop().create_future()
        run = await self._runs_of(json.dumps([capability, options])).start(tag, [input])
        for handoff in run.waiting:
            self.sent(tag, handoff)
        if run.ended:
            await self._tell(run)
        await ended

    async def scatter(self, tag: str, capability: str, inputs: list[dict[str, Any]]) -> list[Any]:
        id = f"scatter-{tag}"
        ended = self._ended[id] = asyncio.get_running_loop().create_future()
        await self._runs_of(json.dumps([capability, {"correlation": tag}])).start(id, inputs)
        outputs = {each["at"]: each["outcome"].get("output") for each in (await ended).outputs}
        return [outputs[at] for at in range(len(inputs))]

    async def resume(self) -> None:
        """Every workflow of which a run may still sleep goes on; the rest follows by itself."""
        views: list[Any] = []
        for name, query in [
            ("outcomes", {}),
            *(("list", {"state": state}) for state in ("queued", "delivered", "working")),
        ]:
            views.extend((await self.hf.call(name, query={**query, "limit": 500}))["handoffs"])
        for name in {view["labels"]["agent-framework.name"] for view in views if view["from"] == self.hf.agent}:
            self._runs_of(name)

    async def stop(self) -> None:
        """No run is woken any more."""
        await asyncio.gather(*(waker.stop(0) for waker in self._wakers))

    def _runs_of(self, name: str) -> WorkflowRuns:
        if name not in self._runs:
            capability, options = json.loads(name)
            storage = f"runs/{sha256(name.encode()).hexdigest()[:16]}"
            runs = self._runs[name] = WorkflowRuns(
                self.hf,
                lambda: self._workflow(capability, options),
                lambda run: FileCheckpointStorage(f"{storage}/{run}"),
                name=name,
                on_end=self._tell,
            )
            self._wakers.append(runs.resume_outcomes(on_error=_broken))
        return self._runs[name]

    def _workflow(self, capability: str, options: dict[str, Any]) -> Workflow:
        split, collect = Split(id="split"), Collect(id="collect")
        hand_off = HandoffExecutor(
            self.hf, id="hand_off", capability=capability, input=lambda task: task["input"], output=_placed, **options
        )
        return WorkflowBuilder(start_executor=split).add_edge(split, hand_off).add_edge(hand_off, collect).build()

    async def _tell(self, run: WorkflowRun) -> None:
        """Once for each run: a scatter is told by whoever waits for it."""
        waiting = self._ended.get(run.id)
        if waiting is not None and waiting.done():
            return
        if not run.id.startswith("scatter-"):
            outcome = run.outputs[0]["outcome"]
            if outcome["status"] == "refused":
                tell(tag=run.id, refused=outcome["code"])
            else:
                self.ended(run.id, outcome["status"], outcome["code"], outcome.get("output"))
        if waiting is not None:
            waiting.set_result(run)


def _placed(outcome: Outcome, task: Any) -> dict[str, Any]:
    return {"at": task["at"], "outcome": outcome}


def _broken(error: BaseException, handoff: str, _key: str) -> None:
    tell(tag=handoff, broken=f"{type(error).__name__}: {error}")


async def main() -> None:
    sender = WorkflowSender()
    try:
        await sender.run()
    finally:
        await sender.stop()


asyncio.run(main())
