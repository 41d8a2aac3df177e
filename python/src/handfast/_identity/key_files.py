"""Keys in files, the same ones that the TypeScript client and the command use.

A development key is made on first use: written beside its place and linked into it, so that of two processes that
start at once both end with the key of the one that was first.
"""

from __future__ import annotations

import json
import os
import secrets
import stat
import sys
from pathlib import Path

from ..errors import UsageError
from .agent_key import AgentKey

_OTHERS = 0o077
_FILE_BYTES = 64_000
"""A key file is small; whatever is larger is something else."""


def development_key_path(home: str, agent: str) -> str:
    return os.path.join(home, "keys", f"{agent}.json")


def read_key_file(path: str) -> str | None:
    """The text of the file; None: there is none. One that others may read is refused."""
    try:
        with open(path, "rb") as file:
            # Asked of the open file, not of the path, which could be exchanged in between.
            found = os.fstat(file.fileno())
            if sys.platform != "win32" and found.st_mode & _OTHERS:
                raise _open_to_others(path, found.st_mode)
            if found.st_size > _FILE_BYTES:
                raise _unreadable(path, f"it has {found.st_size} bytes")
            return file.read(_FILE_BYTES).decode("utf-8", "replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable(path, str(error)) from error


def write_key_file(path: str, key: AgentKey) -> bool:
    """Writes the key; False: another process was first, and its file stays."""
    draft = f"{path}.{secrets.token_hex(6)}.new"
    try:
        Path(path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(json.dumps(key.private_jwk(), separators=(",", ":")) + "\n")
                file.flush()
                os.fsync(file.fileno())
            # A link, not a rename: it fails where a file is already there.
            os.link(draft, path)
            return True
        except FileExistsError:
            return False
        finally:
            os.unlink(draft)
    except OSError as error:
        remedy = "Set HANDFAST_HOME (option home) to a folder that can be written, or give a key (HANDFAST_KEY)."
        message = f"The development key {path} could not be written: {error}."
        raise UsageError(message, remedy, "key_unwritable") from error


def _open_to_others(path: str, mode: int) -> UsageError:
    message = f"The key in {path} is open to others (mode {stat.S_IMODE(mode):04o}), so it is not used."
    remedy = f"If nobody else has read it, run: chmod 600 {path}. Else delete it, and rotate to a new key."
    return UsageError(message, remedy, "key_open_to_others")


def _unreadable(path: str, why: str) -> UsageError:
    message = f"The key file {path} cannot be read: {why}."
    return UsageError(message, "Check the path and its permissions (option key, HANDFAST_KEY).", "key_unusable")
