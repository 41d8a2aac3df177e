"""Files that go along with a handoff: put up under their SHA-256 first, then referred to."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from .._base import Base
from ..errors import UsageError

_SHA256 = re.compile(r"[0-9a-f]{64}")
_FORMS = 'Give {"bytes": ..., "media_type": ..., "name": ...} or a reference {"sha256", "size", "media_type", "name"}.'


async def put_artifacts(base: Base, options: Mapping[str, Any], patience: float | None) -> list[dict[str, Any]]:
    """References to all of them. Bytes that are up already cost one call and change nothing."""
    given = options.get("artifacts") or []
    if not isinstance(given, Sequence):
        raise UsageError(f"The option artifacts is {given!r}.", f"Give a list. {_FORMS}")
    for each in given:
        _check(each)
    return list(await asyncio.gather(*(_put(base, each, patience) for each in given)))


def _check(given: Any) -> None:
    if isinstance(given, Mapping) and "bytes" in given:
        if isinstance(given["bytes"], (bytes, bytearray, memoryview)):
            return
        raise UsageError("The bytes of an artifact are no bytes.", "Give bytes, such as path.read_bytes().")
    is_reference = isinstance(given, Mapping) and isinstance(given.get("size"), int)
    if is_reference and _SHA256.fullmatch(str(given.get("sha256"))) is not None:
        return
    raise UsageError(f"{given!r} is no artifact.", _FORMS)


async def _put(base: Base, given: Mapping[str, Any], patience: float | None) -> dict[str, Any]:
    if "bytes" not in given:
        return dict(given)
    data = bytes(given["bytes"])
    sha256 = hashlib.sha256(data).hexdigest()
    reply = await base.link.call("put_artifact", params={"sha256": sha256}, body=data, patience=patience)
    name = given.get("name")
    reference = {
        "sha256": sha256,
        "size": reply["size"],
        "media_type": given.get("media_type", "application/octet-stream"),
    }
    return reference if name is None else {**reference, "name": name}
