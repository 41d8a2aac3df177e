"""What errors carry, how a person reads them, and that they survive the way to another process."""

from __future__ import annotations

import copy
import datetime
import pickle
from typing import Any

import pytest

from handfast import (
    Fail,
    HandfastError,
    HandoffError,
    Reject,
    RelayUnreachable,
    Retry,
    ScatterError,
    UsageError,
    WaitOver,
)
from handfast._duration import to_ms
from handfast._remedies import remedy_of, status_of


def test_an_error_says_what_happened_its_name_and_what_to_do() -> None:
    error = UsageError("The option x is 7.", "Give 8.")
    assert str(error) == "The option x is 7. [usage] Give 8."
    assert (error.message, error.reason, error.remedy, error.retryable) == (
        "The option x is 7.",
        "usage",
        "Give 8.",
        False,
    )
    assert error.docs == "npx handfast explain usage"
    assert UsageError("", "", "closed").docs == "npx handfast explain closed"
    assert UsageError("", "", "something_new").docs == "npx handfast explain usage"


def test_remedies_come_by_reason_then_by_code() -> None:
    known = HandoffError("m", code=409, reason="key_conflict")
    assert known.docs == "npx handfast explain key_conflict"
    made_up = HandoffError("m", code=500, reason="my_own")
    assert (made_up.docs, made_up.name, made_up.retryable) == ("npx handfast explain 500", "agent_failed", True)
    unknown = HandoffError("m", code=599, reason="my_own")
    assert (unknown.docs, unknown.name, unknown.retryable) == ("npx handfast explain 500", "code_599", False)
    # An agent's own reason may be spelt like one of the relay's: only with the right code it is that one.
    assert remedy_of(500, "key_conflict").anchor == "500-agent_failed"
    assert remedy_of(0, "relay_unreachable").anchor == "relay_unreachable"
    status = status_of(408)
    assert status is not None
    assert (status.name, status.mended_by) == ("deadline_passed", "asker")


def test_the_innermost_cause_is_told() -> None:
    outer = OSError("outer")
    outer.__cause__ = ConnectionRefusedError("nobody is there")
    assert "for 0.5 s (nobody is there)." in RelayUnreachable("http://x", 0.5, outer).message


def test_a_relay_that_speaks_plain_http_names_the_scheme_to_write() -> None:
    cause = OSError("[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:992)")
    error = RelayUnreachable("https://x", 1.0, cause)
    assert error.message == "No relay answered at https://x for 1 s (it does not speak TLS)."
    assert error.remedy is not None
    assert error.remedy.startswith("Write http:// in place of https://")


@pytest.mark.parametrize(
    "error",
    [
        UsageError("m", "r", "closed"),
        HandoffError("m", code=409, reason="key_conflict", handoff="h", problem={"code": 409}),
        RelayUnreachable("http://x", 1.0, OSError("gone")),
        WaitOver("The outcome", 1.0),
        ScatterError(2, 3, [HandoffError("m", code=500, reason="x")]),
        Retry("later", after="5s"),
        Fail("no", reason="gone", detail={"a": 1}),
        Reject("not mine"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_it_goes_to_another_process_and_back(error: Any) -> None:
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert again.__dict__.keys() == error.__dict__.keys()


def test_all_but_the_handlers_own_have_one_root() -> None:
    for kind in (UsageError, HandoffError, RelayUnreachable, ScatterError, WaitOver):
        assert issubclass(kind, HandfastError)
    assert issubclass(RelayUnreachable, ConnectionError)
    assert issubclass(WaitOver, TimeoutError)
    for own in (Retry, Fail, Reject):
        assert not issubclass(own, HandfastError)


@pytest.mark.parametrize(
    ("given", "ms"),
    [
        (1, 1_000),
        (0.25, 250),
        ("250ms", 250),
        ("1.5s", 1_500),
        (" 5m ", 300_000),
        ("2h", 7_200_000),
        ("7d", 604_800_000),
        (datetime.timedelta(seconds=1.5), 1_500),
        (0, 0),
    ],
)
def test_durations_are_seconds_or_say_their_unit(given: Any, ms: int) -> None:
    assert to_ms(given, "It") == ms


@pytest.mark.parametrize(
    "given", [-1, "5", "5 weeks", "", "s", "٣s", float("nan"), float("inf"), None, True, [], 10**400]
)
def test_what_is_no_duration_is_named(given: Any) -> None:
    with pytest.raises(UsageError, match=r"^It is "):
        to_ms(given, "It")
