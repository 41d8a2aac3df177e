"""The agent's own key: what signs, and the public half that others know it by."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from .._protocol.encoding import from_base64url, to_base64url
from .._protocol.keys import thumbprint
from ..errors import UsageError

_SEED_BYTES = 32
_REMEDY = (
    "Give a private Ed25519 key: the path of a file with a JWK, the JWK itself, "
    "or its 32 bytes in base64url (43 characters)."
)

PrivateJwk = Mapping[str, Any]
"""A private Ed25519 key as a JSON Web Key: ``kty``, ``crv``, ``x``, and ``d``, which is the secret."""


@dataclass(frozen=True)
class AgentKey:
    """A private key; its repr shows the public half only."""

    x: str
    thumbprint: str
    """What names the key."""
    _seed: bytes = field(repr=False)
    _secret: Ed25519PrivateKey = field(repr=False, compare=False)

    @property
    def jwk(self) -> dict[str, str]:
        """The public half."""
        return {"kty": "OKP", "crv": "Ed25519", "x": self.x}

    def private_jwk(self) -> dict[str, str]:
        return {**self.jwk, "d": to_base64url(self._seed)}

    def sign(self, data: bytes) -> bytes:
        return self._secret.sign(data)


def key_of(seed: bytes) -> AgentKey:
    """From the 32 secret bytes."""
    secret = Ed25519PrivateKey.from_private_bytes(seed)
    x = to_base64url(secret.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))
    return AgentKey(x, thumbprint(x), seed, secret)


def read_secret(given: str | PrivateJwk, source: str) -> AgentKey | None:
    """None: the text is neither a JWK nor a seed, so it may be the path of a file."""
    if not isinstance(given, str):
        return _from_jwk(given, source)
    text = given.strip()
    if text.startswith("{"):
        return _from_jwk(_parsed(text, source), source)
    seed = from_base64url(text) if len(text) == 43 else None
    return key_of(seed) if seed is not None and len(seed) == _SEED_BYTES else None


def _from_jwk(value: Any, source: str) -> AgentKey:
    jwk: Mapping[str, Any] = value if isinstance(value, Mapping) else {}
    if jwk.get("kty") != "OKP" or jwk.get("crv") != "Ed25519":
        raise refused(f"{source} is not an Ed25519 key.")
    if "d" not in jwk:
        raise refused(f"{source} is a public key: it has no d.")
    seed = from_base64url(jwk["d"]) if isinstance(jwk["d"], str) else None
    if seed is None or len(seed) != _SEED_BYTES:
        raise refused(f"{source} has a d that is not 32 bytes in base64url.")
    key = key_of(seed)
    # A public half that is not the secret's would prove nothing, and hide which key this is.
    if isinstance(jwk.get("x"), str) and jwk["x"] != key.x:
        raise refused(f"{source} holds two halves that do not belong together: x is not the public key of d.")
    return key


def _parsed(text: str, source: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        # The text is a secret: nothing of it is quoted.
        raise refused(f"{source} is not JSON.") from None


def refused(message: str) -> UsageError:
    return UsageError(message, _REMEDY, "key_unusable")
