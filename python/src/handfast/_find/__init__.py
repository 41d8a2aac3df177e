"""Finding by need, and agreeing on terms."""

from .contract import AsyncContract, ContractState, list_contracts, read_contract
from .find import Found, find
from .need import Need, TermsNeeded
from .negotiate import AsyncNegotiation, AsyncOffer, negotiate

__all__ = [
    "AsyncContract",
    "AsyncNegotiation",
    "AsyncOffer",
    "ContractState",
    "Found",
    "Need",
    "TermsNeeded",
    "find",
    "list_contracts",
    "negotiate",
    "read_contract",
]
