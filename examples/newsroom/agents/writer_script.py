"""What goes into a draft and comes out of it, and what the writer's model says: a script that reads its prompt."""

import re
import time
from pathlib import Path

from pydantic import BaseModel

TITLE = "The last of the leap seconds"
HELD = Path("held")
"""While this file is there the model goes on thinking: the newsroom kills a writer meanwhile."""


class Fact(BaseModel):
    claim: str
    source: str


class Assignment(BaseModel):
    topic: str
    facts: list[Fact]
    wishes: list[str] = []


class Draft(BaseModel):
    title: str
    text: str
    by: list[str]
    """Who outlined it, and who wrote it."""


def prompts(assignment: Assignment) -> dict[str, str]:
    """Of the two tasks, in their order."""
    facts = "\n".join(f"- {fact.claim} ({fact.source})" for fact in assignment.facts)
    wishes = "\n".join(f"* {wish}" for wish in assignment.wishes)
    return {
        "outline": f"Outline an article about {assignment.topic}:\n{facts}",
        "article": f"Write the article:\n{facts}\nThe reviewer wishes:\n{wishes}",
    }


def said(prompt: str) -> str:
    facts = re.findall(r"^- (.*) \((.*)\)$", prompt, re.MULTILINE)
    if "Write the article" not in prompt:
        return f"A paragraph of {len(facts)} facts, and where they are from."
    while HELD.exists():
        time.sleep(0.05)
    opening = (
        "Now and then a second is put into all clocks at once, so that noon stays where the sun has it: a leap second. "
    )
    has_wishes = re.search(r"^\* ", prompt, re.MULTILINE) is not None
    claims = " ".join(claim for claim, _ in facts)
    sources = "; ".join(source for _, source in facts)
    return f"{opening if has_wishes else ''}{claims}\n\nSources: {sources}."
