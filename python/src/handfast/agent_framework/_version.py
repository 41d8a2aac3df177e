"""Looked at before anything else: with another version the rest would fail in ways that nobody understands."""

from .._adapters import check_framework

check_framework(
    "handfast.agent_framework", "agent-framework-core", least="1.23.0", below="2.0.0", extra="agent-framework"
)
