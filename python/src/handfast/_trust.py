"""What others signed, checked here and not by the relay.

A signature must be by a key of the author that was not revoked, and the document must be the one at hand and be for
this relay and namespace; the payload must be the one that it was signed over. The first identity seen under a name is
pinned for as long as the client lives; pins given by the user are stricter and name the keys.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ._identity.public_url import normal_url
from ._link import Link
from ._payload import fits, from_base64, open_payload, payload_of
from ._protocol.documents import DocumentFault, read_document
from ._protocol.keys import KeyFault, PublicKey, parse_public_key
from ._protocol.signing import SignedRoot, document_digest, open_proof, verify_signed_root
from ._signed_lease import REDRIVEN_EXT, lease_differences, redrive_differences
from ._surroundings import Surroundings
from .errors import HandoffError

Pins = Mapping[str, "str | Sequence[str]"]
"""Which keys an agent may sign with: thumbprints by its name."""

_KEYS_LIFE_MS = 60_000
"""How long an agent's keys are taken as they were read: a key that was revoked since is noticed after this."""
_REMEMBERED_MOST = 4_096


@dataclass(frozen=True)
class Checked:
    """A handoff's input, and what vouches for it."""

    input: Any
    text: str | None
    """The input, where it is text."""
    evidence: Literal["signed", "attested"]
    """``signed``: the sender's own signature was checked. ``attested``: the relay's word."""


