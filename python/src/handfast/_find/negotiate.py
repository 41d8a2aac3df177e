"""One round of terms: a need is put to those that could meet it, and the offers that come back can be taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .._acts import agree
from .._base import Base
from .._duration import to_ms
from .._generated.views import ContractTerms, DeclinedView, Miss, OfferView
from .._protocol.ids import make_id
from .._protocol.limits import DURATION_MS, REPLY_BY_MOST_MS
from .._send.draft import limits_of
from .._send.sending import SendingFrom
from .._text_list import text_list
from ..errors import HandoffError, UsageError
from .contract import AsyncContract
from .find import list_in
from .need import TermsNeeded, read_need
from .offer_proof import Asked, check_offer

_WAIT = 60.0
"""Longer than a relay waits for proposals unless told otherwise; it answers as soon as there is nobody left to wait
for."""


class AsyncOffer:
    """Somebody's word, for a while: as the relay shows it, and to be taken."""

    view: OfferView
    """As on the wire: with what was measured of its agent, what is known of its schemas, and until when it stands."""

    def __init__(self, base: Base, sending: SendingFrom, asked: Asked, view: Any) -> None:
        """Made by the client."""
        self._base = base
        self._sending = sending
        self._asked = asked
        self.view = view

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id} of {self.agent}>"

    @property
    def id(self) -> str:
        return self.view["offer_id"]

    @property
    def agent(self) -> str:
        """Whose it is."""
        return self.view["agent_id"]

    @property
    def terms(self) -> ContractTerms | None:
        """All that would be agreed on; None: the price is sealed, because you offer the same."""
        return self.view["terms"]

    @property
    def cost(self) -> dict[str, Any] | None:
        """The price; None: it has none, or it is sealed."""
        return self.view["cost"]

    async def accept(self) -> AsyncContract:
        """Takes it. Repeated, it is the same contract.

        What the provider signed is checked first: these very terms, or the manifest that they follow from, by a key
        that is known to be the provider's; else it raises (401) and nothing is agreed on. Then an agent with a key
        signs the terms.
        """
        base, view = self._base, self.view
        terms, name = view["terms"], view["contract_id"]
        if terms is None or name is None:
            # Nobody agrees to a price unseen: the relay says why.
            made = await agree(base, self.id, None)
            return AsyncContract(base, self._sending, made["contract_id"], made)
        await check_offer(base, self._asked, view)
        made = await agree(base, self.id, {"contract": name, "terms": terms})
        return AsyncContract(base, self._sending, name, made)


@dataclass(frozen=True)
class AsyncNegotiation:
    """What came of a round. No offers is no error: `declined` and `near` say why."""

    id: str | None
    """None: nothing came of it, so that nothing is kept."""
    offers: list[AsyncOffer]
    """As the relay ranks them, the best first."""
    declined: list[DeclinedView]
    """Those that were asked and would not."""
    near: list[Miss]
    """Those that do not meet the need, the nearest first, and what each lacks."""


_KNOWN = tuple(TermsNeeded.__annotations__)
_TASK = {"words", "capability", "tags", "input", "input_schema", "output_schema"}
"""One of these says what is to be done."""


async def negotiate(base: Base, sending: SendingFrom, words: str | None, need: Mapping[str, Any]) -> AsyncNegotiation:
    body, asked_at = _request_of(base, words, need), base.surroundings.now()
    wait = body["reply_by_ms"] / 1_000 + 1 if "reply_by_ms" in body else _WAIT
    try:
        view = await base.link.call("negotiate", body=body, wait=wait)
    except HandoffError as error:
        near, declined = list_in(error, "no_offer", "near"), list_in(error, "no_offer", "declined")
        if near is None or declined is None:
            raise
        return AsyncNegotiation(None, [], declined, near)
    asked = Asked(body, asked_at, base.surroundings.now())
    offers = [AsyncOffer(base, sending, asked, offer) for offer in view["offers"]]
    return AsyncNegotiation(view["negotiation_id"], offers, view["declined"], view["near"])


def _request_of(base: Base, words: str | None, need: Mapping[str, Any]) -> dict[str, Any]:
    """The id is the asker's, so that a repeat of the call asks nobody twice."""
    said = {name: value for name, value in need.items() if value is not None}
    wanted = read_need("negotiate()", words, need, _KNOWN)
    # Everybody would be asked, whatever they do.
    if "agents" not in said and not _TASK.intersection(wanted):
        raise UsageError("A negotiation needs words, a capability or schemas.", "Say what is to be done.")
    body = {
        "id": make_id(base.surroundings.now(), base.surroundings.random_bytes(10)),
        **wanted,
        "limits": limits_of(said) or None,
        "evidence": said.get("evidence"),
        "agents": text_list(said["agents"], "agents") if "agents" in said else None,
        "reply_by_ms": to_ms(said["reply_by"], "reply_by", REPLY_BY_MOST_MS) if "reply_by" in said else None,
        "valid_ms": to_ms(said["valid"], "valid", DURATION_MS) if "valid" in said else None,
    }
    # Of the need itself, None is an input like any other.
    return {name: value for name, value in body.items() if value is not None or name == "input"}
