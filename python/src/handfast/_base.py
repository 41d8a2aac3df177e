"""What sending and serving are built on: one agent at one relay."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ._identity.agent_key import AgentKey
from ._link import Identity, Link, ThreadLink
from ._payload import seal
from ._protocol.signing import Message, sign_batch
from ._signal import Signal
from ._surroundings import Surroundings
from ._trust import Trust
from ._wire_json import write_json

Capability = dict[str, Any]
"""As manifests have it: at least ``name``."""


@dataclass(frozen=True)
class ClientWarning:
    """Something that a person should know, though nothing failed."""

    reason: str
    """A stable name, in snake_case."""
    message: str
    handoff: str | None = None
    """The id of the handoff it is about, where it is about one."""


PAYLOAD_FIELD = {"handoff": "input", "outcome": "output", "answer": "answer"}
"""Under which name a document of this typ binds its payload."""


class Base:
    """What sending and serving share.

    Of one event loop; `thread_link`, `warn` and `sealed` may be used from any thread.
    """

    agent: str
    """The agent's name."""
    url: str
    """Where the relay is, as it was configured."""
    relay: str
    """The relay's public URL, as documents name it."""
    namespace: str
    key: AgentKey | None
    """None: a token only; acts are plain and attested."""
    link: Link
    surroundings: Surroundings
    trust: Trust
    """Checks what others signed, and pins their identities."""
    closed: Signal
    """Set when the client is closed; its error is what whoever waits gets."""

    def __init__(
        self,
        *,
        agent: str,
        url: str,
        relay: str,
        namespace: str,
        key: AgentKey | None,
        link: Link,
        identity: Identity,
        surroundings: Surroundings,
        trust: Trust,
        offer: Callable[[Sequence[Capability], Mapping[str, dict[str, Any]]], Awaitable[None]],
        on_warning: Callable[[ClientWarning], None],
    ) -> None:
        self.agent = agent
        self.url = url
        self.relay = relay
        self.namespace = namespace
        self.key = key
        self.link = link
        self.surroundings = surroundings
        self.trust = trust
        self.closed = Signal()
        self._identity = identity
        self._offer = offer
        self._on_warning = on_warning

    @property
    def signs(self) -> bool:
        """False: a token only."""
        return self.key is not None

    def sealed(
        self,
        typ: str,
        fields: dict[str, Any],
        payload: str | bytes | None = None,
        media_type: str = "application/json",
    ) -> dict[str, Any] | None:
        """The body of a call with a document that this agent's key signs; None where it has only a token.

        `fields` are what the document says beyond its header. The payload is the exact text (written by
        ``_wire_json.write_json`` where it is JSON) or bytes; its digest is put where a document of this typ has it.
        """
        made = self.sealed_batch([(typ, fields, payload, media_type)])
        return None if made is None else made[0]

    def sealed_batch(
        self, acts: Sequence[tuple[str, dict[str, Any], str | bytes | None, str]]
    ) -> list[dict[str, Any]] | None:
        """The same for many at once, (typ, fields, payload, media type) each, under one signature."""
        key = self.key
        if key is None:
            return None
        header = {"v": 1, "relay": self.relay, "namespace": self.namespace, "from": self.agent}
        documents: list[str] = []
        carried: list[dict[str, Any]] = []
        for typ, fields, payload, media_type in acts:
            said = {**header, "typ": typ, **fields}
            if payload is not None:
                digest, beside = seal(self.surroundings, payload, media_type)
                said[PAYLOAD_FIELD[typ]] = digest
                carried.append(beside)
            else:
                carried.append({})
            documents.append(write_json(said, f"The {typ}"))
        messages = [Message(act[0], document.encode("utf-8")) for act, document in zip(acts, documents, strict=True)]
        proofs = sign_batch(key, messages)
        return [
            {"signed": {"document": document, "proof": proof, **beside}}
            for document, proof, beside in zip(documents, proofs, carried, strict=True)
        ]

    async def register(
        self, capabilities: Sequence[Capability], costs: Mapping[str, dict[str, Any]] | None = None
    ) -> None:
        """Announces what this agent offers: by a signed registration, or with a token by set_capabilities.

        Repeated by itself when the relay has forgotten the agent (it came back empty). Costs by capability, in plain:
        they are sealed here.
        """
        await self._offer(capabilities, costs or {})

    def warn(self, reason: str, message: str, handoff: str | None = None) -> None:
        """Tells a person; nothing fails. Raises nothing, whatever the user's own function does."""
        self._on_warning(ClientWarning(reason, message, handoff))

    def thread_link(self) -> ThreadLink:
        """Calls for a thread of its own, such as that of the heartbeats. Whoever takes it closes it."""
        return ThreadLink(self.url, self._identity, self.surroundings)
