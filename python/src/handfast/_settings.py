"""What connecting goes by: options over the environment over defaults."""

from __future__ import annotations

import getpass
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from typing_extensions import TypedDict

from ._base import ClientWarning
from ._duration import Duration, to_seconds
from ._identity.agent_key import AgentKey, PrivateJwk, key_of, read_secret, refused
from ._identity.key_files import development_key_path, read_key_file, write_key_file
from ._identity.manifest import Terms, read_terms
from ._identity.public_url import normal_url, split_url
from ._protocol.ids import is_name
from ._surroundings import Surroundings
from ._trust import Pins
from ._wire_json import plain_text
from .errors import UsageError

_URL = "http://127.0.0.1:7420"
_PATIENCE = 30.0
_CONNECT_PATIENCE = 10.0
"""A relay on this machine is there at once or not at all; one that is just starting is waited for."""
_SEED_BYTES = 32


class ConnectOptions(TypedDict, total=False):
    """Everything is optional: without options the environment decides, and then a relay on this machine."""

    url: str | None
    """Where the relay is. Else ``HANDFAST_URL``, else ``http://127.0.0.1:7420``."""
    agent: str | None
    """The agent's name. Else ``HANDFAST_AGENT``, else the user's name."""
    key: str | PrivateJwk | None
    """A private key: the path of a file, a JWK, or 32 bytes in base64url. Else ``HANDFAST_KEY``, else a
    development key."""
    token: str | None
    """Stands for an agent that cannot sign; beside a key it only admits that key. Else ``HANDFAST_TOKEN``."""
    namespace: str | None
    """Must be the relay's. Else ``HANDFAST_NAMESPACE``, else whatever the relay's is."""
    home: str | os.PathLike[str] | None
    """Where development keys are kept. Else ``HANDFAST_HOME``, else ``~/.handfast``."""
    admission: str | None
    """An operator's token. It stands for nobody: it admits this agent's own key to a relay that does not take every new
    one, and goes before `token`."""
    discovery_endpoint: str | None
    """Where else this agent can be looked up; it stands in its manifest. Default: its page on the relay."""
    lease: Duration | None
    """How long the agent stays registered without a sign of life, from 10 seconds on. Default: the relay's, a day."""
    manifest_version: int | None
    """Counts the agent's manifests: the relay refuses one that is older than what it has, or says something else under
    the same number. So everything is served in one call then. Default: they are not counted."""
    patience: Duration
    """How long calls go on trying while the relay is away. Default: 30 seconds."""
    connect_patience: Duration
    """How long connecting itself goes on trying. Default: `patience` where that is given, else 10 seconds."""
    pins: Pins
    """Thumbprints of the keys that agents may sign with, by name: anything else from them is refused."""
    require_signed: bool
    """Take no handoff and no answer but those that their author signed. Default: False.

    Then what was never signed is the relay's word and is taken as such; a signature that is there must be right,
    everything it covers must be as it was signed, and an author that has signed once must go on signing for as long
    as this client lives. So a relay cannot change or strip what it passes on; it can still make up authors that this
    client has not met yet. Pin their keys (`pins`), or require signatures, where that matters."""
    on_warning: Callable[[ClientWarning], None]
    """Told of what a person should know. Default: the logger ``handfast``."""
    on_connection: Callable[[str], None]
    """Told when the relay goes ``away`` while somebody waits for it, and when it is ``back``. Default: a warning that
    it is away."""
    surroundings: Surroundings
    """Time and chance, for tests."""


@dataclass(frozen=True)
class Settings:
    """What connecting goes by."""

    url: str
    agent: str | None
    """None: whoever the token stands for."""
    key: AgentKey | None
    token: str | None
    namespace: str | None
    patience: float
    connect_patience: float
    terms: Terms
    """What the manifest says of the agent itself."""


