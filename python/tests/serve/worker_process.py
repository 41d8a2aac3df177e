"""A worker as a process of its own, for tests of signals and of processes that die.

It says what it does in lines, and goes on when it is told so on stdin. Arguments: the kind of client, and the grace.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import sys
import time
from typing import Any

from handfast import AsyncContext, Client, Context, connect


def say(line: str) -> None:
    print(line, flush=True)


def obliging(_input: Any, ctx: Context) -> str:
    """Ends when the test says so."""
    ctx.checkpoint({"by": "the first"})
    say("working")
    sys.stdin.readline()
    return "done"


def deaf() -> None:
    """Never ends by itself."""
    say("working")
    while True:
        time.sleep(60)


async def thorough(_input: Any, ctx: AsyncContext) -> None:
    """Keeps a last checkpoint when it is told to stop."""
    say("working")
    try:
        await asyncio.sleep(3_600)
    except asyncio.CancelledError:
        await ctx.checkpoint({"half": "done"})
        raise


def forking() -> int | None:
    """How a process that it forks off ends by SIGTERM."""
    process = multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,))
    process.start()
    process.terminate()
    process.join(10)
    code = process.exitcode
    process.kill()
    return code


HANDLERS = {"obliging": obliging, "deaf": deaf, "thorough": thorough, "forking": forking}


def named(suffix: str) -> dict[str, Any]:
    return {f"{name}-{suffix}": handler for name, handler in HANDLERS.items()}


async def run_async(suffix: str, grace: str) -> None:
    hf = await connect()
    await hf.serve(named(suffix), grace=grace)
    say("ready")
    await asyncio.Event().wait()


def run_sync(suffix: str, grace: str, *, waits: bool) -> None:
    hf = Client()
    server = hf.serve(named(suffix), grace=grace)
    say("ready")
    if waits:
        server.stopped()
        say("stopped")
    else:
        time.sleep(3_600)


if __name__ == "__main__":
    kind, suffix, grace = sys.argv[1:]
    if kind == "async":
        asyncio.run(run_async(suffix, grace))
    else:
        run_sync(suffix, grace, waits=kind == "sync-waits")
