"""A workflow, or an agent, as a worker. The run is the handoff: a redelivery finds its checkpoint and goes on where the
earlier attempt stopped. What it asks by ``request_info`` is asked back to the sender."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, Union

from agent_framework import (
    AgentExecutor,
    AgentResponse,
    CheckpointStorage,
    Content,
    InMemoryCheckpointStorage,
    SupportsAgentRun,
    Workflow,
    WorkflowBuilder,
    WorkflowConvergenceException,
    WorkflowValidationError,
)
from pydantic import TypeAdapter
from pydantic_core import to_jsonable_python

from .._adapters import handle_of, outcome_of, verdict_of
from .._client import AsyncClient
from .._duration import Duration
from .._serve import AsyncContext, CapabilityDefinition, Server
from ._kept import Kept, WorkflowRun, advance

Served = Union[Callable[[], Workflow], SupportsAgentRun]
"""Builds a workflow, one for each handoff; or an agent, which can run many at once."""

Handle = Callable[[Any, AsyncContext], Awaitable[Any]]

_FOR_GOOD = (WorkflowConvergenceException, WorkflowValidationError)
"""Another attempt would run into the same."""


def workflow_worker(
    served: Served,
    *,
    storage: CheckpointStorage | Callable[[str], CheckpointStorage] | None = None,
    message: Callable[[Any], Any] | None = None,
    result: Callable[[list[Any]], Any] | None = None,
) -> Handle:
    """A handler for ``hf.serve()``.

    :param storage: Where runs are kept, so that a redelivery goes on; or one for each handoff, by its id. Default:
        nowhere, and a redelivery begins anew.
    :param message: What the workflow is started with, out of the handoff's input. Default: the input, for an agent as
        text.
    :param result: The handoff's output, out of the run's outputs. Default: the last one, of an agent its text.
    """
    build = _workflow_of(served) if isinstance(served, SupportsAgentRun) else served
    message_of = message or (_as_text if isinstance(served, SupportsAgentRun) else _same)
    result_of = result or _last

    async def handler(input: Any, ctx: AsyncContext) -> Any:
        id = ctx.handoff["id"]
        keeper = (storage(id) if callable(storage) else storage) or InMemoryCheckpointStorage()
        try:
            kept = Kept(keeper, "worker", id, sender=ctx)
            return result_of((await _run(build, kept, lambda: message_of(input), ctx)).outputs)
        except Exception as error:
            raise verdict_of(error, for_good=isinstance(error, _FOR_GOOD), reason="workflow_error") from error

    return handler


async def serve_workflow(
    hf: AsyncClient,
    capability: str,
    served: Served,
    *,
    storage: CheckpointStorage | Callable[[str], CheckpointStorage] | None = None,
    message: Callable[[Any], Any] | None = None,
    result: Callable[[list[Any]], Any] | None = None,
    concurrency: int | None = None,
    worker: str | None = None,
    grace: Duration | None = None,
    signals: bool = True,
    **definition: Any,
) -> Server:
    """Serves one capability by a workflow or an agent; ``definition`` has its ``input``, ``output``, ``timeout``,
    ``description`` and so on, as in ``hf.capability()``."""
    handler = workflow_worker(served, storage=storage, message=message, result=result)
    definition.setdefault("description", getattr(served, "description", None) or "")
    offered = CapabilityDefinition(handler=handler, **definition)
    return await hf.serve({capability: offered}, concurrency=concurrency, worker=worker, grace=grace, signals=signals)


async def _run(build: Callable[[], Workflow], kept: Kept, message: Callable[[], Any], ctx: AsyncContext) -> WorkflowRun:
    # A new one each time, which is given what was kept: what works here works in another process as well.
    if await kept.open() is None:
        standing = await advance(build(), kept, message=message(), on_text=ctx.write)
    else:
        standing = kept.standing()
        if standing.unfinished:
            standing = await advance(build(), kept, on_text=ctx.write)
    while not standing.ended:
        handoffs = [_outcome_of(ctx, id) for id in standing.waiting]
        asked = [_answer_to(id, event, ctx) for id, event in standing.requests.items()]
        responses = dict(await asyncio.gather(*handoffs, *asked))
        standing = await advance(build(), kept, responses=responses, on_text=ctx.write)
    return standing


async def _outcome_of(ctx: AsyncContext, handoff: str) -> tuple[str, Any]:
    return handoff, dict(await outcome_of(handle_of(ctx, handoff), take=True))


async def _answer_to(id: str, event: Any, ctx: AsyncContext) -> tuple[str, Any]:
    """A person's approval is a yes or a no; anything else is answered as the workflow wants it."""
    name = re.sub(r"[^A-Za-z0-9._-]", "_", id)[:100]
    data = event.data
    if isinstance(data, Content) and data.type == "function_approval_request":
        call: Any = data.function_call
        question = {"approve": call.name, "arguments": call.parse_arguments()}
        approved = await ctx.ask(question, schema={"type": "boolean"}, id=name)
        return id, data.to_function_approval_response(approved=approved is True)
    question = to_jsonable_python(data.to_dict() if hasattr(data, "to_dict") else data, fallback=str)
    return id, await ctx.ask(question, schema=_schema_of(event.response_type), id=name)


def _schema_of(kind: Any) -> dict[str, Any] | None:
    """None: anything, also where pydantic knows nothing of the type."""
    try:
        return TypeAdapter(kind).json_schema() or None
    except Exception:
        return None


def _workflow_of(agent: SupportsAgentRun) -> Callable[[], Workflow]:
    """Of one node, under a name that does not change: its checkpoints are to be found again."""
    return lambda: WorkflowBuilder(start_executor=AgentExecutor(agent, id="agent"), name="agent").build()


T = TypeVar("T")


def _same(input: T) -> T:
    return input


def _as_text(input: Any) -> str:
    return input if isinstance(input, str) else TypeAdapter(Any).dump_json(input).decode()


def _last(outputs: list[Any]) -> Any:
    if not outputs:
        return None
    last = outputs[-1]
    if isinstance(last, AgentResponse):
        return last.text if last.value is None else to_jsonable_python(last.value)
    return to_jsonable_python(last)
