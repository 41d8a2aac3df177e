"""The relay's URL as documents and credentials name it: one of its own public ones, so that nothing signed for it works
anywhere else. On one machine localhost and 127.0.0.1 are the same relay."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import SplitResult, urlsplit

from ..errors import UsageError

_PORTS = {"http": 80, "https": 443}
_LOOPBACK = re.compile(r"127(\.\d+){3}")


def public_url(configured: str, public_urls: Sequence[str]) -> str:
    for url in public_urls:
        if normal_url(url) == normal_url(configured):
            return url
    for url in public_urls:
        if _are_loopback(configured, url):
            return url
    theirs = " or ".join(public_urls)
    raise UsageError(
        f"The relay at {configured} calls itself {theirs}: what is signed for the one is not taken by the other.",
        f"Set url (HANDFAST_URL) to {theirs}, or let the relay's operator add {normal_url(configured)} to public_urls.",
        "wrong_audience",
    )


def normal_url(text: str) -> str:
    """One spelling per URL: host in lower case, no default port, no slash at the end. What is no URL stays as it is."""
    parts = split_url(text)
    if parts is None or parts.hostname is None:
        return text
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    port = "" if parts.port in (None, _PORTS.get(parts.scheme)) else f":{parts.port}"
    return f"{parts.scheme}://{host}{port}{parts.path}".rstrip("/")


def split_url(text: str) -> SplitResult | None:
    """None where it is no URL."""
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return None
    return parts if parts.scheme and parts.netloc else None


def _are_loopback(one: str, other: str) -> bool:
    left, right = split_url(one), split_url(other)
    if left is None or right is None or not (is_loopback(left.hostname) and is_loopback(right.hostname)):
        return False
    return (left.port or _PORTS.get(left.scheme)) == (right.port or _PORTS.get(right.scheme))


def is_loopback(host: str | None) -> bool:
    if host is None:
        return False
    return host in ("localhost", "::1") or _LOOPBACK.fullmatch(host) is not None or host.endswith(".localhost")
