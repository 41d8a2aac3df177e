"""Handfast: work that agents hand to each other through a relay, and what became of it.

``Client`` is for code that blocks, ``AsyncClient`` (made by ``await connect()``) for asyncio; both can the same.
"""

from ._base import ClientWarning
from ._client import AsyncClient, Connecting, connect
from ._duration import Duration
from ._generated.views import (
    AgentView,
    DeadLetterView,
    HandoffEvent,
    HandoffView,
    LeaseView,
    OutcomeView,
    ProgressView,
    QuestionView,
    Receipt,
)
from ._identity.agent_key import PrivateJwk
from ._send.follow import AsyncChunks
from ._send.handle import AsyncHandle
from ._send.options import (
    Artifact,
    ArtifactBytes,
    Budget,
    ScatterOptions,
    SendOptions,
    Target,
    Task,
)
from ._send.proofs import Proven, ProvenReceipt
from ._send.scatter import AsyncScatter, AsyncSettled
from ._serve import (
    AnyContext,
    AsyncContext,
    Capabilities,
    CapabilityDefinition,
    Context,
    Handler,
    Parked,
    Previous,
    Server,
    SyncServer,
    current,
)
from ._settings import ConnectOptions
from ._sync import Client
from ._sync_handle import Chunks, Handle, Scatter, Settled
from ._trust import Pins
from .errors import (
    Fail,
    HandfastError,
    HandoffError,
    ProblemDocument,
    Reject,
    RelayUnreachable,
    Retry,
    ScatterError,
    UsageError,
)

__version__ = "0.1.0"

__all__ = [
    "AgentView",
    "AnyContext",
    "Artifact",
    "ArtifactBytes",
    "AsyncChunks",
    "AsyncClient",
    "AsyncContext",
    "AsyncHandle",
    "AsyncScatter",
    "AsyncSettled",
    "Budget",
    "Capabilities",
    "CapabilityDefinition",
    "Chunks",
    "Client",
    "ClientWarning",
    "ConnectOptions",
    "Connecting",
    "Context",
    "DeadLetterView",
    "Duration",
    "Fail",
    "HandfastError",
    "Handle",
    "Handler",
    "HandoffError",
    "HandoffEvent",
    "HandoffView",
    "LeaseView",
    "OutcomeView",
    "Parked",
    "Pins",
    "Previous",
    "PrivateJwk",
    "ProblemDocument",
    "ProgressView",
    "Proven",
    "ProvenReceipt",
    "QuestionView",
    "Receipt",
    "Reject",
    "RelayUnreachable",
    "Retry",
    "Scatter",
    "ScatterError",
    "ScatterOptions",
    "SendOptions",
    "Server",
    "Settled",
    "SyncServer",
    "Target",
    "Task",
    "UsageError",
    "connect",
    "current",
]