class Trust:
    """Of one client. Of one event loop."""

    def __init__(
        self,
        link: Link,
        surroundings: Surroundings,
        *,
        relays: Sequence[str],
        namespace: str,
        pins: Pins,
        require_signed: bool,
    ) -> None:
        """`relays`: every public URL of the relay."""
        self._link = link
        self._surroundings = surroundings
        self._relays = {normal_url(relay) for relay in relays}
        self._namespace = namespace
        self._pins = {name: [keys] if isinstance(keys, str) else list(keys) for name, keys in pins.items()}
        self._require_signed = require_signed
        self._agents: dict[str, tuple[Any, int]] = {}
        self._reads: dict[str, asyncio.Task[Any]] = {}
        self._pinned: dict[str, str] = {}
        # Whose signature was found right: these go on signing.
        self._signers: set[str] = set()
        # One check for all that one signature covers.
        self._roots: dict[SignedRoot, bool] = {}

    async def check_lease(self, lease: dict[str, Any]) -> Checked:
        """The input of a lease that was claimed with proofs. Raises HandoffError (401) saying what is wrong."""
        signed = lease.get("signed")
        if signed is None or signed["proof"] is None:
            return await self._attested(lease)
        data = signed["document"].encode("utf-8", "replace")
        document = self._document(lease, data)
        author = document["from"]
        await self.check_signature(lease, "handoff", author, data, signed["proof"])
        # Whoever redrives signs for itself: that is no signature by a sender whose key is pinned.
        if author != lease["from"] and lease["from"] in self._pins and author not in self._pins:
            raise untrusted(lease, "unsigned", f"{author} redrove it, and it is not signed by {lease['from']}")
        return self._input(lease, document, signed, "signed")

    def check_unsigned(self, about: Mapping[str, Any], author: str, what: str) -> None:
        """That an act of this author may go without a signature; `about` is the handoff: its ``id`` and ``from``.

        It may not where everything must be signed, where the author's key is pinned, and where the author has signed
        before: leaving a signature out must not be enough to be believed.
        """
        if self._require_signed:
            raise untrusted(about, "unsigned", f"{what} is not signed by {author}, and this client takes only what is")
        if author in self._pins:
            raise untrusted(about, "unsigned", f"{what} is not signed by {author}, whose key is pinned")
        if author in self._signers:
            raise untrusted(about, "no_longer_signed", f"{what} is not signed by {author}, who has signed until now")

    def expects_signature(self, author: str) -> bool:
        """Whether an act of this author would have to be signed."""
        return self._require_signed or author in self._pins or author in self._signers

    async def check_signature(self, about: Mapping[str, Any], typ: str, author: str, data: bytes, proof: Any) -> None:
        """That the author signed this document of a handoff's life, of this typ. Raises HandoffError (401) if not."""
        root = open_proof(typ, data, proof)
        if root is None:
            raise untrusted(about, "bad_proof", "its proof does not lead to a signature")
        key = await self._key(about, author, root.key)
        if not self._verify(key, root):
            raise untrusted(about, "bad_signature", f"its signature is not by {author}'s key {root.key}")
        self._signers.add(author)

    def _verify(self, key: PublicKey, root: SignedRoot) -> bool:
        known = self._roots.get(root)
        if known is None:
            if len(self._roots) >= _REMEMBERED_MOST:
                self._roots.clear()
            known = self._roots[root] = verify_signed_root(key, root)
        return known

    def _input(
        self,
        lease: dict[str, Any],
        document: dict[str, Any],
        signed: dict[str, Any],
        evidence: Literal["signed", "attested"],
    ) -> Checked:
        data = payload_of(signed)
        digest = document["input"]
        if data is None or not fits(digest, data):
            raise untrusted(lease, "payload_differs", "its input is not the one that was signed")
        opened = open_payload(data, digest["media_type"])
        if opened is None:
            raise untrusted(lease, "payload_malformed", f"its input is not {digest['media_type']}, as it says")
        return Checked(opened.input, opened.text, evidence)

    async def _attested(self, lease: dict[str, Any]) -> Checked:
        sender = lease["from"]
        if lease["evidence"] == "signed":
            raise untrusted(lease, "proof_missing", "the relay calls it signed, and does not show the signature")
        redriven = await self._redriven(lease) if sender in self._signers else None
        if redriven is not None:
            return redriven
        self.check_unsigned(lease, sender, "it")
        if "text" in lease:
            return Checked(lease["text"], lease["text"], "attested")
        if "base64" in lease:
            return Checked(from_base64(lease["base64"]), None, "attested")
        return Checked(lease.get("input"), None, "attested")

    async def _redriven(self, lease: dict[str, Any]) -> Checked | None:
        """An unedited redrive is the relay's own document around the one that the sender signed; None: it is none.

        Its input and terms are proven, that it is to be done again is the relay's word.
        """
        carried = lease.get("ext", {}).get(REDRIVEN_EXT)
        signed = lease.get("signed")
        is_strict = self._require_signed or lease["from"] in self._pins
        if is_strict or signed is None or not _is_signed(carried):
            return None
        envelope = _handoff_in(lease, signed["document"].encode("utf-8", "replace"))
        data = carried["document"].encode("utf-8", "replace")
        original = _handoff_in(lease, data)
        differs = redrive_differences(lease, envelope.get("redrive_of", ""), original) + self.elsewhere(original)
        if differs:
            raise _binds_another(lease, differs)
        await self.check_signature(lease, "handoff", original["from"], data, carried["proof"])
        return self._input(lease, original, signed, "attested")

    def _document(self, lease: dict[str, Any], data: bytes) -> dict[str, Any]:
        """The signed document, once it is shown to be the very one that the lease speaks of."""
        document = _handoff_in(lease, data)
        differs = lease_differences(lease, document)
        if document_digest("handoff", data) != lease["digest"]:
            differs.append("digest")
        differs += self.elsewhere(document)
        if differs:
            raise _binds_another(lease, differs)
        return document

    def elsewhere(self, document: Mapping[str, Any]) -> list[str]:
        """What is signed for another relay or namespace counts for nothing here."""
        is_here = normal_url(document["relay"]) in self._relays
        is_ours = document["namespace"] == self._namespace
        return [*([] if is_here else ["relay"]), *([] if is_ours else ["namespace"])]

    async def _key(self, about: Mapping[str, Any], author: str, thumbprint: str) -> PublicKey:
        """The author's key by this name, if the author is who it was before and the key was not revoked."""
        self._check_pins(about, author, thumbprint)
        view = await self._read(about, author)
        if all(key["thumbprint"] != thumbprint for key in view["keys"]):
            # It may have been added since the last look.
            view = await self._read(about, author, anew=True)
        self._check_identity(about, view)
        shown = next((key for key in view["keys"] if key["thumbprint"] == thumbprint), None)
        if shown is None:
            raise untrusted(about, "unknown_key", f"it is signed with {thumbprint}, which is no key of {author}")
        if shown["revoked_at"] is not None:
            raise untrusted(about, "revoked_key", f"it is signed with {author}'s key {thumbprint}, which was revoked")
        try:
            key = parse_public_key({"kty": "OKP", "crv": "Ed25519", "x": shown["x"]})
        except KeyFault:
            key = None
        if key is None or key.thumbprint != thumbprint:
            raise untrusted(about, "unknown_key", f"the relay shows another key under the name {thumbprint}")
        return key

    def _check_pins(self, about: Mapping[str, Any], author: str, thumbprint: str) -> None:
        pins = self._pins.get(author)
        if pins is None or thumbprint in pins:
            return
        message = f"it is signed with {thumbprint}, but {author} is pinned to {' or '.join(pins)}"
        raise untrusted(about, "not_pinned", message)

    def _check_identity(self, about: Mapping[str, Any], view: dict[str, Any]) -> None:
        name, identity = view["name"], view["identity"]
        if identity is None:
            raise untrusted(about, "unknown_key", f"the relay shows no key of {name}")
        pinned = self._pinned.setdefault(name, identity)
        if pinned != identity:
            raise untrusted(about, "identity_changed", f"{name} was {pinned} before, and is {identity} now")

    async def _read(self, about: Mapping[str, Any], name: str, anew: bool = False) -> Any:
        known = self._agents.get(name)
        if known is not None and not anew and known[1] > self._surroundings.now():
            return known[0]
        read = self._reads.get(name)
        if read is None:
            # One answer for all who ask at once.
            read = self._reads[name] = asyncio.ensure_future(self._link.call("agent", params={"name": name}))
            read.add_done_callback(lambda done: self._learn(name, done))
        try:
            return await asyncio.shield(read)
        except HandoffError as error:
            if error.code != 404:
                raise
            what = f"the relay knows no agent {name} whose key could be checked"
            raise untrusted(about, "unknown_agent", what) from error

    def _learn(self, name: str, read: asyncio.Task[Any]) -> None:
        self._reads.pop(name, None)
        if read.cancelled() or read.exception() is not None:
            return
        if len(self._agents) >= _REMEMBERED_MOST:
            self._agents.clear()
        self._agents[name] = (read.result(), self._surroundings.now() + _KEYS_LIFE_MS)


