"""From what a relay answered to the error that a caller gets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ._persist import ComeBack, Refused, is_passing
from .errors import HandoffError, ProblemDocument


@dataclass(frozen=True)
class Refusal:
    """What a link does about a refusal before anybody is told."""

    kind: Literal["unknown_agent", "stale_credential", "final"]
    error: Exception


_REMEDIES = {
    "wrong_issuer": (
        "Connect under the name that the key is registered for (option agent, HANDFAST_AGENT), or with another key."
    ),
    "wrong_audience": "Connect by one of the relay's own URLs, or let its operator add this one to public_urls.",
    "credential_from_the_future": "Set this machine's clock (or the relay's): they may differ by 10 seconds.",
    "credential_expired": "Set this machine's clock (or the relay's): they may differ by 10 seconds.",
    "id_time": "Set this machine's clock (or the relay's): ids carry the time they were made at.",
    "unknown_token": "Set HANDFAST_TOKEN (option token) to one that this relay gave out and has not revoked.",
    "bad_signature": "Connect with the key that the relay knows this agent by (option key, HANDFAST_KEY).",
}
"""Where the user of this client does something else about it than whoever speaks to the relay by hand."""


def as_problem(value: Any) -> ProblemDocument | None:
    """The value, if it has the shape of a problem."""
    if not isinstance(value, dict):
        return None
    code, reason, detail = value.get("code"), value.get("reason"), value.get("detail")
    if isinstance(code, bool) or not isinstance(code, int):
        return None
    return value if isinstance(reason, str) and isinstance(detail, str) else None


def refusal_of(refused: Refused, handoff: str | None) -> Refusal:
    """`handoff`: which one the call was about, where it was about one."""
    problem = refused.problem
    code, reason = problem["code"], problem["reason"]
    error = HandoffError.of(problem, handoff, _REMEDIES.get(reason))
    if code == 401 and reason == "unknown_key":
        return Refusal("unknown_agent", error)
    if code == 401 and reason.startswith("credential_"):
        return Refusal("stale_credential", error)
    return Refusal("final", ComeBack(error, refused.retry_after) if is_passing(error) else error)
