"""A model by a script, and crews that use it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

from crewai import Agent, BaseLLM, Crew, CrewOutput, Task
from pydantic import Field

Say = Callable[[list[Any]], Any]
"""From the messages to what the model says: text, or calls of tools."""


class ScriptedModel(BaseLLM):
    """Says what its script says, and counts how often it was asked."""

    script: Any = None
    calls: list[str] = Field(default_factory=list)

    def call(self, messages: Any, tools: Any = None, *_rest: Any, **_more: Any) -> Any:
        self.calls.append(threading.current_thread().name)
        return self.script(messages)

    def supports_function_calling(self) -> bool:
        return True

    def get_input_tokens_count(self, *_rest: Any, **_more: Any) -> int:
        return 1


def model(script: Say) -> ScriptedModel:
    return ScriptedModel(model="scripted", script=script)


def tool_call(name: str, **arguments: Any) -> list[dict[str, Any]]:
    """As models ask for a tool."""
    return [{"id": "call-1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}]


def last_of(messages: list[Any]) -> str:
    return str(messages[-1]["content"])


def tool_result(messages: list[Any]) -> str | None:
    """What the last tool came to; None: none was called."""
    return str(messages[-1]["content"]) if messages[-1].get("role") == "tool" else None


def crew_of(llm: BaseLLM, *descriptions: str, tools: Any = (), **options: Any) -> Crew:
    """One agent and a task for each description."""
    agent = Agent(role="writer", goal="write", backstory="-", llm=llm, tools=list(tools), max_retry_limit=0)
    tasks = [Task(description=each, expected_output="text", agent=agent) for each in descriptions]
    return Crew(agents=[agent], tasks=tasks, **options)


def kickoff(crew: Crew) -> CrewOutput:
    """What it came to; nothing is streamed here."""
    output = crew.kickoff()
    assert isinstance(output, CrewOutput)
    return output
