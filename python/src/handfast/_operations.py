"""Every operation of the relay by name: where it lies over HTTP, and when an answer is what a wait waited for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any
from urllib.parse import quote, urlencode

from ._remedies import generated
from ._wire_json import plain_text
from .errors import UsageError

Params = Mapping[str, Any]

_OPEN = {"queued", "delivered", "working", "waiting"}
_UNACKNOWLEDGED = {"queued", "delivered"}

TEXTS = {"log", "metrics"}
"""Answered as text, not as JSON."""


@cache
def _routes() -> dict[str, tuple[str, list[str]]]:
    rows = generated("operations.json")
    return {name: (row["method"], row["path"].replace("}", "{").split("{")) for name, row in rows.items()}


def place_of(name: str, params: Params | None, query: Params | None) -> tuple[str, str]:
    """Method, and path with its query."""
    route = _routes().get(name)
    if route is None:
        raise UsageError(f"There is no operation {name!r}.", f"Use one of {', '.join(_routes())}.")
    method, parts = route
    path = "".join(part if at % 2 == 0 else _filled(name, part, params) for at, part in enumerate(parts))
    given = [(key, _text(value)) for key, value in (query or {}).items() if value is not None]
    return method, f"{path}?{urlencode(given)}" if given else path


def _filled(name: str, param: str, params: Params | None) -> str:
    value = (params or {}).get(param)
    if value is None or value == "":
        raise UsageError(f"The operation {name} lacks its {param}.", f'Give params={{"{param}": ...}}.')
    return quote(plain_text(value), safe="")


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else plain_text(value)


def id_of(params: Params | None) -> str | None:
    """Which handoff a call is about, for its errors."""
    found = (params or {}).get("id")
    return found if isinstance(found, str) else None


_Test = Callable[[Any, Params], bool]


def _get_ready(reply: Any, query: Params) -> bool:
    return reply["state"] not in (_UNACKNOWLEDGED if query.get("until") == "acknowledged" else _OPEN)


def _events_ready(reply: Any, _query: Params) -> bool:
    return bool(reply["events"]) or reply["ended"]


_READY: dict[str, _Test] = {
    "submit": lambda reply, _: reply["state"] not in _OPEN,
    "get": _get_ready,
    "handoff_events": _events_ready,
    "correlation_events": _events_ready,
    "read_chunks": lambda reply, _: reply["text"] != "" or reply["state"] not in _OPEN,
    "outcomes": lambda reply, _: bool(reply["handoffs"]),
    "claim": lambda reply, _: bool(reply["leases"]),
    "questions": lambda reply, _: bool(reply["questions"]),
    "negotiate": lambda reply, _: not reply["open"],
    "negotiation": lambda reply, _: not reply["open"],
    "proposals": lambda reply, _: bool(reply["proposals"]),
    "question": lambda reply, _: reply["resolution"] is not None or not reply["open"],
}


def is_ready(name: str, query: Params | None, reply: Any) -> bool:
    """Whether this is what a waiting call waited for, or only the end of its wait.

    Operations that do not wait always are.
    """
    test = _READY.get(name)
    return test is None or test(reply, query or {})