def _handoff_in(about: Mapping[str, Any], data: bytes) -> dict[str, Any]:
    try:
        return read_document("handoff", data)
    except DocumentFault as fault:
        raise untrusted(about, "document_malformed", f"its document is malformed: {fault}") from None


def _is_signed(value: Any) -> bool:
    """Whether an extension holds a document and a proof; that they are sound is checked with the signature."""
    return isinstance(value, dict) and isinstance(value.get("document"), str) and isinstance(value.get("proof"), dict)


def _remedies(who: str) -> dict[str, str]:
    return {
        "unsigned": (
            f"Let the {who} connect with a key; or take what is attested too (require_signed=False, and no pin for it)."
        ),
        "no_longer_signed": (
            f"Let the {who} connect with its key again, or sign the redrive; if it is to do without one, restart this "
            "client. Else somebody pretends to be it."
        ),
        "not_pinned": (
            f"If the {who} has changed its key, pin the new one (option pins); else somebody pretends to be it."
        ),
        "identity_changed": (
            f"If the {who} was set up anew, restart this client, or pin its new key (option pins); "
            "else somebody pretends to be it."
        ),
        "revoked_key": f"Let the {who} sign it again with its newer key.",
    }


def _binds_another(about: Mapping[str, Any], differs: list[str]) -> HandoffError:
    # All else being the same, two nodes of one relay were most often given different names.
    nodes = "; all nodes on one database need the same --public-url" if differs == ["relay"] else ""
    return untrusted(about, "binds_another", f"what its sender signed has another {', '.join(differs)}{nodes}")


def untrusted(about: Mapping[str, Any], reason: str, what: str) -> HandoffError:
    """`about`: the handoff that a document belongs to, or with ``"what": "offer"`` the offer; its ``id`` and
    ``from``."""
    thing = about.get("what", "handoff")
    who = "sender" if thing == "handoff" else "provider"
    otherwise = f"Do not act on it: what the relay shows is not what its {who} signed. Tell the relay's operator."
    return HandoffError(
        f"The {thing} {about['id']} from {about['from']} is not trusted: {what}.",
        code=401,
        reason=reason,
        remedy=_remedies(who).get(reason, otherwise),
        retryable=False,
        handoff=about["id"] if thing == "handoff" else None,
    )
