"""The two kinds of callers: an agent with a key, which registers itself, and the bearer of a token."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from .._exchange import Exchange
from .._persist import ComeBack, Refused, persist
from .._protocol.seal_cost import salt_by_key
from .._refusal import refusal_of
from .._surroundings import Surroundings
from ..errors import UsageError
from .agent_key import AgentKey
from .credential import Credentials
from .manifest import Stated, Terms, nothing_stated, state_manifest
from .registration import register

_COURTESY = 0.3
"""Of several processes of one agent, those that offer nothing let the others come first."""


class KeyMember:
    """An agent with a key."""

    def __init__(
        self,
        exchange: Exchange,
        *,
        agent: str,
        namespace: str,
        relay: str,
        key: AgentKey,
        token: str | None,
        surroundings: Surroundings,
        patience: float,
        terms: Terms | None = None,
    ) -> None:
        self._exchange = exchange
        self._agent = agent
        self._namespace = namespace
        self._relay = relay
        self._key = key
        self._token = token
        self._surroundings = surroundings
        self._patience = patience
        self._credentials = Credentials(agent, namespace, relay, key, surroundings)
        self._terms = terms or {}
        self._stated = nothing_stated(agent)
        self._was_known = False
        self._readmission: asyncio.Task[None] | None = None
        self._looks: set[asyncio.Task[None]] = set()

    def authorization(self, fresh: bool = False) -> str:
        return self._credentials.current(fresh)

    async def readmit(self) -> None:
        """However many calls were refused, it registers once."""
        if self._readmission is None:
            self._readmission = asyncio.ensure_future(self._readmit())
            self._readmission.add_done_callback(self._readmitted)
        # One caller that gives up must not spoil it for the others.
        await asyncio.shield(self._readmission)

    async def offer(
        self, capabilities: Sequence[dict[str, Any]], costs: Mapping[str, dict[str, Any]] | None = None
    ) -> None:
        """What the agent offers from now on, also after the relay has forgotten it."""

        def salt_of(capability: str, cost: dict[str, Any]) -> str:
            return salt_by_key(self._key.sign, self._agent, capability, cost)

        stated = state_manifest(self._agent, self._terms, capabilities, costs or {}, salt_of)
        if not await self._states_already(stated):
            await self._register(stated)
        self._stated = stated

    @property
    def _offers_something(self) -> bool:
        return bool(self._stated.manifest["capabilities"])

    def known(self) -> None:
        """The relay answered a call of this agent: it knows it."""
        self._was_known = True

    def returned(self) -> None:
        """Another process of this agent may have come back first and registered without offering anything."""
        if self._offers_something:
            look = asyncio.ensure_future(self._offer_again())
            self._looks.add(look)
            look.add_done_callback(self._looks.discard)

    def _readmitted(self, task: asyncio.Task[None]) -> None:
        self._readmission = None
        if not task.cancelled():
            # Whoever still waits for it is told; somebody else need not be.
            task.exception()

    async def _offer_again(self) -> None:
        try:
            if not (await self._view())["capabilities"]:
                await self._register(self._stated)
        except Exception:
            # Failing to look is no harm: whoever calls is told what is wrong.
            pass

    async def _states_already(self, stated: Stated) -> bool:
        """A registration is a stranger's call, of which a relay takes few a second; to look is the agent's own."""
        if not self._was_known:
            return False
        try:
            view = await self._view()
        except Exception:
            # Whatever is wrong, registering finds it too, and tells.
            return False
        manifest = view["manifest"]
        if manifest is None or not manifest["signed"]:
            return False
        # What a key signed that was revoked since proves nothing to others: it is said again, with the key there is
        # now.
        revoked = [key["revoked_at"] for key in view["keys"] if key["revoked_at"] is not None]
        if any(at >= manifest["since"] for at in revoked):
            return False
        return bool(manifest["digest"] == stated.digest)

    async def _readmit(self) -> None:
        # Registering replaces what the agent offers: a mere sender must not undo what its worker has just said.
        if self._was_known and not self._offers_something:
            await self._surroundings.sleep(_COURTESY * (0.5 + self._surroundings.random()))
            if await self._is_known():
                return
        await self._register(self._stated)

    async def _register(self, stated: Stated) -> None:
        await persist(self._exchange.url, self._surroundings, self._patience, lambda: self._register_once(stated))
        self._was_known = True

    async def _register_once(self, stated: Stated) -> None:
        await register(
            self._exchange,
            namespace=self._namespace,
            relay=self._relay,
            key=self._key,
            token=self._token,
            stated=stated,
        )

    async def _view(self) -> Any:
        return await self._exchange.once("agent", params={"name": self._agent}, authorization=self.authorization())

    async def _is_known(self) -> bool:
        try:
            await self._view()
        except Refused as refused:
            refusal = refusal_of(refused, None)
            if refusal.kind == "unknown_agent":
                return False
            error = refusal.error
            raise (error.refusal if isinstance(error, ComeBack) else error) from None
        return True


class TokenBearer:
    """Whoever a token stands for."""

    def __init__(self, token: str) -> None:
        self._token = token

    def authorization(self, fresh: bool = False) -> str:
        return self._token

    async def readmit(self) -> None:
        raise UsageError("The relay does not know whom the token stands for.", "Ask for a new token.", "unknown_token")

    def returned(self) -> None:
        pass
