"""A relay for tests, with a clock that the test rules.

``TestRelay`` is for plain tests, ``AsyncTestRelay`` for async ones. With pytest the fixture ``relay`` is the one or the
other, whichever the test needs. docs/python-testing.md is the guide.
"""

from ._async_relay import AsyncTestRelay
from ._behaviour import Behaviour, FakeHandler, Step, crash, fail, hang, reject
from ._fake import AsyncFake, FakeOptions, Received
from ._relay import Fake, TestRelay

__all__ = [
    "AsyncFake",
    "AsyncTestRelay",
    "Behaviour",
    "Fake",
    "FakeHandler",
    "FakeOptions",
    "Received",
    "Step",
    "TestRelay",
    "crash",
    "fail",
    "hang",
    "reject",
]
