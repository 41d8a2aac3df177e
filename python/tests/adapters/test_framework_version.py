"""An adapter with a framework that it does not know says so, with both versions."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from handfast import UsageError
from handfast._adapters import check_framework


@pytest.mark.parametrize(("least", "below"), [("99.0.0", "100.0.0"), ("0.0.1", "0.0.2")])
def test_a_version_that_does_not_fit_is_named_together_with_those_that_do(least: str, below: str) -> None:
    import pydantic

    with pytest.raises(UsageError) as caught:
        check_framework("handfast.it", "pydantic", least=least, below=below, extra="it")
    assert caught.value.reason == "framework_version"
    assert f"{least} up to, not including, {below}; installed is {pydantic.VERSION}" in caught.value.message
    assert f"pip install 'pydantic>={least},<{below}'" in caught.value.remedy


@pytest.mark.parametrize(("least", "below"), [("2", "3"), ("2.0.0", "99.0"), ("0.7.5", "100.0.0")])
def test_a_version_that_fits_passes(least: str, below: str) -> None:
    check_framework("handfast.it", "pydantic", least=least, below=below, extra="it")


def test_one_that_is_not_installed_is_named_with_how_to_install_it() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'handfast\[it\]'"):
        check_framework("handfast.it", "no-such-framework", least="1", below="2", extra="it")


def test_the_adapter_for_langgraph_looks_before_it_imports_anything_of_it(tmp_path: Path) -> None:
    """A langgraph of another major version, of which nothing but its name and version is as we know it."""
    (tmp_path / "langgraph").mkdir()
    (tmp_path / "langgraph" / "__init__.py").touch()
    info = tmp_path / "langgraph-2.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: langgraph\nVersion: 2.1.0\n", encoding="utf-8")
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import handfast.langgraph"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert "handfast.langgraph works with langgraph 1.2.0 up to, not including, 2.0.0" in ended.stderr
    assert "installed is 2.1.0" in ended.stderr
