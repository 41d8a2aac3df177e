"""A capability as a tool of an agent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Literal

import pytest
from crewai.tools.tool_failure import ToolFailure
from crewai_model import crew_of, kickoff, model, tool_call, tool_result
from pydantic import BaseModel

from handfast import Client, Fail, Retry, UsageError
from handfast.crewai import handoff_tool

Agents = Callable[..., Client]
Name = Callable[[str], str]


class Query(BaseModel):
    query: str
    depth: Literal["short", "long"] = "short"
    site: str | None = None


class Found(BaseModel):
    summary: str


def test_an_agent_finds_name_description_and_arguments_in_the_manifest(sync_agent: Agents, name: Name) -> None:
    capability = name("web_research")
    worker = sync_agent("researcher")
    heard: list[dict[str, Any]] = []

    @worker.capability(capability, description="Searches the web and sums up.")
    def research(query: Query) -> Found:
        heard.append(query.model_dump(exclude_unset=True))
        return Found(summary=f"all of {query.query}")

    worker.serve(signals=False)
    tool = handoff_tool(sync_agent("planner"), capability, name="research", timeout=20)
    assert tool.name == "research"
    assert "Searches the web and sums up." in tool.description
    assert tool.args_schema.model_fields["query"].is_required()
    assert tool.args_schema.model_json_schema()["properties"]["depth"]["anyOf"][0]["enum"] == ["short", "long"]

    said: list[str] = []

    def script(messages: list[Any]) -> Any:
        result = tool_result(messages)
        if result is None:
            return tool_call("research", query="fsync", depth=None)
        said.append(result)
        return "Done."

    assert kickoff(crew_of(model(script), "Look it up", tools=[tool])).raw == "Done."
    assert said == ['{"summary": "all of fsync"}']
    # What the model left out, or gave as null where the manifest knows no null, is not sent.
    assert [entry["query"] for entry in heard] == ["fsync"]
    assert "depth" not in heard[0]


ITEM = {"type": "object", "properties": {"url": {"type": "string"}, "note": {"type": "string"}}, "required": ["url"]}
KINDS = [
    {
        "type": "object",
        "properties": {"kind": {"const": "page"}, "note": {"type": "string"}},
        "required": ["kind"],
    },
    {
        "type": "object",
        "properties": {"kind": {"const": "person"}, "note": {"type": ["string", "null"]}},
        "required": ["kind", "note"],
    },
]


@pytest.mark.parametrize(
    ("source", "given"),
    [
        ({"type": "array", "items": ITEM}, [{"url": "a"}, {"url": "b", "note": "c"}]),
        ({"$ref": "#/$defs/Item"}, {"url": "a"}),
        ({"anyOf": [ITEM, {"type": "string"}]}, {"url": "a"}),
        ({"anyOf": [{"$ref": "#/$defs/Item"}, {"type": "null"}]}, {"url": "a"}),
        ({"allOf": [ITEM, {"properties": {"at": {"type": "integer"}}}]}, {"url": "a"}),
        ({"type": "array", "items": {"oneOf": KINDS}}, [{"kind": "page"}, {"kind": "person", "note": None}]),
        ({"$ref": "#/$defs/Group"}, {"items": [{"url": "a"}]}),
        ({"type": "object", "additionalProperties": ITEM}, {"k": {"url": "a"}}),
    ],
)
def test_what_was_left_out_is_not_sent_as_null_wherever_it_is(
    sync_agent: Agents, name: Name, source: Any, given: Any
) -> None:
    capability = name("read")
    heard: list[Any] = []
    group = {
        "type": "object",
        "properties": {"title": {"type": "string"}, "items": {"type": "array", "items": {"$ref": "#/$defs/Item"}}},
    }
    schema = {
        "type": "object",
        "$defs": {"Item": ITEM, "Group": group},
        "properties": {"source": source},
        "required": ["source"],
    }
    sync_agent("reader").serve({capability: {"handler": heard.append, "input": schema}}, signals=False)
    tool = handoff_tool(sync_agent("planner"), capability, timeout=20)
    assert tool.run(source=given) == "null"
    assert heard == [{"source": given}]


def test_a_null_that_the_manifest_knows_or_asks_for_is_sent(sync_agent: Agents, name: Name) -> None:
    capability = name("read")
    heard: list[Any] = []
    nullable = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    schema = {
        "type": "object",
        "$defs": {"Nullable": nullable},
        "properties": {"a": nullable, "b": {"$ref": "#/$defs/Nullable"}, "c": {}, "d": {"enum": ["x", None]}},
        "required": ["a"],
    }
    sync_agent("reader").serve({capability: {"handler": heard.append, "input": schema}}, signals=False)
    tool = handoff_tool(sync_agent("planner"), capability, timeout=20)
    tool.run(a=None)
    assert heard == [{"a": None, "b": None, "c": None, "d": None}]


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("uri", "http://example.com"),
        ("uuid", "01A1E4B0-C614-7136-9C4D-F131BD700A1F"),
        ("date-time", "2020-01-01T01:00:00+01:00"),
        ("password", "hunter2"),
        ("file-path", "/not/on/this/machine"),
    ],
)
def test_text_with_a_format_arrives_as_the_model_wrote_it(sync_agent: Agents, name: Name, form: str, text: str) -> None:
    capability = name("read")
    heard: list[Any] = []
    schema = {
        "type": "object",
        "properties": {"format": {"type": "string", "format": form, "description": "Where."}},
        "required": ["format"],
    }
    sync_agent("reader").serve({capability: {"handler": heard.append, "input": schema}}, signals=False)
    tool = handoff_tool(sync_agent("planner"), capability, timeout=20)
    tool.run(format=text)
    assert heard == [{"format": text}]
    assert tool.args_schema.model_fields["format"].description == f"Where. (format: {form})"


def test_an_argument_may_be_called_self(sync_agent: Agents, name: Name) -> None:
    capability = name("look")
    heard: list[Any] = []
    schema = {"type": "object", "properties": {"self": {"type": "string"}}, "required": ["self"]}
    sync_agent("mirror").serve({capability: {"handler": heard.append, "input": schema}}, signals=False)
    tool = handoff_tool(sync_agent("planner"), capability, name="look", timeout=20)
    tool.run(**{"self": "a"})
    asyncio.run(tool.arun(**{"self": "b"}))

    def script(messages: list[Any]) -> Any:
        return tool_call("look", **{"self": "c"}) if tool_result(messages) is None else "Seen."

    assert kickoff(crew_of(model(script), "Look", tools=[tool])).raw == "Seen."
    assert heard == [{"self": "a"}, {"self": "b"}, {"self": "c"}]


def test_failures_come_back_as_text_with_code_and_whether_to_try_again(sync_agent: Agents, name: Name) -> None:
    capability = name("fragile")
    worker = sync_agent("fragile")

    def fragile(how: str) -> str:
        if how == "for good":
            raise Fail("No such page.", reason="not_found")
        if how == "for now":
            raise Retry("The site is busy.", after=3600)
        raise KeyError("a bug")

    worker.serve({capability: fragile}, signals=False)
    tool = handoff_tool(sync_agent("planner"), capability, timeout=20, attempts=1)

    for_good = tool.run(input="for good")
    assert isinstance(for_good, ToolFailure)
    assert for_good.code == "500"
    assert not for_good.retryable
    assert "No such page." in for_good.as_agent_message()
    assert "500" in for_good.as_agent_message()
    assert "Trying the same again does not help." in for_good.as_agent_message()

    for_now = tool.run(input="for now")
    assert for_now.retryable
    assert "Trying again may help." in for_now.as_agent_message()

    bug = tool.run(input="x")
    assert "KeyError" in bug.message
    assert "Traceback" not in bug.message

    # What the manifest does not allow is refused by the relay, and said so.
    unfit = handoff_tool(sync_agent("planner"), capability, input={"type": "number"}, description="-").run(input=7)
    assert unfit.code == "422"


def test_the_model_reads_what_failed(sync_agent: Agents, name: Name) -> None:
    tool = handoff_tool(
        sync_agent("planner"), name("nowhere"), name="ask", description="Asks.", input={"type": "string"}, timeout=20
    )
    read: list[str] = []

    def script(messages: list[Any]) -> Any:
        result = tool_result(messages)
        if result is None:
            return tool_call("ask", input="?")
        read.append(result)
        return "Nobody was there."

    output = kickoff(crew_of(model(script), "Ask", tools=[tool]))
    assert "406" in read[0]
    assert "does not help" in read[0]
    # CrewAI knows that the call failed, though the crew went on.
    assert [failure.failure.code for failure in output.tool_failures] == ["406"]


def test_a_deadline_holds_while_the_tool_waits(sync_agent: Agents, name: Name) -> None:
    tool = handoff_tool(
        sync_agent("planner"),
        name("absent"),
        description="-",
        input={"type": "string"},
        timeout="300ms",
        queue_if_absent=True,
    )
    failure = tool.run(input="?")
    assert failure.code in ("408", "503")
    assert failure.details["status"] == "expired"


def test_the_same_call_again_is_another_handoff_also_where_the_crew_caches(sync_agent: Agents, name: Name) -> None:
    capability = name("count")
    worker = sync_agent("counter")
    ids: list[str] = []
    worker.serve({capability: lambda _input, ctx: ids.append(ctx.handoff["id"])}, signals=False)
    tool = handoff_tool(sync_agent("planner"), capability, name="count", timeout=20)

    def script(messages: list[Any]) -> Any:
        return tool_call("count", input="x") if len(ids) < 2 else "Counted."

    assert kickoff(crew_of(model(script), "Count twice", tools=[tool], cache=True)).raw == "Counted."
    assert len(set(ids)) == 2


def test_without_a_manifest_it_says_what_to_give(sync_agent: Agents, name: Name) -> None:
    with pytest.raises(UsageError, match="Start its worker first"):
        handoff_tool(sync_agent("planner"), name("nowhere"))
