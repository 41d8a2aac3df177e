"""The planner as a process of its own, for tests that kill it.

HANDFAST_* say who it is; the store's file, a file for what the nodes did, the capability, ``run`` or ``resume`` and
where it is to be killed are its arguments. It prints a line for whatever a test waits for.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
import time
from pathlib import Path
from typing import Any

from langgraph.checkpoint.sqlite import SqliteSaver
from lg_planner import planner

from handfast import Client
from handfast._send.sending import SendingFrom
from handfast.langgraph import resume_outcomes

store, effects, capability, task, killed_at = sys.argv[1:]


def die(place: str) -> None:
    """Here and now, and only the first time that anybody comes by."""
    mark = Path(f"{effects}.{place}")
    if killed_at != place or mark.exists():
        return
    mark.touch()
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)


_send = SendingFrom.send


async def send(self: SendingFrom, *given: Any, **options: Any) -> Any:
    handle = await _send(self, *given, **options)
    die("after_accept")
    return handle


SendingFrom.send = send  # type: ignore[method-assign]


class Saver(SqliteSaver):
    def put(self, config: Any, checkpoint: Any, *rest: Any) -> Any:
        kept = super().put(config, checkpoint, *rest)
        if "research_outcome" in str(checkpoint["channel_values"].get("__pregel_tasks")):
            die("after_sent_is_kept")
        return kept

    def put_writes(self, config: Any, writes: Any, *rest: Any) -> None:
        super().put_writes(config, writes, *rest)
        if any(channel == "report" for channel, _ in writes):
            die("after_outcome_is_kept")


def in_node(node: str, _: Any) -> None:
    if node == "write":
        die("while_resuming")
    with Path(effects).open("a", encoding="utf-8") as file:
        file.write(f"{node}\n")


if __name__ == "__main__":
    connection = sqlite3.connect(store, check_same_thread=False)
    # Without hf: from the environment, and from whoever resumes.
    graph = planner(None, capability, Saver(connection), in_node)
    if task == "run":
        graph.invoke({"topic": "fsync"}, {"configurable": {"thread_id": "t"}}, durability="sync")
        print("asleep", flush=True)
    resume_outcomes(Client(), graph, on_woken=lambda woken: print(woken.how, flush=True)).stopped()
