"""Session credentials: JWTs that the agent signs for itself, used again until most of their life is over."""

from __future__ import annotations

import json
import threading
from typing import Any

from .._protocol.encoding import to_base64url
from .._surroundings import Surroundings
from .agent_key import AgentKey

LIFE_SECONDS = 300
_USED_SHARE = 0.8
"""A new one is made when this much of the old one's life is over."""


class Credentials:
    """Of one agent at one relay. May be asked from any thread."""

    def __init__(self, agent: str, namespace: str, relay: str, key: AgentKey, surroundings: Surroundings) -> None:
        self._agent = agent
        self._namespace = namespace
        self._relay = relay
        self._key = key
        self._surroundings = surroundings
        self._lock = threading.Lock()
        self._last = ("", 0.0)

    def current(self, fresh: bool = False) -> str:
        now = self._surroundings.now()
        with self._lock:
            made, until = self._last
            if fresh or now >= until:
                made = self._make(now // 1_000)
                self._last = (made, now + LIFE_SECONDS * _USED_SHARE * 1_000)
            return made

    def _make(self, iat: int) -> str:
        return sign_jwt(
            self._key,
            {"iss": self._agent, "aud": self._relay, "iat": iat, "exp": iat + LIFE_SECONDS, "ns": self._namespace},
        )


def sign_jwt(key: AgentKey, claims: dict[str, Any]) -> str:
    """An EdDSA JWT under this key."""
    signed = f"{_part({'alg': 'EdDSA', 'kid': key.thumbprint})}.{_part(claims)}"
    return f"{signed}.{to_base64url(key.sign(signed.encode('ascii')))}"


def _part(value: dict[str, Any]) -> str:
    return to_base64url(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8"))
