"""The manifest that an agent states: what its handlers say, what connecting was told of the agent, and the costs,
sealed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._duration import Duration, to_ms
from .._protocol.canonical_json import manifest_digest
from .._protocol.limits import DURATION_MS, REGISTRATION_LEASE_LEAST_SECONDS, SAFE_INTEGER
from .._protocol.seal_cost import seal_cost
from .._wire_json import plain_json
from ..errors import UsageError

Terms = dict[str, Any]
"""What a manifest says of the agent itself: version, discovery_endpoint, lease_seconds."""


@dataclass(frozen=True)
class Stated:
    """Ready to be registered."""

    manifest: dict[str, Any]
    costs: dict[str, Any]
    """They stand beside what is signed, and open what it seals."""

    @property
    def digest(self) -> str:
        return manifest_digest(self.manifest)


def nothing_stated(agent: str) -> Stated:
    """Who offers nothing yet says nothing but its name."""
    return Stated({"agent_id": agent, "capabilities": []}, {})


def read_terms(manifest_version: int | None, discovery_endpoint: str | None, lease: Duration | None) -> Terms:
    terms: Terms = {}
    if manifest_version is not None:
        is_whole = isinstance(manifest_version, int) and not isinstance(manifest_version, bool)
        if not is_whole or not 1 <= manifest_version <= SAFE_INTEGER:
            raise UsageError(
                f"The option manifest_version is {manifest_version!r}.",
                "Give a whole number from 1 on, and a higher one whenever the manifest changes.",
            )
        terms["version"] = manifest_version
    if discovery_endpoint is not None:
        if not isinstance(discovery_endpoint, str) or re.fullmatch(r"https?://[!-~]+", discovery_endpoint) is None:
            raise UsageError(
                f"The option discovery_endpoint is {discovery_endpoint!r}.",
                "Give a whole address, such as https://agents.example/research-1.",
            )
        terms["discovery_endpoint"] = str(discovery_endpoint)
    if lease is not None:
        seconds = math.ceil(to_ms(lease, "The option lease") / 1_000)
        if not REGISTRATION_LEASE_LEAST_SECONDS <= seconds <= DURATION_MS // 1_000:
            raise UsageError(
                f"The option lease is {lease!r}.",
                f"Give from {REGISTRATION_LEASE_LEAST_SECONDS} seconds to 30 days.",
            )
        terms["lease_seconds"] = seconds
    return terms


def state_manifest(
    agent: str,
    terms: Terms,
    capabilities: Sequence[dict[str, Any]],
    costs: Mapping[str, dict[str, Any]],
    salt_of: Callable[[str, dict[str, Any]], str],
) -> Stated:
    """Costs by capability, in plain.

    ``salt_of`` makes the same salt each time, or the manifest would be another each time.
    """
    openings: dict[str, Any] = {}
    sealed: list[dict[str, Any]] = []
    for capability in capabilities:
        cost = costs.get(capability["name"])
        if cost is None:
            sealed.append(capability)
            continue
        salt = salt_of(capability["name"], cost)
        openings[capability["name"]] = {"salt": salt, "cost": cost}
        sealed.append({**capability, "cost": seal_cost(salt, cost)})
    manifest = plain_json({"agent_id": agent, "capabilities": sealed, **terms}, "The manifest")
    return Stated(manifest, openings)
