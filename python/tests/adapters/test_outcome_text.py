"""What a model reads of an outcome."""

from __future__ import annotations

from typing import Any

import pytest

from handfast import HandoffError, UsageError
from handfast._adapters import error_text, outcome_text


def failed(name: str, reason: str, message: str, *, retryable: bool) -> Any:
    error = {"reason": reason, "message": message}
    return {"handoff": None, "status": "failed", "code": 500, "name": name, "error": error, "retryable": retryable}


@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        (
            failed("agent_failed", "no_topic", "No such topic.", retryable=False),
            "500 agent_failed (no_topic): No such topic. Trying the same again does not help.",
        ),
        (
            failed("agent_lost", "agent_lost", "the worker is gone ", retryable=True),
            "500 agent_lost: the worker is gone. Trying again may help.",
        ),
    ],
)
def test_it_is_sentences_and_says_nothing_twice(outcome: Any, text: str) -> None:
    assert outcome_text(outcome) == f"The handoff ended as failed: {text}"


def test_where_there_is_no_outcome_the_code_and_whether_a_retry_helps_are_told_too() -> None:
    refused = HandoffError("The document is refused", code=400, reason="document_malformed", remedy="Mend it.")
    assert error_text(refused) == (
        "The handoff could not be made: 400 malformed (document_malformed): The document is refused. Mend it. "
        "Trying the same again does not help."
    )
    assert error_text(UsageError("There is no relay.", "Start one.", "no_relay")) == (
        "The handoff could not be made: no_relay: There is no relay. Start one. Trying the same again does not help."
    )
