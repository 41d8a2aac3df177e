"""A worker whose work is done by a crew: its scripted model calls a tool, which works on the handoff."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import handfast
from crewai import Agent, BaseLLM, Crew, Task
from crewai.tools import BaseTool
from handfast import AsyncClient, Context
from handfast.crewai import serve_crew
from harness import INPUT_SCHEMA, OUTPUT_SCHEMA, Worker, do_task_blocking

BEGIN, END = "<task>", "</task>"


class ScriptedModel(BaseLLM):
    """Calls the tool with what it finds in its task, and answers with what the tool came to."""

    def call(self, messages: Any, *_rest: Any, **_more: Any) -> Any:
        if messages[-1].get("role") == "tool":
            return messages[-1]["content"]
        told = " ".join(str(message.get("content")) for message in messages)
        arguments = told.split(BEGIN)[-1].split(END)[0]
        return [{"id": "call-1", "type": "function", "function": {"name": "do_task", "arguments": arguments}}]

    def supports_function_calling(self) -> bool:
        return True

    def get_input_tokens_count(self, *_rest: Any, **_more: Any) -> int:
        return 1


class DoTask(BaseTool):
    """Reaches the handoff that the crew works on."""

    name: str = "do_task"
    description: str = "Does the task."

    def _run(self, text: str, mode: str = "plain", hold: str = "") -> str:
        ctx = handfast.current()
        assert isinstance(ctx, Context)
        return json.dumps(do_task_blocking({"text": text, "mode": mode, "hold": hold}, ctx))


def crew() -> Crew:
    """A new one for each handoff."""
    agent = Agent(role="worker", goal="work", backstory="-", llm=ScriptedModel(model="scripted"), tools=[DoTask()])
    task = Task(description=f"Do this: {BEGIN}{{task}}{END}", expected_output="JSON", agent=agent)
    return Crew(agents=[agent], tasks=[task])


class CrewWorker(Worker):
    """The same crew for every agent."""

    async def offer(self, hf: AsyncClient, capability: str) -> None:
        await serve_crew(
            hf,
            capability,
            crew,
            inputs=lambda input: {"task": json.dumps(input)},
            result=lambda output: json.loads(output.raw),
            input=INPUT_SCHEMA,
            output=OUTPUT_SCHEMA,
            concurrency=12,
            signals=False,
        )


asyncio.run(CrewWorker().run())
