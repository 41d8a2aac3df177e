"""The Merkle tree of RFC 6962 over digests already made: node SHA256(01 ‖ left ‖ right)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def merkle_node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


def merkle_tree(leaves: Sequence[bytes]) -> tuple[bytes, list[list[bytes]]]:
    """The root, and for each leaf its path: the siblings from the bottom up.

    Pairs up from the leaves; a last one without a partner rises as it is, which gives the shape of RFC 6962.
    """
    if not leaves:
        raise ValueError("A Merkle tree needs at least one leaf.")
    level = list(leaves)
    paths: list[list[bytes]] = [[] for _ in leaves]
    places = list(range(len(leaves)))
    while len(level) > 1:
        for leaf, place in enumerate(places):
            sibling = place ^ 1
            if sibling < len(level):
                paths[leaf].append(level[sibling])
            places[leaf] = place // 2
        pairs = (level[at : at + 2] for at in range(0, len(level), 2))
        level = [merkle_node(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return level[0], paths


def merkle_root_from_path(leaf: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes | None:
    """The root that a leaf and its path lead to; None when index, size and path do not belong together."""
    if not 0 <= index < size or any(len(sibling) != 32 for sibling in path):
        return None
    siblings = iter(path)
    root, at, last = leaf, index, size - 1
    while last > 0:
        is_right = at % 2 == 1
        if is_right or at < last:
            sibling = next(siblings, None)
            if sibling is None:
                return None
            root = merkle_node(sibling, root) if is_right else merkle_node(root, sibling)
        at //= 2
        last //= 2
    return root if next(siblings, None) is None else None
