"""The pytest plugin: the fixture ``relay``, a test relay for each test that asks for one.

In a plain test it is a TestRelay, in an async one an AsyncTestRelay. An async test is run by whatever plugin runs async
tests; where there is none, by this one.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Union

import pytest

if TYPE_CHECKING:
    # At run time only where it is used: the plugin is loaded for every test run of whoever has the package.
    from .testing import AsyncTestRelay, TestRelay

OPTION = "handfast_command"


def pytest_addoption(parser: pytest.Parser) -> None:
    help = "How the command handfast is started, which the fixture relay needs. Default: HANDFAST_COMMAND, else found."
    parser.getgroup("handfast").addoption("--handfast-command", dest=OPTION, default=None, help=help)
    parser.addini(OPTION, help)


@pytest.fixture
def relay(request: pytest.FixtureRequest) -> Iterator[Union[TestRelay, AsyncTestRelay]]:
    """A relay of this test's own, with a clock that moves only when the test says so."""
    from .testing import AsyncTestRelay, TestRelay

    command = request.config.getoption(OPTION) or request.config.getini(OPTION) or None
    function = getattr(request.node, "obj", None)
    if not inspect.iscoroutinefunction(function):
        with TestRelay(command=command) as plain:
            yield plain
        return
    relay = AsyncTestRelay(command=command)
    request.node.obj = _stopping(function, relay)
    try:
        yield relay
    finally:
        # Where the test was never run, or its loop broke down.
        relay.abandon()


def _stopping(function: Any, relay: AsyncTestRelay) -> Any:
    """The relay is stopped on the test's own event loop, which is gone when fixtures are."""

    @functools.wraps(function)
    async def run(*words: Any, **named: Any) -> Any:
        async with relay:
            return await function(*words, **named)

    return run


@pytest.hookimpl
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Plugins that run async tests have replaced the function by now, or come before this one."""
    # Another fixture may have the name.
    is_ours = type(pyfuncitem.funcargs.get("relay")).__module__.startswith("handfast.testing.")
    if not is_ours or not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True
