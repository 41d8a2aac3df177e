"""A version of CrewAI that the adapter was not made for."""

from __future__ import annotations

import importlib

import pytest

from handfast import UsageError
from handfast.crewai import _version


@pytest.mark.parametrize("installed", ["0.203.1", "1.15.29", "2.0.0"])
def test_a_version_that_does_not_fit_is_named_with_those_that_do(
    installed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("handfast._adapters.framework.version", lambda _name: installed)
    with pytest.raises(UsageError) as raised:
        importlib.reload(_version)
    assert "crewai 1.15.30 up to, not including, 2.0.0" in raised.value.message
    assert f"installed is {installed}" in raised.value.message
