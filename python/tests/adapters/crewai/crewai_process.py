"""Processes that the tests kill: a flow that hands off and is woken, and a crew that works.

Arguments: what it is, the capability, and a folder where its flows are kept and in which it leaves marks.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from crewai.flow import Flow, listen, start
from crewai.flow.persistence import SQLiteFlowPersistence
from crewai_model import crew_of, last_of, model
from pydantic import BaseModel

from handfast import Client
from handfast.crewai import handoff, outcome_of, resume_outcomes, serve_crew

WHAT, CAPABILITY, FOLDER = sys.argv[1], sys.argv[2], Path(sys.argv[3])
LOOK_EVERY_S = 0.02

hf = Client()


def say(line: str) -> None:
    print(line, flush=True)


def wait_for(mark: str) -> None:
    while not (FOLDER / mark).exists():
        time.sleep(LOOK_EVERY_S)


class State(BaseModel):
    topic: str = ""
    rounds: int = 0


class Plan(Flow[State]):
    """Hands off twice, one after the other."""

    @start()
    @handoff(hf, CAPABILITY, timeout=60)
    def first(self) -> Any:
        return self.state.topic

    @listen(first)
    @handoff(hf, CAPABILITY, timeout=60)
    def second(self, result: Any) -> str:
        self.state.rounds += 1
        say(f"heard {outcome_of(result).get('output')} in round {self.state.rounds}")
        if WHAT == "waker-1":
            wait_for("never")
        return f"{self.state.topic} again"

    @listen(second)
    def end(self, result: Any) -> None:
        say(f"ended {outcome_of(result).get('output')}")


def write(messages: list[Any]) -> str:
    """The model of the crew: its second task does not end in the first life."""
    if "First" in last_of(messages):
        say("first task")
        return "an outline"
    say("second task")
    wait_for("never")
    return ""


store = SQLiteFlowPersistence(str(FOLDER / "flows.db"))
if WHAT == "kickoff":
    Plan(persistence=store).kickoff(inputs={"id": "plan-1", "topic": "fsync"})
    say("paused")
    wait_for("never")
elif WHAT.startswith("waker"):
    with resume_outcomes(hf, Plan, persistence=store, on_woken=lambda woken: say(f"woken {woken.how}")):
        say("waking")
        wait_for("never")
else:
    serve_crew(hf, CAPABILITY, lambda: crew_of(model(write), "First", "Then"), signals=False)
    say("serving")
    wait_for("never")
