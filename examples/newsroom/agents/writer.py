"""The writer: a crew of CrewAI that outlines an article and then writes it.

What a task came to is kept at the relay as the handoff's checkpoint. Killed between the two tasks, another process
finds the outline there and only writes.
"""

import sys
from typing import Any

from crewai import Agent, BaseLLM, Crew, CrewOutput, Task
from handfast import Client
from handfast.crewai import serve_crew
from writer_script import TITLE, Assignment, Draft, prompts, said

worker = sys.argv[1]


class ScriptedModel(BaseLLM):
    """A script in place of a model: give the agent yours."""

    def call(self, messages: Any, *_: Any, **__: Any) -> str:
        return said(messages[-1]["content"])


def crew() -> Crew:
    author = Agent(role=worker, goal="write what is true", backstory="-", llm=ScriptedModel(model="scripted"))
    outline = Task(description="{outline}", expected_output="An outline.", agent=author)
    article = Task(description="{article}", expected_output="The article.", agent=author, context=[outline])
    return Crew(agents=[author], tasks=[outline, article])


def draft_of(output: CrewOutput) -> dict[str, Any]:
    return {"title": TITLE, "text": output.raw, "by": [task.agent for task in output.tasks_output]}


server = serve_crew(
    Client(agent="writer"),
    "draft",
    crew,
    description="Writes an article from facts, as the reviewer wishes.",
    inputs=prompts,
    result=draft_of,
    input=Assignment,
    output=Draft,
    tags=["crewai"],
    worker=worker,
)
print("ready", flush=True)
server.stopped()
