"""Connecting: settings, keys, tokens, and what is said when it does not go."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import stat
import traceback
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from relay_process import ROOT, RelayProcess

import handfast
from handfast import AsyncClient, Client, HandoffError, RelayUnreachable, UsageError, connect

Agent = Callable[..., Any]


async def test_a_development_key_is_made_once_and_the_typescript_client_has_the_same(
    relay: RelayProcess, name: Callable[[str], str], tmp_path: Path
) -> None:
    agent = name("dev")
    async with connect(url=relay.url, agent=agent, home=tmp_path) as hf:
        thumbprint = hf.key
    path = tmp_path / "keys" / f"{agent}.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(json.loads(path.read_text())) == ["kty", "crv", "x", "d"]
    async with connect(url=relay.url, agent=agent, home=str(tmp_path)) as again:
        assert again.key == thumbprint
    script = f"""
      import {{ connect }} from "./packages/client/src/mod.ts";
      const hf = await connect({{ url: "{relay.url}", agent: "{agent}", home: "{tmp_path}", transport: "http" }});
      console.log(hf.key);
      await hf.close();
    """
    node = ROOT / "node_modules" / ".bin" / "node"
    process = await asyncio.create_subprocess_exec(
        str(node), "--input-type=module-typescript", "--eval", script, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    assert out.decode().strip() == thumbprint


async def test_settings_come_from_the_environment_and_options_go_before(
    relay: RelayProcess, name: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANDFAST_URL", relay.url)
    monkeypatch.setenv("HANDFAST_AGENT", name("env"))
    monkeypatch.setenv("HANDFAST_NAMESPACE", "default")
    async with AsyncClient.connect() as hf:
        assert (hf.url, hf.agent) == (relay.url, os.environ["HANDFAST_AGENT"])
    mine = name("option")
    hf = await connect(agent=mine)
    assert hf.agent == mine
    assert repr(hf) == f"<AsyncClient {mine} at {relay.url}>"
    await hf.close()
    monkeypatch.setenv("HANDFAST_NAMESPACE", "elsewhere")
    with pytest.raises(UsageError) as caught:
        await connect()
    assert caught.value.reason == "wrong_namespace"


@pytest.mark.parametrize(
    ("options", "reason", "said"),
    [
        ({"url": "nonsense"}, "usage", "'nonsense' is not the URL of a relay"),
        ({"url": "ftp://relay.example"}, "usage", "is not the URL of a relay"),
        ({"url": "http://user:secret@relay.example"}, "usage", "is not the URL of a relay"),
        ({"url": "http://relay.example?x=1"}, "usage", "is not the URL of a relay"),
        ({"agent": "no name"}, "usage", "'no name' is not a name for an agent"),
        ({"key": "/no/such/key.json"}, "key_unusable", "There is no key file /no/such/key.json"),
        ({"key": "{"}, "key_unusable", "The key given is not JSON"),
        ({"key": {"kty": "OKP", "crv": "Ed25519", "x": "A"}}, "key_unusable", "it has no d"),
        ({"key": {"kty": "RSA"}}, "key_unusable", "is not an Ed25519 key"),
        (
            {"key": {"kty": "OKP", "crv": "Ed25519", "x": "A" * 43, "d": "A" * 43}},
            "key_unusable",
            "do not belong together",
        ),
        ({"patience": "soon"}, "usage", "patience is 'soon', which is not a duration"),
        ({"urll": "x"}, "usage", "There is no option 'urll' of connecting"),
    ],
)
async def test_wrong_settings_are_named_before_anything_is_sent(options: Any, reason: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        await connect(**options)
    assert caught.value.reason == reason
    assert said in caught.value.message
    assert caught.value.remedy
    assert not caught.value.retryable


async def test_a_key_that_others_may_read_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "key.json"
    path.write_text("{}")
    path.chmod(0o644)
    with pytest.raises(UsageError) as caught:
        await connect(key=str(path))
    assert caught.value.reason == "key_open_to_others"
    assert "mode 0644" in caught.value.message


async def test_a_home_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("in the way")
    with pytest.raises(UsageError) as caught:
        await connect(home=tmp_path, agent="x")
    assert caught.value.reason in ("key_unwritable", "key_unusable")


def closed_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


async def test_where_nothing_listens_the_relay_is_unreachable(name: Callable[[str], str]) -> None:
    url = f"http://127.0.0.1:{closed_port()}"
    with pytest.raises(RelayUnreachable) as caught:
        await connect(url=url, agent=name("lost"), connect_patience="200ms")
    assert caught.value.url == url
    assert caught.value.retryable
    assert f"No relay answered at {url} for 0.2 s (" in caught.value.message
    assert "handfast start" in caught.value.remedy
    assert caught.value.docs == "npx handfast explain relay_unreachable"


def test_where_no_relay_is_there_the_traceback_is_short_and_says_how_to_start_one(name: Callable[[str], str]) -> None:
    with pytest.raises(ConnectionError) as caught:
        Client(url=f"http://127.0.0.1:{closed_port()}", agent=name("lost"), connect_patience=0.2)
    assert isinstance(caught.value, RelayUnreachable)
    told = "".join(traceback.format_exception(caught.value))
    assert "npx handfast start" in told
    assert len(told.splitlines()) < 20, told


class Stranger(BaseHTTPRequestHandler):
    answer = (200, "text/html", b"<h1>hello</h1>")

    def do_GET(self) -> None:
        status, kind, body = self.answer
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def stranger() -> Iterator[Callable[[int, str, bytes], str]]:
    """Something else that listens: a web server with one answer."""
    servers: list[ThreadingHTTPServer] = []

    def start(status: int, kind: str, body: bytes) -> str:
        handler = type("Handler", (Stranger,), {"answer": (status, kind, body)})
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        servers.append(server)
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    ("status", "kind", "body", "reason"),
    [
        (200, "text/html", b"<h1>hello</h1>", "not_a_relay"),
        (404, "text/html", b"not here", "not_a_relay"),
        (302, "text/html", b"", "not_a_relay"),
        (200, "application/json", b"[]", "not_a_relay"),
        (200, "application/json", b'{"protocol":"other"}', "not_a_relay"),
        (200, "application/json", b'{"protocol":"handfast","versions":["v9"]}', "version"),
        (503, "text/html", b"bad gateway", "relay_unreachable"),
    ],
)
async def test_what_is_not_a_relay_is_told_as_such(
    stranger: Callable[..., str], status: int, kind: str, body: bytes, reason: str
) -> None:
    with pytest.raises(handfast.HandfastError) as caught:
        await connect(url=stranger(status, kind, body), agent="x", connect_patience=0.1)
    assert caught.value.reason == reason


@pytest.mark.parametrize("path", ["/v1", "/foo/", "/v1/connect"])
async def test_an_address_behind_the_relays_own_is_told_by_its_own(relay: RelayProcess, path: str) -> None:
    with pytest.raises(UsageError) as caught:
        await connect(url=relay.url + path, agent="x")
    assert caught.value.reason == "not_a_relay"
    assert f"{relay.url}{path.rstrip('/')}, but" in str(caught.value)
    assert f"without a path: {relay.url}." in caught.value.remedy


async def test_a_token_stands_for_its_agent(relay: RelayProcess, agent: Agent, name: Callable[[str], str]) -> None:
    owner = await agent("owner")
    made = await owner.call("create_token", body={"agent": owner.agent})
    async with connect(url=relay.url, token=made["token"]) as bearer:
        assert (bearer.agent, bearer.key) == (owner.agent, None)
    with pytest.raises(UsageError) as caught:
        await connect(url=relay.url, token=made["token"], agent=name("other"))
    assert caught.value.reason == "wrong_token"
    with pytest.raises(HandoffError) as refused:
        await connect(url=relay.url, token="hft_wrong")
    assert (refused.value.code, refused.value.reason) == (401, "unknown_token")
    assert "HANDFAST_TOKEN" in refused.value.remedy


async def test_a_name_that_belongs_to_another_key_says_what_to_do(agent: Agent, tmp_path: Path) -> None:
    first = await agent("taken")
    with pytest.raises(HandoffError) as caught:
        await agent(agent=first.agent, home=tmp_path)
    assert caught.value.reason == "name_taken"
    assert "HANDFAST_KEY" in caught.value.remedy
    assert caught.value.name == "not_allowed"


async def test_localhost_and_127_0_0_1_are_one_relay(relay: RelayProcess, agent: Agent) -> None:
    hf = await agent(url=relay.url.replace("127.0.0.1", "localhost"))
    assert (await hf.call("agent", params={"name": hf.agent}))["name"] == hf.agent


async def test_an_operation_that_does_not_exist_or_lacks_its_place_is_a_usage_error(agent: Agent) -> None:
    hf = await agent()
    with pytest.raises(UsageError, match="There is no operation 'submitt'"):
        await hf.call("submitt")
    with pytest.raises(UsageError, match="lacks its id"):
        await hf.call("get")
    with pytest.raises(UsageError, match="cannot be written as JSON"):
        await hf.call("submit", body={"input": object()})
    assert (await hf.call("agents", query={"limit": 1}))["agents"]
    assert "handfast_" in await hf.call("metrics")


async def test_an_async_client_made_by_hand_is_told_how_it_is_made() -> None:
    with pytest.raises(UsageError, match="that has to be awaited") as told:
        AsyncClient(agent="planner")
    assert "async with handfast.connect(" in told.value.remedy
