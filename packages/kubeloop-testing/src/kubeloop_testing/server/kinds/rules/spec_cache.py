"""Caches of pure functions of specs.

Controllers and tests create hundreds of objects that differ only in their names. The result of a
function of the spec is the same for all of them.
Guarantees: the same result as without a cache; the number and size of cached specs is bounded.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

import msgspec

from ...values.shared_specs import MAX_SIZE, share, text_of

__all__ = ["cached_by_content", "cached_if_valid"]

_MAX_ENTRIES: Final = 512  # for each function
_Spec: TypeAlias = Any  # a JSON object that is never changed in place


def cached_by_content(change: Callable[[_Spec], _Spec]) -> Callable[[_Spec], _Spec]:
    """A pure function `change` with a cache of its results."""

    @functools.lru_cache(_MAX_ENTRIES)
    def cached(text: bytes) -> _Spec:
        return _with_shared_spec(change(msgspec.json.decode(text)))

    @functools.wraps(change)
    def call(spec: _Spec) -> _Spec:
        text = _text_of(spec)
        return cached(text) if len(text) <= MAX_SIZE else change(spec)

    return call


def cached_if_valid(
    check: Callable[[_Spec, str], Iterator[Any]],
) -> Callable[[_Spec, str], Iterator[Any]]:
    """A pure function `check` that is not called again for specs it found valid."""

    # Invalid specs are checked again, because their causes depend on the path.
    @functools.lru_cache(_MAX_ENTRIES)
    def is_valid(text: bytes) -> bool:
        return not any(True for _ in check(msgspec.json.decode(text), ""))

    @functools.wraps(check)
    def call(spec: _Spec, path: str) -> Iterator[Any]:
        text = text_of(spec)
        if len(text) > MAX_SIZE or not is_valid(text):
            yield from check(spec, path)

    return call


def _text_of(value: _Spec) -> bytes:
    """The text of a spec, or of an object that has nothing but a spec."""
    if len(value) == 1 and "spec" in value:
        return b'{"spec":%b}' % text_of(value["spec"])
    return text_of(value)


def _with_shared_spec(value: _Spec) -> _Spec:
    # The next function of the spec, and its encoding, find it by its identity.
    if isinstance(value.get("spec"), dict):
        return {**value, "spec": share(value["spec"])}
    return share(value)
