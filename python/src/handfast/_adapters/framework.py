"""Whether the framework that is installed is one that an adapter was made for."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, version

from ..errors import UsageError


def check_framework(adapter: str, framework: str, *, least: str, below: str, extra: str) -> None:
    """Raises where the version does not fit. To be called before anything of the framework is imported.

    :param adapter: The adapter's own name, such as ``handfast.langgraph``.
    :param framework: The framework's package, as pip names it.
    :param least: The oldest version that fits.
    :param below: The first one that does not fit any more.
    :param extra: What ``handfast[...]`` installs it.
    """
    try:
        installed = version(framework)
    except PackageNotFoundError:
        raise ModuleNotFoundError(
            f"{adapter} needs {framework}, which is not installed: pip install 'handfast[{extra}]'", name=framework
        ) from None
    if _numbers(least) <= _numbers(installed) < _numbers(below):
        return
    raise UsageError(
        f"{adapter} works with {framework} {least} up to, not including, {below}; installed is {installed}.",
        f"Install a version that fits: pip install '{framework}>={least},<{below}'. "
        "Or take a newer handfast, if there is one.",
        "framework_version",
    )


def _numbers(text: str) -> tuple[int, ...]:
    """Its first three numbers. What comes before a release (2.0.0rc1) counts as that release."""
    found = [int(number) for number in re.findall(r"\d+", text.split("+")[0])[:3]]
    return (*found, 0, 0, 0)[:3]
