"""What is the same in every adapter has the same name and is called alike: who knows one knows the next."""

from __future__ import annotations

import inspect
from types import ModuleType

import pytest

WORKERS = {
    "langgraph": ["graph"],
    "autogen": ["team"],
    "agent_framework": ["workflow"],
    "crewai": ["crew", "flow"],
}
SHARED = {"CompletedOutcome", "FailedOutcome", "Lock", "Outcome", "Waker", "Woken", "handoff_tool", "outcome_text"}


@pytest.fixture(params=WORKERS)
def adapter(request: pytest.FixtureRequest) -> ModuleType:
    module: ModuleType = pytest.importorskip(f"handfast.{request.param}")
    return module


def test_what_all_have_is_exported_by_each(adapter: ModuleType) -> None:
    assert SHARED.difference(adapter.__all__) == set()
    assert all(hasattr(adapter, name) for name in adapter.__all__)


def test_what_is_served_is_a_worker_by_its_name(adapter: ModuleType) -> None:
    for kind in WORKERS[adapter.__name__.removeprefix("handfast.")]:
        serve = list(inspect.signature(getattr(adapter, f"serve_{kind}")).parameters)
        worker = list(inspect.signature(getattr(adapter, f"{kind}_worker")).parameters)
        assert serve[:2] == ["hf", "capability"]
        # The client that serves decides how a graph is run; other workers run in one way only.
        assert next(name for name in worker if name != "hf") == serve[2]
    assert not [name for name in adapter.__all__ if name.endswith("_handler")]


def test_a_tool_is_made_of_a_client_and_a_capability(adapter: ModuleType) -> None:
    parameters = inspect.signature(adapter.handoff_tool).parameters
    assert list(parameters)[:6] == ["hf", "capability", "to", "name", "description", "input"]
    positional = [name for name, each in parameters.items() if each.kind is each.POSITIONAL_OR_KEYWORD]
    assert positional == ["hf", "capability"]
