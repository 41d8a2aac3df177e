"""Looked at before anything else: with another version the rest would fail in ways that nobody understands."""

from .._adapters import check_framework

for _package in ("autogen-core", "autogen-agentchat"):
    check_framework("handfast.autogen", _package, least="0.7.0", below="0.8.0", extra="autogen")
