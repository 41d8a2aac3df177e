"""What handlers say of themselves, as it arrives in the manifest at a real relay."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pydantic
import pytest

from handfast import AsyncClient, Client, HandoffError, UsageError
from handfast._identity.agent_key import key_of
from handfast._protocol.canonical_json import manifest_digest
from handfast._serve.capabilities import Registry, read_capability
from handfast._settings import read_settings
from handfast._surroundings import real_surroundings

Agents = Callable[..., Any]

EVERYTHING: dict[str, Any] = {
    "input": {"query": "string", "depth?": "int"},
    "output": {"summary": "string"},
    "timeout": "5m",
    "description": "Reads the web.",
    "version": "1.2.0",
    "tags": ["web"],
    "idempotent": True,
    "reliability": 0.95,
    "sla": {"window": timedelta(days=1), "conditions": "On weekdays."},
    "side_effects": "none",
    "examples": [{"title": "One", "input": {"query": "fsync"}, "output": {"summary": "It flushes."}}],
    "max_concurrent": 4,
    "latency": {"p50": 2, "p95": "20s"},
    "cost": {"amount": 2_000, "per": "handoff"},
    "data_policy": {"retention": "1h", "regions": ("eu",), "trains": False, "shares": False},
    "questions": [{"name": "which", "description": "Which one?", "schema": {"choice": "string"}}],
    "proposes": True,
}


def research(query: Any) -> Any:
    return {"summary": ""}


async def manifest_of(client: AsyncClient) -> tuple[Any, Any]:
    view = await client.call("agent", params={"name": client.agent})
    return view, await client.call("manifest", params={"digest": view["manifest"]["digest"]})


async def test_it_is_in_the_manifest_in_the_words_of_the_wire_with_its_cost_sealed(agent: Agents) -> None:
    worker = await agent("ann", lease="2h", discovery_endpoint="https://a.example/ann", manifest_version=3)
    worker.capability("research", **EVERYTHING)(research)
    await worker.serve(signals=False)
    view, kept = await manifest_of(worker)
    [capability] = map(dict, kept["manifest"]["capabilities"])
    assert len(capability.pop("cost")["sha256"]) == 64
    assert capability == {
        "name": "research",
        "input_schema": {"query": "string", "depth?": "int"},
        "output_schema": {"summary": "string"},
        "timeout_seconds": 300,
        "description": "Reads the web.",
        "version": "1.2.0",
        "tags": ["web"],
        "idempotent": True,
        "reliability_sla": 0.95,
        "sla": {"window_seconds": 86_400, "conditions": "On weekdays."},
        "side_effects": "none",
        "examples": EVERYTHING["examples"],
        "max_concurrent": 4,
        "latency": {"p50_ms": 2_000, "p95_ms": 20_000},
        "data_policy": {"retention_seconds": 3_600, "regions": ["eu"], "trains": False, "shares": False},
        "questions": EVERYTHING["questions"],
        "proposes": True,
    }
    assert view["discovery_endpoint"] == "https://a.example/ann"
    assert view["capabilities"][0]["input_schema"]["additionalProperties"] is False
    assert kept["manifest"]["lease_seconds"] == 7_200
    assert kept["version"] == 3
    assert manifest_digest(kept["manifest"]) == kept["digest"]
    assert "2000" not in kept["registration"]["document"].replace('"p50_ms":2000', "").replace('"p95_ms":20000', "")


async def test_every_process_of_an_agent_states_the_same_manifest_cost_and_all(agent: Agents) -> None:
    key = key_of(b"k" * 32).private_jwk()
    first = await agent(agent="two-of-python", key=key)
    await first.serve({"research": {**EVERYTHING, "handler": research}}, signals=False)
    second = await agent(agent="two-of-python", key=key)
    await second.serve({"research": {**EVERYTHING, "handler": research}}, signals=False)
    listed = await second.call("manifests", params={"name": "two-of-python"})
    # The first is the empty one of an agent that has just come.
    assert len(listed["manifests"]) == 2


async def test_it_goes_by_a_token_too(agent: Agents, name: Callable[[str], str]) -> None:
    admin = await agent("admin")
    made = await admin.call("create_token", body={"agent": name("bearer")})
    worker = await agent(agent=None, token=made["token"], key=None, lease=3_600)
    await worker.serve({"research": {**EVERYTHING, "handler": research}}, signals=False)
    view, kept = await manifest_of(worker)
    assert view["manifest"]["signed"] is False
    assert set(kept["manifest"]["capabilities"][0]["cost"]) == {"sha256"}


def test_the_plain_client_says_the_same(sync_agent: Callable[..., Client], name: Callable[[str], str]) -> None:
    hf = sync_agent("plain")
    capability = name("double")

    @hf.capability(capability, input={"n": "int"}, output={"n": "int"}, reliability=1, cost=EVERYTHING["cost"])
    def double(value: Any) -> Any:
        return {"n": value["n"] * 2}

    hf.serve(signals=False)
    assert hf.send(capability, {"n": 2}).result() == {"n": 4}
    with pytest.raises(HandoffError) as refused:
        hf.send(capability, {"n": 2, "m": 3})
    assert refused.value.code == 422


def test_examples_may_be_models() -> None:
    class Query(pydantic.BaseModel):
        words: list[str]

    offered = read_capability("find", {"handler": research, "examples": [{"input": Query(words=["a"])}]})
    assert offered.manifest["examples"] == [{"input": {"words": ["a"]}}]


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ({"reliability": 1.5}, "reliability of x is 1.5"),
        ({"reliability": 0}, "reliability of x is 0"),
        ({"reliability": True}, "reliability of x is True"),
        ({"sla": {"conditions": "none"}}, "no window"),
        ({"sla": 5}, "sla of x is 5"),
        ({"latency": {"p50": "soon"}}, "latency of x"),
        ({"latency": {"p99": 5}}, "'p99' is nothing"),
        ({"cost": {"amount": 5, "per_handoff": 1}}, "'per_handoff' is nothing"),
        ({"examples": [{"input": {1, 2}}]}, "examples of x"),
        ({"reliabilty": 1}, "'reliabilty' is not an option"),
    ],
)
def test_what_is_wrong_is_said_before_it_is_sent(terms: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_capability("x", {"handler": research, **terms})
    with pytest.raises(UsageError, match=message):
        Registry().capability("x", **terms)(research)


@pytest.mark.parametrize(
    "options",
    [{"lease": 1}, {"lease": "31d"}, {"manifest_version": 0}, {"manifest_version": "1"}, {"discovery_endpoint": "a"}],
    ids=str,
)
def test_what_is_wrong_of_the_agent_is_said_too(options: Any) -> None:
    with pytest.raises(UsageError, match=f"option {next(iter(options))}"):
        read_settings(options, real_surroundings, {"HANDFAST_AGENT": "a"})
