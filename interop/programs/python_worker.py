"""A worker on the Python SDK alone."""

import asyncio

from harness import Worker

asyncio.run(Worker().run())
