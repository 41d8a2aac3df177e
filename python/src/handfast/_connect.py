"""From nothing to a connected agent: find the relay, prove who this is, register where it is not known yet."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from ._base import Base, Capability, ClientWarning
from ._exchange import Exchange
from ._identity.manifest import state_manifest
from ._identity.membership import KeyMember, TokenBearer
from ._identity.public_url import public_url
from ._link import Identity, Link
from ._persist import Refused, answer_within, persist
from ._protocol.seal_cost import salt_by_token
from ._refusal import refusal_of
from ._settings import ConnectOptions, Settings, read_settings
from ._surroundings import Surroundings, real_surroundings
from ._trust import Trust
from .errors import HandoffError, UsageError

_VERSION = "v1"
_logger = logging.getLogger("handfast")

Offer = Callable[[Sequence[Capability], Mapping[str, dict[str, Any]]], Awaitable[None]]


async def open_base(options: ConnectOptions) -> Base:
    """The agent's key is made on first use, and registered where the relay takes new agents by themselves; otherwise
    the error says what an operator must do."""
    surroundings = options.get("surroundings", real_surroundings)
    settings = read_settings(options, surroundings)
    exchange = Exchange(settings.url, surroundings)
    try:
        return await _Opening(options, settings, surroundings, exchange).open()
    except BaseException:
        await exchange.close()
        raise


class _Opening:
    def __init__(
        self, options: ConnectOptions, settings: Settings, surroundings: Surroundings, exchange: Exchange
    ) -> None:
        self._options = options
        self._settings = settings
        self._surroundings = surroundings
        self._exchange = exchange
        self._warn = _careful(options.get("on_warning", _log))

    async def open(self) -> Base:
        about = await self._read_about()
        _check_about(about, self._settings)
        relay = public_url(self._settings.url, about["public_urls"])
        namespace: str = about["namespace"]
        if self._settings.key is None:
            link, identity, agent, offer = await self._with_token()
        else:
            link, identity, agent, offer = await self._with_key(relay, namespace)
        trust = Trust(
            link,
            self._surroundings,
            relays=about["public_urls"],
            namespace=namespace,
            pins=self._options.get("pins", {}),
            require_signed=self._options.get("require_signed", False),
        )
        return Base(
            agent=agent,
            url=self._settings.url,
            relay=relay,
            namespace=namespace,
            key=self._settings.key,
            link=link,
            identity=identity,
            surroundings=self._surroundings,
            trust=trust,
            offer=offer,
            on_warning=self._warn,
        )

    async def _with_key(self, relay: str, namespace: str) -> tuple[Link, Identity, str, Offer]:
        settings = self._settings
        if settings.key is None or settings.agent is None:
            raise AssertionError("A key has an agent's name.")
        identity = KeyMember(
            self._exchange,
            agent=settings.agent,
            namespace=namespace,
            relay=relay,
            key=settings.key,
            token=settings.token,
            surroundings=self._surroundings,
            patience=settings.patience,
            terms=settings.terms,
        )
        link = self._link(identity)
        # The first call tells whether the relay knows the key; if not, the link registers it.
        await link.call("agent", params={"name": settings.agent}, patience=settings.connect_patience)
        identity.known()
        return link, identity, settings.agent, identity.offer

    async def _with_token(self) -> tuple[Link, Identity, str, Offer]:
        settings, token = self._settings, self._settings.token
        if token is None:
            raise AssertionError("There is neither a key nor a token.")
        identity = TokenBearer(token)
        link = self._link(identity)
        agent = await _bearer_of(link, settings.connect_patience)
        if settings.agent is not None and settings.agent != agent:
            message = f"The token is {agent}'s, not {settings.agent}'s."
            remedy = f"Connect as {agent}, or with a token of {settings.agent}."
            raise UsageError(message, remedy, "wrong_token")

        def salt_of(capability: str, cost: dict[str, Any]) -> str:
            return salt_by_token(token, agent, capability, cost)

        async def offer(capabilities: Sequence[Capability], costs: Mapping[str, dict[str, Any]]) -> None:
            stated = state_manifest(agent, settings.terms, capabilities, costs, salt_of)
            said = {name: value for name, value in stated.manifest.items() if name != "agent_id"}
            beside = {"costs": stated.costs} if stated.costs else {}
            await link.call("set_capabilities", params={"name": agent}, body={**said, **beside})

        return link, identity, agent, offer

    def _link(self, identity: Identity) -> Link:
        on_connection = self._options.get("on_connection", self._warn_of_absence)
        return Link(self._exchange, identity, self._surroundings, self._settings.patience, _careful(on_connection))

    def _warn_of_absence(self, state: str) -> None:
        """Somebody who named nobody to be told should see why nothing happens; that it is back shows by itself."""
        if state == "away":
            self._warn(ClientWarning("relay_away", f"The relay at {self._settings.url} is away; it is tried again."))

    async def _read_about(self) -> Any:
        patience = self._settings.connect_patience

        async def attempt() -> Any:
            try:
                return await self._exchange.once("well_known", answer=answer_within(patience))
            except Refused as refused:
                if refused.problem["reason"] == "unknown_operation":
                    raise _beyond_relay(self._settings.url) from None
                raise refusal_of(refused, None).error from None

        return await persist(self._settings.url, self._surroundings, patience, attempt)


async def _bearer_of(link: Link, patience: float) -> str:
    """A token is listed with the agent it stands for; the operator's stands for none."""
    try:
        tokens = (await link.call("tokens", patience=patience))["tokens"]
    except HandoffError as error:
        if error.reason == "not_an_agent":
            return "operator"
        raise
    return tokens[0]["agent"] if tokens else "operator"


def _beyond_relay(url: str) -> UsageError:
    """Every relay says what it is. Behind a proxy its addresses may begin with a path: that alone is not refused."""
    parts = urlsplit(url)
    message = f"A Handfast relay answers at {url}, but its addresses do not begin there."
    own = f"{parts.scheme}://{parts.netloc}"
    remedy = f"Set the URL (option url, HANDFAST_URL) to the relay's own, without a path: {own}."
    return UsageError(message, remedy, "not_a_relay")


def _check_about(about: Any, settings: Settings) -> None:
    is_relay = (
        isinstance(about, dict) and about.get("protocol") == "handfast" and isinstance(about.get("versions"), list)
    )
    if not is_relay:
        message = f"{settings.url} does not say that it is a Handfast relay."
        raise UsageError(message, "Check the URL (option url, HANDFAST_URL).", "not_a_relay")
    if _VERSION not in about["versions"]:
        versions = ", ".join(map(str, about["versions"]))
        message = f"The relay at {settings.url} speaks {versions}; this client speaks {_VERSION}."
        raise UsageError(message, "Use a version of handfast (Python) that fits the relay.", "version")
    if settings.namespace is not None and settings.namespace != about["namespace"]:
        raise UsageError(
            f"The relay at {settings.url} serves the namespace {about['namespace']}, not {settings.namespace}.",
            "Set namespace (HANDFAST_NAMESPACE) to the relay's, or leave it out.",
            "wrong_namespace",
        )


def _log(warning: ClientWarning) -> None:
    _logger.warning("%s [%s]", warning.message, warning.reason)


def _careful(tell: Callable[[Any], None]) -> Callable[[Any], None]:
    """Whatever a user's own function raises must not break what it is told of."""

    def told(what: Any) -> None:
        try:
            tell(what)
        except Exception:
            _logger.exception("A function that was given to connect() failed.")

    return told
