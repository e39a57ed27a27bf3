"""Pure work on specs, done once for those that are alike.

Controllers and tests write hundreds of objects that differ in their names only. What is
worked out from a spec alone is the same for all of them.
Promises: the same answer as without remembering; a bounded number of specs is kept, none
of them large.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

import msgspec

from ..storage.store import encoded

__all__ = ["remembered", "remembered_good"]

_KEPT: Final = 512  # specs for each function
_SIZE: Final = 16 * 1024  # bytes of the largest that is remembered

Spec: TypeAlias = Any  # a JSON object that nobody changes in place


def remembered(change: Callable[[Spec], Spec]) -> Callable[[Spec], Spec]:
    """`change`, which is pure, with its latest answers remembered."""

    @functools.lru_cache(_KEPT)
    def answer(text: bytes) -> Spec:
        return change(msgspec.json.decode(text))

    @functools.wraps(change)
    def call(spec: Spec) -> Spec:
        text = encoded(spec)
        return answer(text) if len(text) <= _SIZE else change(spec)

    return call


def remembered_good(
    check: Callable[[Spec, str], Iterator[Any]],
) -> Callable[[Spec, str], Iterator[Any]]:
    """`check`, which is pure and finds nothing wrong with most, asked once for those."""

    @functools.lru_cache(_KEPT)
    def is_good(text: bytes) -> bool:
        return not any(True for _ in check(msgspec.json.decode(text), ""))

    @functools.wraps(check)
    def call(spec: Spec, path: str) -> Iterator[Any]:
        text = encoded(spec)
        if len(text) > _SIZE or not is_good(text):
            yield from check(spec, path)

    return call
