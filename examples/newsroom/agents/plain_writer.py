"""The same writer without a framework, for where CrewAI is too large to install (--without-crewai)."""

import sys

from handfast import Client, Context
from writer_script import TITLE, Assignment, Draft, prompts, said

worker = sys.argv[1]
hf = Client(agent="writer")


@hf.capability("draft", tags=["python"])
def draft(assignment: Assignment, ctx: Context) -> Draft:
    """Writes an article from facts, as the reviewer wishes."""
    kept = ctx.previous.checkpoint or []
    for prompt in list(prompts(assignment).values())[len(kept) :]:
        kept = [*kept, {"by": worker, "text": said(prompt)}]
        ctx.checkpoint(kept)
    return Draft(title=TITLE, text=kept[-1]["text"], by=[each["by"] for each in kept])


server = hf.serve(worker=worker)
print("ready", flush=True)
server.stopped()