def read_settings(
    options: ConnectOptions, surroundings: Surroundings, environment: Mapping[str, str] | None = None
) -> Settings:
    for name in options:
        if name not in ConnectOptions.__annotations__:
            known = ", ".join(ConnectOptions.__annotations__)
            raise UsageError(f"There is no option {name!r} of connecting.", f"Use one of {known}.")
    env = os.environ if environment is None else environment

    def given(option: str, variable: str) -> Any:
        value = options.get(option)
        return value if value is not None else env.get(variable) or None

    url = _check_url(given("url", "HANDFAST_URL") or _URL)
    admission = options.get("admission")
    bearer: str | None = given("token", "HANDFAST_TOKEN") if admission is None else None
    named = _check_name(given("agent", "HANDFAST_AGENT"))
    key = given("key", "HANDFAST_KEY")
    agent = named or (None if key is None and bearer is not None else _user_name())
    home = given("home", "HANDFAST_HOME")
    return Settings(
        url=url,
        agent=agent,
        key=_find_key(key, bearer, agent, home, surroundings),
        token=admission or bearer,
        namespace=given("namespace", "HANDFAST_NAMESPACE"),
        patience=to_seconds(options.get("patience", _PATIENCE), "patience"),
        connect_patience=_connect_patience(options),
        terms=read_terms(options.get("manifest_version"), options.get("discovery_endpoint"), options.get("lease")),
    )


def _connect_patience(options: ConnectOptions) -> float:
    if "connect_patience" in options:
        return to_seconds(options["connect_patience"], "connect_patience")
    return to_seconds(options.get("patience", _CONNECT_PATIENCE), "patience")


def _check_url(text: Any) -> str:
    parts = split_url(text) if isinstance(text, str) and not re.search(r"\s", text) else None
    is_plain = parts is not None and not (parts.username or parts.password or parts.query or parts.fragment)
    if parts is None or not is_plain or parts.scheme not in ("http", "https") or not parts.hostname:
        remedy = f"Set url (HANDFAST_URL) to something like {_URL} or https://relay.example."
        raise UsageError(f"{text!r} is not the URL of a relay.", remedy)
    return normal_url(text)


def _check_name(name: Any) -> str | None:
    if name is None or is_name(name):
        return None if name is None else plain_text(name)
    remedy = (
        "Set agent (HANDFAST_AGENT) to 1 to 128 letters, digits, dots, dashes or underscores, a letter or digit first."
    )
    raise UsageError(f"{name!r} is not a name for an agent.", remedy)


def _user_name() -> str:
    name = re.sub(r"^[^A-Za-z0-9]+", "", re.sub(r"[^A-Za-z0-9._-]", "-", _user()))
    return name if is_name(name) and name not in ("operator", "relay") else "developer"


def _user() -> str:
    """As the system's own list of users has it, like the other clients: one person is one agent in every language."""
    try:
        import pwd

        return pwd.getpwuid(os.getuid()).pw_name
    except (ImportError, KeyError):
        # No such list (Windows), or a container where the user has a number and no name.
        pass
    try:
        return getpass.getuser() if os.name == "nt" else ""
    except (OSError, KeyError, ImportError):
        return ""


def _find_key(
    given: Any, token: str | None, agent: str | None, home: Any, surroundings: Surroundings
) -> AgentKey | None:
    """Given, or the development key of this name; none where a token stands for the agent."""
    if given is not None:
        return _given_key(given)
    if token is not None or agent is None:
        return None
    folder = os.path.join(os.path.expanduser("~"), ".handfast") if home is None else os.fspath(home)
    return _development_key(development_key_path(folder, agent), surroundings)


def _given_key(given: Any) -> AgentKey:
    if isinstance(given, os.PathLike):
        given = os.fspath(given)
    key = read_secret(given, "The key given")
    if key is not None:
        return key
    text = read_key_file(given)
    if text is None:
        raise refused(f"There is no key file {given}.")
    return _key_from_file(text, given)


def _development_key(path: str, surroundings: Surroundings) -> AgentKey:
    there = read_key_file(path)
    if there is not None:
        return _key_from_file(there, path)
    made = key_of(surroundings.random_bytes(_SEED_BYTES))
    if write_key_file(path, made):
        return made
    first = read_key_file(path)
    if first is None:
        raise refused(f"The key file {path} came and went while it was being made.")
    return _key_from_file(first, path)


def _key_from_file(text: str, path: str) -> AgentKey:
    key = read_secret(text, f"The key file {path}")
    if key is None:
        raise refused(f"The key file {path} holds neither a JWK nor a seed.")
    return key
