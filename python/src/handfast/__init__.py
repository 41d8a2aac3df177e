"""Handfast: work that agents hand to each other through a relay, and what became of it.

``Client`` is for code that blocks, ``AsyncClient`` (made by ``await connect()``) for asyncio; both can the same.
"""

from ._base import ClientWarning
from ._client import AsyncClient, Connecting, connect
from ._duration import Duration
from ._find import AsyncContract, AsyncNegotiation, AsyncOffer, Found, Need, TermsNeeded
from ._find.sync_find import Contract, Negotiation, Offer
from ._generated.views import (
    AgentView,
    ContractTerms,
    ContractView,
    DeadLetterView,
    HandoffEvent,
    HandoffView,
    Hit,
    LeaseView,
    Miss,
    OfferView,
    OutcomeView,
    ProgressView,
    ProposalCall,
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
    Proposal,
    Propose,
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
    WaitOver,
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
    "AsyncContract",
    "AsyncHandle",
    "AsyncNegotiation",
    "AsyncOffer",
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
    "Contract",
    "ContractTerms",
    "ContractView",
    "DeadLetterView",
    "Duration",
    "Fail",
    "Found",
    "HandfastError",
    "Handle",
    "Handler",
    "HandoffError",
    "HandoffEvent",
    "HandoffView",
    "Hit",
    "LeaseView",
    "Miss",
    "Need",
    "Negotiation",
    "Offer",
    "OfferView",
    "OutcomeView",
    "Parked",
    "Pins",
    "Previous",
    "PrivateJwk",
    "ProblemDocument",
    "ProgressView",
    "Proposal",
    "ProposalCall",
    "Propose",
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
    "TermsNeeded",
    "UsageError",
    "WaitOver",
    "connect",
    "current",
]
