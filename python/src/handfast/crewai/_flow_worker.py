"""A flow as a worker. Its id is the handoff's: one that persists its state finds it again in the next attempt."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Union, overload

from crewai import CrewOutput
from crewai.flow import Flow
from crewai.flow.async_feedback import HumanFeedbackPending, PendingFeedbackContext
from pydantic import BaseModel
from typing_extensions import Unpack

from .._adapters import AnyClient
from .._client import AsyncClient
from .._serve import AsyncContext, Context, Handler, Server, SyncServer
from .._sync import Client
from ..errors import Fail, UsageError
from ._crew_worker import output_of
from ._offer import InputsOf, OfferOptions, Serving, inputs_of, offer
from ._own_thread import in_own_thread
from ._scene import context_now

Flows = Union[type["Flow[Any]"], Callable[[], "Flow[Any]"]]
"""A class of flows, or what makes one: each handoff gets a flow of its own."""


class SenderFeedback:
    """A provider for ``@human_feedback`` in a flow that is served: the sender of the handoff is the one who is asked.

    It is asked ``{"message": …, "output": …}`` and answers with text.
    """

    def request_feedback(self, context: PendingFeedbackContext, flow: Flow[Any]) -> str:
        ctx = context_now()
        if ctx is None:
            raise UsageError(
                f"The method {context.method_name} asks the sender of a handoff, and no handoff is worked on.",
                "Serve the flow with serve_flow(), or give the method another provider.",
            )
        output = PendingFeedbackContext._make_json_safe(context.method_output)
        answer = ctx.ask({"message": context.message, "output": output}, schema={"type": "string"})
        return str(answer)


def flow_worker(flow: Flows, *, inputs: InputsOf = inputs_of, result: Callable[[Any], Any] | None = None) -> Handler:
    """A handler for ``serve()``. Methods of the flow reach the handoff by ``handfast.current()``.

    :param inputs: What the kickoff is given. Default: the handoff's input, by its members.
    :param result: The output. Default: what the flow's last method returned.
    """

    async def handle(input: Any, ctx: AsyncContext) -> Any:
        return await in_own_thread(ctx, "flow", lambda own: _run(flow, inputs(input), result or _output_of, own))

    return handle


@overload
def serve_flow(
    hf: Client,
    capability: str,
    flow: Flows,
    *,
    inputs: InputsOf = ...,
    result: Callable[[Any], Any] | None = ...,
    **options: Unpack[OfferOptions],
) -> SyncServer: ...


@overload
def serve_flow(
    hf: AsyncClient,
    capability: str,
    flow: Flows,
    *,
    inputs: InputsOf = ...,
    result: Callable[[Any], Any] | None = ...,
    **options: Unpack[OfferOptions],
) -> Coroutine[Any, Any, Server]: ...


def serve_flow(
    hf: AnyClient,
    capability: str,
    flow: Flows,
    *,
    inputs: InputsOf = inputs_of,
    result: Callable[[Any], Any] | None = None,
    **options: Unpack[OfferOptions],
) -> Serving:
    """Serves one capability by a flow. The relay's clocks hold: a flow that hangs loses its slot, and its handoff ends.

    :param options: Those of ``capability()`` and of ``serve()``.
    """
    return offer(hf, capability, flow_worker(flow, inputs=inputs, result=result), options)


def _run(made: Flows, inputs: Mapping[str, Any], result: Callable[[Any], Any], ctx: Context) -> Any:
    flow = made()
    # What it came to is wanted as a whole.
    flow.stream = False
    id = ctx.handoff["id"]
    # Given again, the inputs would undo what earlier attempts made of them.
    is_known = flow.persistence is not None and flow.persistence.load_state(id) is not None
    returned = flow.kickoff(inputs={"id": id} if is_known else {**inputs, "id": id})
    if isinstance(returned, HumanFeedbackPending):
        raise Fail(
            f"The flow paused at {returned.context.method_name} for feedback that nobody here can give. "
            "Give that method provider=SenderFeedback().",
            reason="flow_paused",
        )
    ctx.use(tokens=flow.usage_metrics.total_tokens)
    return result(returned)


def _output_of(returned: Any) -> Any:
    if isinstance(returned, CrewOutput):
        return output_of(returned)
    return json.loads(returned.model_dump_json()) if isinstance(returned, BaseModel) else returned
