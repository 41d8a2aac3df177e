"""A worker whose work is done by a workflow of Microsoft Agent Framework; what it asks, it asks by a request for
information."""

from __future__ import annotations

import asyncio
from typing import Any

import handfast
from agent_framework import (
    Executor,
    FileCheckpointStorage,
    Workflow,
    WorkflowBuilder,
    WorkflowContext,
    handler,
    response_handler,
)
from handfast import AsyncClient, AsyncContext
from handfast.agent_framework import serve_workflow
from harness import INPUT_SCHEMA, OUTPUT_SCHEMA, QUESTION, Worker, do_task, output_of


class Upper(Executor):
    """Does the work, and reaches the handoff that it works on."""

    @handler
    async def work(self, input: dict[str, Any], ctx: WorkflowContext[Any, dict[str, str]]) -> None:
        context = handfast.current()
        assert isinstance(context, AsyncContext)
        if input.get("mode") == "ask":
            # The sender is asked by whoever serves the workflow, which sleeps meanwhile.
            ctx.set_state("text", input["text"])
            await ctx.request_info(QUESTION, str)
        else:
            await ctx.yield_output(await do_task(input, context))

    @response_handler
    async def answered(self, _question: dict, answer: str, ctx: WorkflowContext[Any, dict[str, str]]) -> None:  # type: ignore[type-arg]
        await ctx.yield_output(output_of(ctx.get_state("text"), answer))


def build() -> Workflow:
    """One node."""
    return WorkflowBuilder(start_executor=Upper(id="upper")).build()


class WorkflowWorker(Worker):
    """The same workflow for every agent."""

    async def offer(self, hf: AsyncClient, capability: str) -> None:
        await serve_workflow(
            hf,
            capability,
            build,
            storage=lambda handoff: FileCheckpointStorage(f"runs/{handoff}"),
            input=INPUT_SCHEMA,
            output=OUTPUT_SCHEMA,
            concurrency=12,
            signals=False,
        )


asyncio.run(WorkflowWorker().run())
