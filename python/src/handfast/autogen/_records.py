"""Where the runs of teams are kept: text by the id of the run."""

from __future__ import annotations

import asyncio
import hashlib
import os
from pathlib import Path
from typing import Protocol


class Records(Protocol):
    """A place to keep them: a table of your database, for instance."""

    async def load(self, run: str) -> str | None:
        """What was kept last; None: nothing."""

    async def save(self, run: str, record: str) -> None:
        """Returns once it is safe; whole or not at all."""


class FileRecords:
    """A folder, with one file for each run."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = Path(folder)

    async def load(self, run: str) -> str | None:
        """What was kept last; None: nothing."""
        return await asyncio.to_thread(self._read, run)

    async def save(self, run: str, record: str) -> None:
        """Written beside the old one, brought to the disk, and put in its place."""
        await asyncio.to_thread(self._write, run, record)

    def _path(self, run: str) -> Path:
        """Any text is an id of a run, and only some are names of files."""
        return self._folder / f"{hashlib.sha256(run.encode()).hexdigest()[:40]}.json"

    def _read(self, run: str) -> str | None:
        try:
            return self._path(run).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None

    def _write(self, run: str, record: str) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._path(run)
        beside = path.with_suffix(f".{os.getpid()}.new")
        with beside.open("w", encoding="utf-8") as file:
            file.write(record)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
