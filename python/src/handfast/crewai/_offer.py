"""How a crew or a flow is offered: the same options as any capability has, and those of its worker."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Union

from pydantic import BaseModel
from typing_extensions import TypedDict

from .._adapters import AnyClient
from .._duration import Duration
from .._serve import CapabilityDefinition, Handler, Server, SyncServer

InputsOf = Callable[[Any], Mapping[str, Any]]
"""From a handoff's input to what a kickoff is given."""
Serving = Union[SyncServer, Coroutine[Any, Any, Server]]


class OfferOptions(TypedDict, total=False):
    """All of them optional, and as in ``capability()`` and ``serve()``."""

    input: Any
    output: Any
    timeout: Duration
    description: str
    version: str
    tags: Sequence[str]
    idempotent: bool
    ext: Mapping[str, Any]
    concurrency: int
    worker: str
    grace: Duration
    signals: bool


_OF_WORKER = ("concurrency", "worker", "grace", "signals")


def offer(hf: AnyClient, capability: str, handler: Handler, options: OfferOptions) -> Serving:
    """Serves it: at once by a Client, to be awaited by an AsyncClient."""
    given: dict[str, Any] = dict(options)
    of_worker = {name: given.pop(name) for name in _OF_WORKER if name in given}
    return hf.serve({capability: CapabilityDefinition(handler, **given)}, **of_worker)


def inputs_of(input: Any) -> dict[str, Any]:
    """An object by its members; anything else under the name "input"."""
    plain = input.model_dump(mode="json") if isinstance(input, BaseModel) else input
    return dict(plain) if isinstance(plain, Mapping) else {"input": plain}
