"""Public keys: a JSON Web Key (RFC 7517, RFC 8037) made into a checked key with its thumbprint (RFC 7638).

Also whether 32 bytes are a sound Ed25519 public key: canonical, on the curve, in the prime-order group, not the
identity. Verifiers disagree about signatures under other keys, and under a small-order key one signature fits many
messages. Nothing here is secret, so plain integers and their uneven timing are fine; it is done once per key.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from .encoding import from_base64url, to_base64url

_P = 2**255 - 19
_GROUP_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, _P - 2, _P) % _P
_SQRT_MINUS_ONE = pow(2, (_P - 1) // 4, _P)
_MEMBERS = {"kty", "crv", "x"}

Extended = tuple[int, int, int, int]
"""Extended coordinates: x = X/Z, y = Y/Z, T = XY/Z."""


class KeyFault(Exception):
    """Why a key is refused; `fault` as the vectors name it."""

    def __init__(self, fault: str) -> None:
        super().__init__(fault)
        self.fault = fault


@dataclass(frozen=True)
class PublicKey:
    """A key that passed every check here; only parse_public_key makes one."""

    x: str
    thumbprint: str
    raw: bytes

    @property
    def jwk(self) -> dict[str, str]:
        return {"kty": "OKP", "crv": "Ed25519", "x": self.x}

    def verify(self, data: bytes, signature: bytes) -> bool:
        """False, never an error, for a signature that does not verify."""
        if len(signature) != 64:
            return False
        try:
            _verifier(self.raw).verify(signature, data)
        except InvalidSignature:
            return False
        return True


def parse_public_key(value: Any) -> PublicKey:
    """Exactly the three members of a public Ed25519 key are taken; raises KeyFault.

    An `alg` or `use` beside them would have to agree with them, and a `d` means that somebody is giving a private key
    away.
    """
    if not isinstance(value, dict):
        raise KeyFault("not_a_jwk")
    if "d" in value:
        raise KeyFault("private_key")
    if not _MEMBERS.issuperset(value):
        raise KeyFault("unknown_member")
    if value.get("kty") != "OKP" or value.get("crv") != "Ed25519":
        raise KeyFault("not_ed25519")
    x = value.get("x")
    raw = from_base64url(x) if isinstance(x, str) and len(x) == 43 else None
    if not isinstance(x, str) or raw is None:
        raise KeyFault("not_32_bytes_base64url")
    if not is_strong_point(raw):
        raise KeyFault("weak_or_invalid_point")
    return PublicKey(x, thumbprint(x), raw)


def thumbprint(x: str) -> str:
    """Members in the order RFC 7638 demands, no white space."""
    return to_base64url(hashlib.sha256(f'{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}'.encode()).digest())


@lru_cache(maxsize=256)
def _verifier(raw: bytes) -> Ed25519PublicKey:
    return Ed25519PublicKey.from_public_bytes(raw)


@lru_cache(maxsize=4_096)
def is_strong_point(data: bytes) -> bool:
    point = _decode(data)
    if point is None or _is_identity(point):
        return False
    return _is_identity(_multiply(_GROUP_ORDER, point))


def _decode(data: bytes) -> Extended | None:
    """RFC 8032, 5.1.3, with its canonical form demanded: y below p, and no "negative zero" x."""
    if len(data) != 32:
        return None
    encoded = int.from_bytes(data, "little")
    sign = encoded >> 255
    y = encoded & (2**255 - 1)
    if y >= _P:
        return None
    root = _square_root_of_ratio((y * y - 1) % _P, (_D * y * y + 1) % _P)
    if root is None or (root == 0 and sign == 1):
        return None
    x = root if root & 1 == sign else _P - root
    return x, y, 1, x * y % _P


def _square_root_of_ratio(u: int, v: int) -> int | None:
    """The square root of u/v modulo p, or None when there is none."""
    v3 = v * v * v % _P
    candidate = u * v3 * pow(u * v3 * v3 * v, (_P - 5) // 8, _P) % _P
    check = v * candidate * candidate % _P
    if check == u:
        return candidate
    return candidate * _SQRT_MINUS_ONE % _P if check == -u % _P else None


def _is_identity(point: Extended) -> bool:
    x, y, z, _ = point
    return x == 0 and y == z


def _add(a: Extended, b: Extended) -> Extended:
    """The complete addition law for a = -1: it also doubles, and has no exceptions on this curve."""
    ax, ay, az, at = a
    bx, by, bz, bt = b
    p = (ay - ax) * (by - bx) % _P
    q = (ay + ax) * (by + bx) % _P
    r = 2 * _D * at * bt % _P
    s = 2 * az * bz % _P
    e, f, g, h = q - p, s - r, s + r, q + p
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _multiply(scalar: int, point: Extended) -> Extended:
    total: Extended = (0, 1, 1, 0)
    while scalar > 0:
        if scalar & 1:
            total = _add(total, point)
        point = _add(point, point)
        scalar >>= 1
    return total
