"""Finding by need, at a real relay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from handfast import AsyncClient, Client, HandoffError, UsageError

Agents = Callable[..., Any]
Name = Callable[[str], str]


class Text(BaseModel):
    text: str


async def translating(agent: Agents, name: Name) -> tuple[AsyncClient, str, str]:
    """An agent, its capability, and a word that only its description has."""
    worker, capability, word = await agent("translator"), name("translate"), name("french").replace("-", "x")
    said = {"description": f"Translates text into {word}.", "tags": [word], "version": "1.4.0"}
    worker.capability(capability, input=Text, **said)(lambda text: text)
    await worker.serve(signals=False)
    return worker, capability, word


async def test_it_finds_by_words_names_tags_inputs_and_types_and_says_why(agent: Agents, name: Name) -> None:
    worker, capability, word = await translating(agent, name)
    ann = await agent("ann")
    needs: list[tuple[list[str], dict[str, Any]]] = [
        ([word], {}),
        ([], {"capability": capability, "version": "^1.2"}),
        ([], {"tags": (word,), "live": True}),
        ([word], {"input": {"text": "hello"}}),
        ([word], {"input": Text(text="hello")}),
        ([], {"capability": capability, "input_schema": Text}),
        ([], {"capability": capability, "input_schema": {"text": "string"}}),
    ]
    for words, need in needs:
        found = await ann.find(*words, **need)
        assert (found.found, [hit["agent_id"] for hit in found.hits]) == (1, [worker.agent]), need
        assert found.hits[0]["why"]
        assert found.hits[0]["capability"]["name"] == capability


async def test_nobody_is_no_error_and_the_nearest_are_told(agent: Agents, name: Name) -> None:
    worker, capability, _ = await translating(agent, name)
    ann = await agent("ann")
    found = await ann.find(capability=capability, version="^2")
    assert (found.hits, found.found) == ([], 0)
    [near] = [miss for miss in found.near if miss["agent_id"] == worker.agent]
    assert "1.4.0" in near["lacks"][0]
    # None is an input like any other, and this one does not take it.
    assert (await ann.find(capability=capability, input=None)).hits == []


def test_a_client_that_blocks_finds_the_same(sync_agent: Callable[..., Client], name: Name) -> None:
    capability = name("upper")
    for _ in range(2):
        sync_agent("worker").serve({capability: lambda text: text}, signals=False)
    found = sync_agent("ann").find(capability=capability, limit=1)
    assert (len(found.hits), found.found, found.whole) == (1, 2, True)


async def test_what_the_relay_refuses_for_another_reason_is_raised(agent: Agents) -> None:
    with pytest.raises(HandoffError) as refused:
        await (await agent("ann")).find(version="not >= a range")
    assert (refused.value.code, refused.value.reason) == (400, "version_range")


@pytest.mark.parametrize(
    ("words", "need", "message"),
    [
        (None, {"capabilty": "x"}, "has no 'capabilty'"),
        ("  ", {}, "words of the need"),
        ("x" * 10_000, {}, "words of the need"),
        (None, {"min_reliability": 1.5}, "min_reliability is 1.5"),
        (None, {"min_reliability": True}, "min_reliability is True"),
        (None, {"within": "soon"}, "within is 'soon'"),
        (None, {"within": "31d"}, "within is '31d', which is too long"),
        (None, {"tags": "language"}, "tags is 'language', which is no list"),
        (None, {"max_cost": 3}, "max_cost is 3"),
        (None, {"data_policy": {"retains": 1}}, "'retains' is nothing"),
        (None, {"output_schema": "no type at all"}, "output_schema of the need"),
        (None, {"input": object()}, "The need"),
    ],
)
async def test_what_no_relay_would_notice_is_refused_before_anything_is_asked(
    agent: Agents, words: str | None, need: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        await (await agent("ann")).find(words, **need)
