"""What CrewAI's code, which blocks, finds of the handoff that it works on."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import Any
from weakref import WeakKeyDictionary

from .._serve import Context, current
from .._serve.workings import Workings

_calls: WeakKeyDictionary[Workings, Counter[str]] = WeakKeyDictionary()


def context_now() -> Context | None:
    """The handoff being worked on, as the kind that blocks: CrewAI runs tools and methods on threads. None: there is
    none."""
    context = current()
    return context if context is None or isinstance(context, Context) else Context(context._workings)


def key_within(context: Context, what: Any) -> str:
    """An idempotency key for something that a run sends: the nth time that it sends this very thing.

    Another attempt that comes the same way gets the same keys, and sends nothing twice.
    """
    digest = hashlib.sha256(json.dumps(what, sort_keys=True, default=str).encode()).hexdigest()[:32]
    counter = _calls.setdefault(context._workings, Counter())
    counter[digest] += 1
    return f"{context.handoff['id']}:{digest}:{counter[digest]}"
