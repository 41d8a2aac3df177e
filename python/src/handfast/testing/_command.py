"""Where the `handfast` command is: the relay is a program of Node's, and the kit starts it."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..errors import UsageError

VARIABLE = "HANDFAST_COMMAND"


@dataclass(frozen=True)
class Command:
    """How it is started."""

    words: tuple[str, ...]
    path: str | None = None
    """Its own folder, put before PATH: the Node of a node_modules lies there, and may be newer than the system's."""

    def environment(self) -> dict[str, str]:
        env = dict(os.environ)
        if self.path is not None:
            env["PATH"] = os.pathsep.join([self.path, *filter(None, [env.get("PATH")])])
        return env


def find_command(
    configured: str | None = None,
    *,
    env: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Command:
    """What was configured, else the variable, else `handfast` on PATH, else that of the nearest node_modules."""
    env = os.environ if env is None else env
    path = env.get("PATH", os.defpath)
    for given in (configured, env.get(VARIABLE)):
        if given and given.strip():
            words = tuple(shlex.split(given, posix=os.name != "nt"))
            return Command(words, _folder_of(shutil.which(words[0], path=path)))
    found = shutil.which("handfast", path=path)
    if found is not None:
        return Command((found,), _folder_of(found))
    start = (Path.cwd() if folder is None else folder).resolve()
    for place in (start, *start.parents):
        bin_folder = place / "node_modules" / ".bin"
        near = shutil.which("handfast", path=str(bin_folder))
        if near is not None:
            return Command((near,), str(bin_folder))
    raise UsageError(
        "The command handfast, which the test relay is a part of, was not found: neither on PATH nor in a "
        f"node_modules of {start} or above.",
        "Install it with npm install --save-dev handfast (it needs Node 24), or say where it is: HANDFAST_COMMAND, or "
        'handfast_command in pytest\'s ini file, such as "node /path/to/handfast.js".',
        "no_command",
    )


def _folder_of(program: str | None) -> str | None:
    """Not where a link leads: beside the link lies the Node that was installed with it."""
    return None if program is None else os.path.dirname(os.path.abspath(program))
