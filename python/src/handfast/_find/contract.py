"""What was agreed on, and handing work over under it."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from typing import Any, Literal, TypeVar, overload

from typing_extensions import Unpack

from .._base import Base
from .._generated.views import ContractTerms, ContractView
from .._protocol.contract import contract_id
from .._send.handle import AsyncHandle
from .._send.options import SendOptions, SendTerms, TargetDict
from .._send.sending import SendingFrom
from ..errors import HandoffError, UsageError

T = TypeVar("T")

ContractState = Literal["in_force", "stale", "breached", "expired", "ended"]


class AsyncContract:
    """Terms that both sides have agreed on. The relay enforces them for every handoff that names the contract."""

    id: str
    """The hash of the terms: keep it, and `client.contract(id)` finds the contract again."""
    view: ContractView
    """As the relay told it last: how it stands, both sides' word for it, and how it was kept."""

    def __init__(self, base: Base, sending: SendingFrom, id: str, view: Any) -> None:
        """Made by the client. Raises where the terms that the relay shows are not those that it is named by."""
        if view["contract_id"] != id or contract_id(view["terms"]) != id:
            raise _differs(id)
        self._base = base
        self._sending = sending
        self.id = id
        self.view = view

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id[:12]} {self.view['state']}>"

    @property
    def terms(self) -> ContractTerms:
        return self.view["terms"]

    @property
    def valid_until(self) -> int:
        """Milliseconds since 1970 by the relay's clock."""
        return self.view["terms"]["valid_until"]

    @property
    def target(self) -> TargetDict:
        """Whom work under it goes to: for `send` of a handler's context, together with the option `contract`."""
        return {"to": self.terms["provider"], "capability": self.terms["capability"]}

    @overload
    async def send(self, input: Any, *, expects: type[T], **options: Unpack[SendTerms]) -> AsyncHandle[T]: ...

    @overload
    async def send(self, input: Any, **options: Unpack[SendOptions]) -> AsyncHandle[Any]: ...

    async def send(self, input: Any, **options: Unpack[SendOptions]) -> AsyncHandle[Any]:
        """Gives work to the provider on these terms. Options may ask for less than was agreed on, never for more."""
        options["contract"] = self.id
        # A signed handoff says all of it itself: nobody adds to what was signed.
        if self.terms["evidence"] == "signed":
            options["evidence"] = "signed"
        return await self._sending.send(self.target, input, **options)

    async def status(self) -> AsyncContract:
        """How it stands now."""
        return await read_contract(self._base, self._sending, self.id)

    async def end(self, reason: str | None = None) -> AsyncContract:
        """Ends it. What is open under it goes on to its end."""
        body = {} if reason is None else {"reason": reason}
        view = await self._base.link.call("end_contract", params={"id": self.id}, body=body)
        return AsyncContract(self._base, self._sending, self.id, view)


async def read_contract(base: Base, sending: SendingFrom, id: str) -> AsyncContract:
    """A contract whose id was kept."""
    if not isinstance(id, str) or not re.fullmatch("[0-9a-f]{64}", id):
        raise UsageError(
            f"{id!r} is no id of a contract.",
            "Give all 64 characters that `handfast negotiate --accept` printed.",
        )
    return AsyncContract(base, sending, id, await base.link.call("contract", params={"id": id}))


async def list_contracts(
    base: Base, sending: SendingFrom, state: str | None, side: str | None
) -> AsyncGenerator[AsyncContract, None]:
    """Those that this agent is a party of, by id."""
    cursor: str | None = None
    while True:
        page = await base.link.call("contracts", query={"state": state, "as": side, "cursor": cursor})
        for view in page["contracts"]:
            yield AsyncContract(base, sending, view["contract_id"], view)
        cursor = page["cursor"]
        if cursor is None:
            return


def _differs(id: str) -> HandoffError:
    """Work would go to whomever the relay likes, on its own terms."""
    return HandoffError(
        f"The contract that the relay shows is not {id}: its terms are others.",
        code=401,
        reason="offer_differs",
        remedy="Hand nothing over under it. Do not trust this relay with contracts; tell its operator.",
        retryable=False,
    )
