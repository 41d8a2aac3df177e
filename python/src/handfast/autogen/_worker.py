"""Teams, agents, and agents of a runtime as workers. Their state is the handoff's checkpoint: a redelivery goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

from autogen_agentchat.base import TaskResult
from autogen_agentchat.messages import BaseChatMessage, StructuredMessage, ToolCallExecutionEvent
from autogen_core import AgentId, AgentRuntime, BaseAgent, CancellationToken
from pydantic_core import to_json, to_jsonable_python

from .._adapters import verdict_of
from .._adapters.keys import Keys
from .._client import AsyncClient
from .._duration import Duration
from .._serve import AsyncContext, CapabilityDefinition, Server, current
from ..errors import HandfastError
from ._runs import Runner
from ._sending import Turn, answer_to, handed_over, in_turn_of
from ._watching import watch_team

Handle = Callable[[Any, AsyncContext], Awaitable[Any]]
Task = Any
"""Text, a chat message, or several."""

_OURS = "autogen"


def team_worker(
    team: Callable[[], Runner],
    *,
    task: Callable[[Any], Task] | None = None,
    result: Callable[[TaskResult], Any] | None = None,
) -> Handle:
    """A handler for ``hf.serve()``.

    :param team: Builds the team or agent: each attempt has one of its own.
    :param task: What it is told, out of the handoff's input. Default: the input, as JSON where it is no text.
    :param result: The handoff's output. Default: what the last message says.
    """

    async def handler(input: Any, ctx: AsyncContext) -> Any:
        raised: list[Exception] = []
        try:
            runner = team()
            ended = await _run(runner, lambda: (task or _as_text)(input), ctx, raised)
            return (result or _last)(ended)
        except Exception as error:
            # A team tells of what its agents raise only as text.
            raise verdict_of(raised[0] if raised else error) from error

    return handler


async def serve_team(
    hf: AsyncClient,
    capability: str,
    team: Callable[[], Runner],
    *,
    task: Callable[[Any], Task] | None = None,
    result: Callable[[TaskResult], Any] | None = None,
    concurrency: int | None = None,
    worker: str | None = None,
    grace: Duration | None = None,
    signals: bool = True,
    **definition: Any,
) -> Server:
    """Serves one capability by a team or an agent; ``definition`` has its ``input``, ``output``, ``timeout``,
    ``description`` and so on, as in ``hf.capability()``."""
    definition.setdefault("description", "")
    offered = CapabilityDefinition(handler=team_worker(team, task=task, result=result), **definition)
    return await hf.serve({capability: offered}, concurrency=concurrency, worker=worker, grace=grace, signals=signals)


async def _run(runner: Runner, task: Callable[[], Task], ctx: AsyncContext, raised: list[Exception]) -> TaskResult:
    state, counts = _kept_in(ctx)
    keys = Keys(f"worker/{ctx.handoff['id']}", counts)

    async def keep(state: Any) -> None:
        await _keep(ctx, {"state": state, "counts": dict(keys.counts)})

    is_team = watch_team(runner, keep, raised)
    if state is not None:
        await runner.load_state(state)
    told: Task = None if state is not None else task()
    while True:
        turn = Turn(keys, sender=ctx)
        async with _token_of(ctx) as token:
            with in_turn_of(turn):
                result = await _stream(runner, told, token, None if is_team else keep)
        paused = handed_over(result, turn)
        if paused is None:
            return result
        told = [answer_to(sent.to or paused.source, sent.outcome) for sent in turn.sent if sent.outcome is not None]


async def _stream(
    runner: Runner, task: Task, token: CancellationToken, keep: Callable[[Any], Awaitable[None]] | None
) -> TaskResult:
    """An agent alone is kept whenever its tools have run: until it is asked for more it stands still."""
    stream: Any = runner.run_stream(task=task, cancellation_token=token)
    async with aclosing(stream) as messages:
        async for message in messages:
            if isinstance(message, TaskResult):
                return message
            if keep is not None and isinstance(message, ToolCallExecutionEvent):
                await keep(await runner.save_state())
    raise RuntimeError("The run ended without a result.")


def runtime_worker(
    runtime: AgentRuntime,
    agent_type: str,
    *,
    message: Callable[[Any], Any],
    result: Callable[[Any], Any] = to_jsonable_python,
) -> Handle:
    """A handler for ``hf.serve()``: each handoff is a message to an agent of its own, whose key is the handoff's id.

    Its ``message_handler`` reaches the handoff by ``handoff_of(self)``, and keeps its state by ``keep_state(self)``:
    a redelivery then loads it before the message is sent again.

    :param message: What the agent is sent, out of the handoff's input.
    :param result: The handoff's output, out of what the agent answers.
    """

    async def handler(input: Any, ctx: AsyncContext) -> Any:
        agent = AgentId(agent_type, ctx.handoff["id"])
        _contexts[agent.key] = ctx
        try:
            state, _ = _kept_in(ctx)
            if state is not None:
                await runtime.agent_load_state(agent, state)
            async with _token_of(ctx) as token:
                return result(await runtime.send_message(message(input), agent, cancellation_token=token))
        except Exception as error:
            raise verdict_of(error) from error
        finally:
            del _contexts[agent.key]
            # The runtime keeps every agent for ever, and this one will not be asked again.
            getattr(runtime, "_instantiated_agents", {}).pop(agent, None)

    return handler


_contexts: dict[str, AsyncContext] = {}
"""By the keys of agents. A runtime runs its agents in tasks of its own, which context variables do not reach."""


def handoff_of(agent: BaseAgent) -> AsyncContext | None:
    """The handoff that an agent of a runtime works on; None: it is not served."""
    context = _contexts.get(agent.id.key) or current()
    return context if isinstance(context, AsyncContext) else None


async def keep_state(agent: BaseAgent) -> None:
    """Keeps what ``agent.save_state()`` says as the handoff's checkpoint."""
    context = handoff_of(agent)
    if context is not None:
        await context.checkpoint({_OURS: {"state": to_jsonable_python(await agent.save_state()), "counts": {}}})


def _kept_in(ctx: AsyncContext) -> tuple[Any, dict[str, int]]:
    """What an earlier attempt kept: also one of another framework, which is of no use here."""
    kept = ctx.previous.checkpoint
    ours = kept.get(_OURS) if isinstance(kept, dict) else None
    return (ours["state"], ours["counts"]) if isinstance(ours, dict) else (None, {})


async def _keep(ctx: AsyncContext, state: Any) -> None:
    """What is too large to be kept is done again in the next attempt: that is no reason to fail in this one."""
    try:
        await ctx.checkpoint({_OURS: to_jsonable_python(state)})
    except HandfastError:
        ctx.check()


@asynccontextmanager
async def _token_of(ctx: AsyncContext) -> AsyncGenerator[CancellationToken, None]:
    """AutoGen stops by a token; a canceled task alone would wait for the agent that speaks."""
    token = CancellationToken()

    async def pass_on() -> None:
        await ctx.canceled.wait()
        token.cancel()

    listening = asyncio.ensure_future(pass_on())
    try:
        yield token
    finally:
        listening.cancel()


def _as_text(input: Any) -> str:
    return input if isinstance(input, str) else to_json(input).decode()


def _last(result: TaskResult) -> Any:
    said = [each for each in result.messages if isinstance(each, BaseChatMessage)]
    if not said:
        return None
    last = said[-1]
    return last.content.model_dump(mode="json") if isinstance(last, StructuredMessage) else last.to_text()
