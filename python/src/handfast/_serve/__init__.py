"""Serving: handlers by capability, run for whatever the relay delivers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .._base import Base
from .._duration import Duration, to_seconds
from .._protocol.encoding import to_base64url
from .._protocol.ids import is_name
from .._send.sending import Sending
from .._signal import Signal
from ..errors import UsageError
from .beats import Beats
from .capabilities import Capabilities, CapabilityDefinition, Handler, Registry, read_capabilities, read_elsewhere
from .context import AnyContext, AsyncContext, Context, Previous
from .current import current
from .faults import Parked
from .handlers import Handlers
from .limits import CONCURRENCY, GRACE_S
from .propose import Proposal, Propose
from .proposing import Proposing
from .server import Server
from .serving import Serving
from .signals import watch_signals
from .stop_signal import StopSignal
from .sync_server import SyncServer
from .threads import HandlerThreads

__all__ = [
    "AnyContext",
    "AsyncContext",
    "Capabilities",
    "CapabilityDefinition",
    "Context",
    "Handler",
    "Parked",
    "Previous",
    "Proposal",
    "Propose",
    "Registry",
    "ServeOptions",
    "Server",
    "StopSignal",
    "SyncServer",
    "crash_server",
    "current",
    "serve",
    "watch_signals",
]


@dataclass(frozen=True)
class ServeOptions:
    """How a worker serves."""

    concurrency: int = CONCURRENCY
    """Handoffs worked on at once."""
    worker: str | None = None
    """The name of this process among the workers of its agent. Default: the agent's name and a short random part."""
    grace: Duration = GRACE_S
    """How long running handlers may take to end when the worker stops."""
    signals: bool = True
    """Stop in order on SIGTERM and SIGINT, where this is called on the main thread; a second signal ends the
    process."""
    elsewhere: Capabilities | None = None
    """Capabilities that other processes of this agent serve, with or without their handlers: they stand in its
    manifest, and this process takes no work for them. With it, work that names the agent and no capability is taken by
    none of these processes."""


_DEFAULTS = ServeOptions()


async def serve(
    base: Base,
    capabilities: Capabilities,
    options: ServeOptions = _DEFAULTS,
    *,
    sending: Sending | None = None,
) -> Server:
    """Announces the capabilities and works until it is stopped. Returns once the relay knows them."""
    offered = read_capabilities(capabilities)
    elsewhere = read_elsewhere(options.elsewhere or {})
    only = list(offered) if elsewhere else None
    concurrency = _concurrency(options)
    grace = to_seconds(options.grace, "The option grace")
    worker = _worker(base, options)
    handlers = Handlers.of(base)
    serving = Serving(
        base=base,
        sending=sending if sending is not None else Sending(base),
        worker=worker,
        handlers=handlers,
        beats=Beats(base),
        threads=HandlerThreads(concurrency),
        gone=Signal(),
    )
    server = Server(serving, concurrency=concurrency, grace=grace, only=only)
    try:
        server.on_stopped(await handlers.add(offered, elsewhere, lambda: server.is_stopping))
        server.on_stopped(_stop_when_closed(base, server))
        if options.signals:
            server.on_stopped(watch_signals(server))
    except BaseException:
        server.crash()
        raise
    proposing = Proposing(base, offered, lambda: server.is_stopping)
    server.on_stopped(proposing.stop)
    proposing.start()
    server.start()
    return server


def crash_server(server: Server) -> None:
    """For tests: the worker dies without a word, as a process that was killed."""
    server.crash()


def _concurrency(options: ServeOptions) -> int:
    given: Any = options.concurrency
    if isinstance(given, int) and not isinstance(given, bool) and given >= 1:
        return given
    raise UsageError(f"The option concurrency is {given!r}.", "Give a whole number from 1 on.")


def _worker(base: Base, options: ServeOptions) -> str:
    made = "".join(each if each.isalnum() else "x" for each in to_base64url(base.surroundings.random_bytes(6)))
    name = options.worker if options.worker is not None else f"{base.agent[:100]}.{made}"
    if is_name(name):
        return name
    raise UsageError(
        f"{name!r} is no name for a worker.",
        "Use up to 128 letters, digits, dots, underscores and hyphens, beginning with a letter or digit.",
    )


def _stop_when_closed(base: Base, server: Server) -> Callable[[], None]:
    tasks: set[asyncio.Task[None]] = set()

    def close() -> None:
        task = asyncio.get_running_loop().create_task(server.stop(0))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    return base.closed.listen(close)
