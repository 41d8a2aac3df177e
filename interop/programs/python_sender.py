"""A sender on the Python SDK alone."""

import asyncio

from harness import Sender

asyncio.run(Sender().run())
