"""Here `relay` is what users get: the fixture of the plugin, not the real relay of the other tests."""

from handfast.pytest_plugin import relay

__all__ = ["relay"]
