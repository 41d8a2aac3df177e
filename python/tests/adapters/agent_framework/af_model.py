"""A model that says what it is told to, for agents of Microsoft Agent Framework."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from agent_framework import (
    BaseChatClient,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    Message,
    ResponseStream,
)

Said = Any
"""Text, or a call: ``("tool", {"argument": 1})``."""


class ScriptedClient(FunctionInvocationLayer[Any], BaseChatClient[Any]):
    """Says one thing after the other, and keeps what it was asked."""

    def __init__(self, *script: Said) -> None:
        super().__init__()
        self._script = list(script)
        self.asked: list[list[Message]] = []
        self.tools: list[Any] = []

    def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Mapping[str, Any], **kwargs: Any
    ) -> Any:
        self.asked.append(list(messages))
        self.tools = list(options.get("tools") or [])
        said = self._script.pop(0)
        contents = (
            [Content.from_text(said)]
            if isinstance(said, str)
            else [Content.from_function_call(f"call-{len(self.asked)}", said[0], arguments=said[1])]
        )

        async def whole() -> ChatResponse[Any]:
            return ChatResponse(messages=[Message("assistant", contents)])

        async def parts() -> AsyncIterator[ChatResponseUpdate]:
            for content in contents:
                yield ChatResponseUpdate(role="assistant", contents=[content])

        return ResponseStream(parts(), finalizer=ChatResponse.from_updates) if stream else whole()
