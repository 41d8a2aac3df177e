"""Becoming known to a relay, or renewing what the agent offers: a challenge, and a registration signed by its key."""

from __future__ import annotations

from .._exchange import Exchange
from .._persist import Refused
from .._protocol.signing import Message, sign_batch
from .._refusal import refusal_of
from .._wire_json import write_json
from ..errors import HandoffError
from .agent_key import AgentKey
from .manifest import Stated

_TRIES_MOST = 3
"""A relay that restarted in between knows its old challenges no more."""


async def register(
    exchange: Exchange,
    *,
    namespace: str,
    relay: str,
    key: AgentKey,
    token: str | None,
    stated: Stated,
) -> None:
    """`token`: of an operator, or of the agent itself; it admits the key where the relay does not take every new
    one."""
    for tries in range(1, _TRIES_MOST + 1):
        try:
            challenge = (await exchange.once("challenge", body={}))["challenge"]
            document = write_json(
                {
                    "v": 1,
                    "typ": "registration",
                    "relay": relay,
                    "namespace": namespace,
                    "challenge": challenge,
                    "key": key.jwk,
                    **stated.manifest,
                },
                "The registration",
            )
            [proof] = sign_batch(key, [Message("registration", document.encode("utf-8"))])
            beside = {"costs": stated.costs} if stated.costs else {}
            body = {"signed": {"document": document, "proof": proof}, **beside}
            await exchange.once("register", body=body, authorization=token)
            return
        except Refused as refused:
            if refused.problem["reason"].startswith("challenge_") and tries < _TRIES_MOST:
                continue
            remedy = _remedy_for(refused.problem["reason"], stated.manifest["agent_id"], key.thumbprint)
            if remedy is not None:
                raise HandoffError.of(refused.problem, None, remedy) from None
            raise refusal_of(refused, None).error from None


def _remedy_for(reason: str, agent: str, thumbprint: str) -> str | None:
    if reason == "not_admitted":
        return (
            "Connect once with the operator's token (option admission), or let an operator start the relay with "
            f"--admit {agent}={thumbprint}."
        )
    if reason == "name_taken":
        return (
            f"Connect under another name (option agent, HANDFAST_AGENT), or with the key or token that {agent} "
            f"belongs to (HANDFAST_KEY, HANDFAST_TOKEN). If that key is lost: handfast agents forget {agent}"
        )
    if reason == "name_reserved":
        return "Connect under another name (option agent, HANDFAST_AGENT)."
    if reason == "key_taken":
        return "Connect under the name that the key belongs to (option agent, HANDFAST_AGENT), or with another key."
    return None
