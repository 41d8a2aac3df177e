"""Offers and contracts for code that blocks. `wait` runs something on the event loop that they live on, and blocks for
it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar, overload

from typing_extensions import Unpack

from .._generated.views import ContractTerms, ContractView, DeclinedView, Miss, OfferView
from .._send.options import SendOptions, SendTerms, TargetDict
from .._sync_handle import Handle, Wait
from .contract import AsyncContract
from .negotiate import AsyncNegotiation, AsyncOffer

T = TypeVar("T")


class Contract:
    """Terms that both sides have agreed on. The relay enforces them for every handoff that names the contract."""

    def __init__(self, contract: AsyncContract, wait: Wait) -> None:
        """Made by the client."""
        self._contract = contract
        self._wait = wait

    def __repr__(self) -> str:
        return repr(self._contract).replace("AsyncContract", "Contract")

    @property
    def id(self) -> str:
        """The hash of the terms: keep it, and `client.contract(id)` finds the contract again."""
        return self._contract.id

    @property
    def view(self) -> ContractView:
        """As the relay told it last: how it stands, both sides' word for it, and how it was kept."""
        return self._contract.view

    @property
    def terms(self) -> ContractTerms:
        return self._contract.terms

    @property
    def valid_until(self) -> int:
        """Milliseconds since 1970 by the relay's clock."""
        return self._contract.valid_until

    @property
    def target(self) -> TargetDict:
        """Whom work under it goes to: for `send` of a handler's context, together with the option `contract`."""
        return self._contract.target

    @overload
    def send(self, input: Any, *, expects: type[T], **options: Unpack[SendTerms]) -> Handle[T]: ...

    @overload
    def send(self, input: Any, **options: Unpack[SendOptions]) -> Handle[Any]: ...

    def send(self, input: Any, **options: Unpack[SendOptions]) -> Handle[Any]:
        """Gives work to the provider on these terms. Options may ask for less than was agreed on, never for more."""
        return Handle(self._wait(self._contract.send(input, **options)), self._wait)

    def status(self) -> Contract:
        """How it stands now."""
        return Contract(self._wait(self._contract.status()), self._wait)

    def end(self, reason: str | None = None) -> Contract:
        """Ends it. What is open under it goes on to its end."""
        return Contract(self._wait(self._contract.end(reason)), self._wait)


class Offer:
    """Somebody's word, for a while: as the relay shows it, and to be taken."""

    def __init__(self, offer: AsyncOffer, wait: Wait) -> None:
        """Made by the client."""
        self._offer = offer
        self._wait = wait

    def __repr__(self) -> str:
        return repr(self._offer).replace("AsyncOffer", "Offer")

    @property
    def view(self) -> OfferView:
        """As on the wire."""
        return self._offer.view

    @property
    def id(self) -> str:
        return self._offer.id

    @property
    def agent(self) -> str:
        """Whose it is."""
        return self._offer.agent

    @property
    def terms(self) -> ContractTerms | None:
        """All that would be agreed on; None: the price is sealed, because you offer the same."""
        return self._offer.terms

    @property
    def cost(self) -> dict[str, Any] | None:
        """The price; None: it has none, or it is sealed."""
        return self._offer.cost

    def accept(self) -> Contract:
        """Takes it, once what the provider signed was checked. As that of AsyncOffer."""
        return Contract(self._wait(self._offer.accept()), self._wait)


@dataclass(frozen=True)
class Negotiation:
    """What came of a round. No offers is no error: `declined` and `near` say why."""

    id: str | None
    """None: nothing came of it, so that nothing is kept."""
    offers: list[Offer]
    """As the relay ranks them, the best first."""
    declined: list[DeclinedView]
    """Those that were asked and would not."""
    near: list[Miss]
    """Those that do not meet the need, the nearest first, and what each lacks."""


def blocking(made: AsyncNegotiation, wait: Wait) -> Negotiation:
    return Negotiation(made.id, [Offer(offer, wait) for offer in made.offers], made.declined, made.near)
