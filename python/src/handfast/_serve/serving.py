"""What all work of one server shares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .._base import Base
from .._signal import Signal
from .beats import Beats
from .threads import HandlerThreads

if TYPE_CHECKING:
    from .._send.sending import Sending
    from .handlers import Handlers


@dataclass(frozen=True)
class Serving:
    base: Base
    sending: Sending
    worker: str
    handlers: Handlers
    beats: Beats
    threads: HandlerThreads
    gone: Signal
    """Set when the server is no more: nothing is said to the relay any longer."""
