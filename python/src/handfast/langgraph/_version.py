"""Looked at before anything of LangGraph is imported: with another version the rest would fail in ways that nobody
understands."""

from __future__ import annotations

from .._adapters import check_framework

check_framework("handfast.langgraph", "langgraph", least="1.2.0", below="2.0.0", extra="langgraph")
