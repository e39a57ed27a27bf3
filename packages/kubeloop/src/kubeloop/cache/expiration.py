"""A store whose objects expire: client-go's ExpirationCache and its TTL store.

Guarantees: an expired object is never returned. It is removed when it is read, not before, so
`keys` may still contain it. Adding an object again renews it.
Threads: any; a lock guards each call, because a read may remove.
See also: `indexer` (a store whose objects do not expire).
"""

from __future__ import annotations

import builtins
import threading
from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeAlias, TypeVar, final

import msgspec

from kubeloop.kit import Clock, SystemClock

from .entry import call_key_function

__all__ = ["ExpirationCache", "ExpirationCacheStats", "ExpirationPolicy", "older_than"]

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

# Whether an object of that age, in seconds, is expired.
ExpirationPolicy: TypeAlias = Callable[[T, float], bool]


def older_than(ttl: float) -> ExpirationPolicy[object]:
    """Objects expire after `ttl` seconds; never if that is zero or less."""
    return lambda _, age: 0 < ttl < age


class ExpirationCacheStats(msgspec.Struct, frozen=True):
    """What an expiration cache holds, and what it removed."""

    objects: int  # including expired ones that were not read since
    expired: int


@final
class ExpirationCache(Generic[K, T]):
    """Objects by the key that `key` returns, until `expired` returns true for them.

    ```python
    recent = ExpirationCache(ObjectKey.of, expired=older_than(60))
    ```

    If the key function raises, `add`, `update`, `delete` and `replace` raise `UnkeyedObject`, and
    the cache does not change.
    """

    def __init__(
        self,
        key: Callable[[T], K],
        *,
        expired: ExpirationPolicy[T],
        clock: Clock | None = None,
    ) -> None:
        self._key = key
        self._is_expired = expired
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._objects: dict[K, tuple[T, float]] = {}  # and when it was added
        self._expired = 0

    def __len__(self) -> int:
        return len(self._objects)

    def add(self, value: T) -> None:
        """Store an object; it replaces the one with its key."""
        with self._lock:
            self._objects[self._key_of(value)] = (value, self._clock.now())

    update = add

    def delete(self, value: T) -> None:
        """Remove an object; not an error if there is none."""
        with self._lock:
            self._objects.pop(self._key_of(value), None)

    def get(self, key: K) -> T | None:
        """The object of that key, unless it is expired."""
        with self._lock:
            return self._get(key)

    def list(self) -> builtins.list[T]:
        """All objects that are not expired."""
        with self._lock:
            found = [self._get(key) for key in builtins.list(self._objects)]
            return [value for value in found if value is not None]

    def keys(self) -> builtins.list[K]:
        """All keys, also of expired objects that were not read since."""
        with self._lock:
            return builtins.list(self._objects)

    def replace(self, values: Iterable[T], version: str = "") -> None:  # noqa: ARG002
        """Store exactly these, all added now."""
        now = self._clock.now()
        objects = {self._key_of(each): (each, now) for each in values}
        with self._lock:
            self._objects = objects

    def resync(self) -> None:
        """Does nothing: only delta queues resync."""

    def stats(self) -> ExpirationCacheStats:
        return ExpirationCacheStats(objects=len(self._objects), expired=self._expired)

    def _key_of(self, value: T) -> K:
        return call_key_function(self._key, value)

    def _get(self, key: K) -> T | None:
        found = self._objects.get(key)
        if found is None:
            return None
        value, added = found
        if not self._is_expired(value, self._clock.now() - added):
            return value
        del self._objects[key]
        self._expired += 1
        return None
