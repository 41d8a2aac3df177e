"""The reviewer: an agent of AutoGen that may ask the editor before it decides."""

import asyncio
import sys

import handfast
from autogen_agentchat.agents import AssistantAgent
from autogen_core import FunctionCall
from autogen_core.models import CreateResult, ModelInfo, RequestUsage
from autogen_ext.models.replay import ReplayChatCompletionClient
from handfast import connect
from handfast.autogen import serve_team
from pydantic import BaseModel


class Verdict(BaseModel):
    approved: bool
    wishes: list[str] = []


async def ask_editor(question: str) -> str:
    """Asks whoever gave this review, and waits for the answer."""
    return str(await handfast.current().ask(question, schema={"type": "string"}))


asks = FunctionCall(id="1", name="ask_editor", arguments='{"question": "Who is going to read it?"}')
unfit = Verdict(approved=False, wishes=["Say first what a leap second is."])

# A script in place of a model, for one review that asks and is not content, and one that is: put yours here.
model = ReplayChatCompletionClient(
    [
        CreateResult(content=[asks], finish_reason="function_calls", usage=RequestUsage(0, 0), cached=False),
        unfit.model_dump_json(),
        Verdict(approved=True).model_dump_json(),
    ],
    ModelInfo(vision=False, function_calling=True, json_output=True, family="unknown", structured_output=True),
)


def reviewer() -> AssistantAgent:
    return AssistantAgent(
        "reviewer",
        model,
        tools=[ask_editor],
        system_message="You review articles. Ask the editor what you do not know.",
        max_tool_iterations=3,
        output_content_type=Verdict,
    )


async def main() -> None:
    async with connect(agent="reviewer") as hf:
        server = await serve_team(
            hf,
            "review",
            reviewer,
            description="Says whether an article may be published, and what it lacks.",
            output=Verdict,
            tags=["autogen"],
            worker=sys.argv[1],
        )
        print("ready", flush=True)
        await server.stopped()


asyncio.run(main())
