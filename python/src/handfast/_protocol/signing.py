"""Batch signatures: one Ed25519 signature over the Merkle root of many messages. A message alone is a batch of one.

The exact bytes are in spec/signing.md; whatever a stranger sends as a proof ends here as False or None, never in an
error.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .encoding import from_base64url, to_base64url
from .keys import PublicKey
from .limits import BATCH_MESSAGES, PATH_DIGESTS, SAFE_INTEGER
from .merkle import merkle_root_from_path, merkle_tree

SALT_BYTES = 16

_TYP = re.compile(r"[a-z][a-z0-9_.-]{0,63}")

Proof = dict[str, Any]
"""``key``, ``sig``, ``index``, ``size`` and ``path``, as the wire has it."""


class Signer(Protocol):
    """Signs with one Ed25519 key."""

    @property
    def thumbprint(self) -> str: ...

    def sign(self, data: bytes) -> bytes: ...


@dataclass(frozen=True)
class Message:
    """The exact bytes of a document, and its typ."""

    typ: str
    data: bytes


@dataclass(frozen=True)
class SignedRoot:
    """What one signature covers. Proofs of one batch open to equal roots, so a caller verifies and remembers by it."""

    key: str
    signed: bytes
    sig: bytes


def leaf_digest(typ: str, data: bytes) -> bytes:
    """SHA256(00 ‖ "handfast/v1/<typ>" ‖ 00 ‖ bytes)."""
    if _TYP.fullmatch(typ) is None:
        raise ValueError(f"{typ!r} is not a document type.")
    return hashlib.sha256(b"\x00handfast/v1/" + typ.encode("ascii") + b"\x00" + data).digest()


def document_digest(typ: str, data: bytes) -> str:
    """How one document names another: the leaf digest in lowercase hexadecimal."""
    return leaf_digest(typ, data).hex()


def payload_digest(salt: bytes, data: bytes) -> str:
    """SHA256(salt ‖ payload). The salt keeps a short payload from being guessed after it was erased."""
    if len(salt) != SALT_BYTES:
        raise ValueError(f"A salt has {SALT_BYTES} bytes, not {len(salt)}.")
    return hashlib.sha256(salt + data).hexdigest()


def sign_batch(signer: Signer, messages: Sequence[Message]) -> list[Proof]:
    """One proof per message, in their order."""
    size = len(messages)
    if not 1 <= size <= BATCH_MESSAGES:
        raise ValueError(f"A batch holds 1 to {BATCH_MESSAGES} messages, not {size}.")
    root, paths = merkle_tree([leaf_digest(message.typ, message.data) for message in messages])
    sig = to_base64url(signer.sign(_signed_bytes(size, root)))
    return [
        {"key": signer.thumbprint, "sig": sig, "index": index, "size": size, "path": [to_base64url(p) for p in path]}
        for index, path in enumerate(paths)
    ]


def open_proof(typ: str, data: bytes, proof: Any) -> SignedRoot | None:
    """Follows a proof up to the root that was signed, without checking the signature; None when the proof is no
    proof."""
    if _TYP.fullmatch(typ) is None or not _has_proof_shape(proof):
        return None
    size: int = proof["size"]
    if size > BATCH_MESSAGES:
        return None
    sig = from_base64url(proof["sig"])
    path = [from_base64url(step) if len(step) == 43 else None for step in proof["path"]]
    known = [step for step in path if step is not None]
    if sig is None or len(sig) != 64 or len(known) != len(path):
        return None
    root = merkle_root_from_path(leaf_digest(typ, data), proof["index"], size, known)
    return None if root is None else SignedRoot(proof["key"], _signed_bytes(size, root), sig)


def verify_signed_root(key: PublicKey, root: SignedRoot) -> bool:
    """Whether this key signed this root. The costly part: once per SignedRoot is enough."""
    return root.key == key.thumbprint and key.verify(root.signed, root.sig)


def verify_proof(key: PublicKey, typ: str, data: bytes, proof: Any) -> bool:
    root = open_proof(typ, data, proof)
    return root is not None and verify_signed_root(key, root)


def _signed_bytes(size: int, root: bytes) -> bytes:
    """ "handfast/v1/batch" ‖ 00 ‖ size as 8 bytes, big-endian ‖ root."""
    return b"handfast/v1/batch\x00" + size.to_bytes(8, "big") + root


def _has_proof_shape(value: Any) -> bool:
    """Lengths first, so that a huge hostile proof costs nothing."""
    if not isinstance(value, dict):
        return False
    key, sig, path = value.get("key"), value.get("sig"), value.get("path")
    return (
        isinstance(key, str)
        and len(key) == 43
        and isinstance(sig, str)
        and len(sig) == 86
        and _is_safe_integer(value.get("index"))
        and _is_safe_integer(value.get("size"))
        and isinstance(path, list)
        and len(path) <= PATH_DIGESTS
        and all(isinstance(step, str) for step in path)
    )


def _is_safe_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -SAFE_INTEGER <= value <= SAFE_INTEGER
