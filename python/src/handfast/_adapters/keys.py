"""Idempotency keys for what a framework's run sends, equal in every run of the same step.

Ids that frameworks and models make up differ from one run of a step to the next; what is sent does not. So a key is
made of what is sent, and of how often the run has sent the same before: that count is kept with the run's state.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pydantic_core import to_jsonable_python

from .._protocol.ids import is_text_id
from ..errors import UsageError

_LONGEST_RUN_CHARS = 200
"""What a label can carry, and an idempotency key beside other things."""


def short_key(text: str) -> str:
    """A key out of any text: the text itself, where the relay takes it."""
    return text if is_text_id(text) else hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def joined(*parts: str) -> str:
    """One text out of several, of which no others make the same."""
    return "/".join(part.replace("%", "%25").replace("/", "%2F") for part in parts)


class Keys:
    """The keys of one run."""

    def __init__(self, run: str, counts: Mapping[str, int] | None = None) -> None:
        self.run = run
        self.counts = dict(counts or {})
        """To be kept with the run's state, and given again."""

    def next(self, *what: Any) -> str:
        """For something that is sent now."""
        text = json.dumps(to_jsonable_python(what, fallback=lambda each: type(each).__qualname__), sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:32]
        count = self.counts.get(digest, 0)
        self.counts[digest] = count + 1
        return short_key(f"{self.run}:{digest}:{count}")


def check_run(run: str) -> str:
    """The id of a run, as the user gives it."""
    if isinstance(run, str) and len(run) <= _LONGEST_RUN_CHARS and is_text_id(run):
        return run
    remedy = f"Use text of 1 to {_LONGEST_RUN_CHARS} characters without control characters."
    raise UsageError(f"{run!r} is no id for a run.", remedy)
