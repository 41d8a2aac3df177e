"""A crew as a worker. What its tasks came to is kept at the relay, each as it is done: a redelivery goes on with the
first one that is not."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Union, overload

from crewai import Crew, CrewOutput, Task, TaskOutput
from typing_extensions import Unpack

from .._adapters import AnyClient
from .._client import AsyncClient
from .._serve import AsyncContext, Context, Handler, Server, SyncServer
from .._sync import Client
from ..errors import HandfastError
from ._offer import InputsOf, OfferOptions, Serving, inputs_of, offer
from ._own_thread import in_own_thread

Crews = Union[Crew, Callable[[], Crew]]
"""A crew, which is copied for each handoff; or what makes one, such as ``MyCrew().crew``."""


def crew_worker(
    crew: Crews, *, inputs: InputsOf = inputs_of, result: Callable[[CrewOutput], Any] | None = None
) -> Handler:
    """A handler for ``serve()``. Tools of the crew reach the handoff by ``handfast.current()``.

    :param inputs: What the kickoff is given. Default: the handoff's input, by its members.
    :param result: The output. Default: the crew's pydantic or JSON output, else its text.
    """

    async def handle(input: Any, ctx: AsyncContext) -> Any:
        return await in_own_thread(ctx, "crew", lambda own: _run(crew, inputs(input), result or output_of, own))

    return handle


@overload
def serve_crew(
    hf: Client,
    capability: str,
    crew: Crews,
    *,
    inputs: InputsOf = ...,
    result: Callable[[CrewOutput], Any] | None = ...,
    **options: Unpack[OfferOptions],
) -> SyncServer: ...


@overload
def serve_crew(
    hf: AsyncClient,
    capability: str,
    crew: Crews,
    *,
    inputs: InputsOf = ...,
    result: Callable[[CrewOutput], Any] | None = ...,
    **options: Unpack[OfferOptions],
) -> Coroutine[Any, Any, Server]: ...


def serve_crew(
    hf: AnyClient,
    capability: str,
    crew: Crews,
    *,
    inputs: InputsOf = inputs_of,
    result: Callable[[CrewOutput], Any] | None = None,
    **options: Unpack[OfferOptions],
) -> Serving:
    """Serves one capability by a crew. The relay's clocks hold: a crew that hangs loses its slot, and its handoff ends.

    :param options: Those of ``capability()`` and of ``serve()``.
    """
    return offer(hf, capability, crew_worker(crew, inputs=inputs, result=result), options)


def output_of(output: CrewOutput) -> Any:
    """What a crew came to, as JSON."""
    if output.pydantic is not None:
        return output.pydantic.model_dump(mode="json")
    return output.raw if output.json_dict is None else output.json_dict


def _run(made: Crews, inputs: Mapping[str, Any], result: Callable[[CrewOutput], Any], ctx: Context) -> Any:
    crew = made.copy() if isinstance(made, Crew) else made()
    # What it came to is wanted as a whole.
    crew.stream = False
    _go_on(crew, ctx)
    _keep_tasks(crew, ctx)
    output: Any = crew.kickoff(inputs=dict(inputs))
    ctx.use(tokens=output.token_usage.total_tokens)
    return result(output)


def _go_on(crew: Crew, ctx: Context) -> None:
    """Puts back what an earlier attempt had done. By a field of CrewAI's own checkpoints it begins after that."""
    checkpoint = ctx.previous.checkpoint
    kept = checkpoint.get("crewai_tasks", []) if isinstance(checkpoint, dict) else []
    for task, said in zip(crew.tasks, kept, strict=False):
        task.output = _restored(task, said)
    if kept:
        crew.checkpoint_kickoff_event_id = ctx.handoff["id"]


def _keep_tasks(crew: Crew, ctx: Context) -> None:
    given = crew.task_callback

    def done(output: TaskOutput) -> Any:
        # First what the user wants done with it: killed in between, it is done again.
        returned = None if given is None else given(output)
        outputs = [task.output for task in crew.tasks]
        # Only those in a row can be skipped: each may read what those before it came to.
        until = outputs.index(None) if None in outputs else len(outputs)
        ctx.progress(until / len(outputs), f"{until} of {len(outputs)} tasks are done")
        try:
            ctx.checkpoint({"crewai_tasks": [_kept(each) for each in outputs[:until] if each is not None]})
        except HandfastError:
            # Too large, or the lease is lost: no reason for this attempt to fail. The next one does it again.
            pass
        return returned

    crew.task_callback = done


def _kept(output: TaskOutput) -> dict[str, Any]:
    """Without what was said on the way: it is long, and nothing of what follows reads it."""
    said: dict[str, Any] = output.model_dump(mode="json", exclude={"messages", "pydantic"})
    if output.pydantic is not None:
        said["pydantic"] = output.pydantic.model_dump(mode="json")
    return said


def _restored(task: Task, said: dict[str, Any]) -> TaskOutput:
    plain = {name: value for name, value in said.items() if name != "pydantic"}
    output = TaskOutput.model_validate(plain)
    model = task.output_pydantic
    if model is not None and "pydantic" in said:
        output.pydantic = model.model_validate(said["pydantic"])
    return output
