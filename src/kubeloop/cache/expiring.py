"""A store whose objects grow old: client-go's ExpirationCache and its TTL store.

Promises: what is too old is never given; it goes when somebody looks at it, not before, so
`keys` may still name it. Putting an object in again makes it new.
Threads: any; a lock guards each call, since reading may remove.
Elsewhere: a store that keeps all it is given (`indexer`).
"""

from __future__ import annotations

import builtins
import threading
from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeAlias, TypeVar, final

import msgspec

from kubeloop.kit import Clock, SystemClock

from .key_functions import call_key_function

__all__ = ["ExpirationCache", "ExpirationCacheStats", "ExpirationPolicy", "older_than"]

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

# Whether an object of that age, in seconds, is too old.
ExpirationPolicy: TypeAlias = Callable[[T, float], bool]


def older_than(ttl: float) -> ExpirationPolicy[object]:
    """Too old is what is older than `ttl` seconds; nothing is when that is zero or less."""
    return lambda _, age: 0 < ttl < age


class ExpirationCacheStats(msgspec.Struct, frozen=True):
    """What an expiration cache holds, and what it let go."""

    objects: int  # some may be too old, as long as nobody looks
    expired: int


@final
class ExpirationCache(Generic[K, T]):
    """Objects by what `key` says, until `expired` says that they are too old.

    ```python
    recent = ExpirationCache(ObjectKey.of, expired=older_than(60))
    ```

    A key function that raises makes `add`, `update`, `delete` and `replace` raise
    `UnkeyedObject`; the cache stays as it was.
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
        self._held: dict[K, tuple[T, float]] = {}  # and the moment of putting in
        self._expired = 0

    def __len__(self) -> int:
        return len(self._held)

    def add(self, given: T) -> None:
        """Hold an object from now on, in the place of what had its key."""
        with self._lock:
            self._held[self._key_of(given)] = (given, self._clock.now())

    update = add

    def delete(self, given: T) -> None:
        """Hold it no longer. What is not there is no error."""
        with self._lock:
            self._held.pop(self._key_of(given), None)

    def get(self, key: K) -> T | None:
        """The object of that key, if it is not too old."""
        with self._lock:
            return self._fresh(key)

    def list(self) -> builtins.list[T]:
        """Every object that is not too old."""
        with self._lock:
            found = [self._fresh(key) for key in builtins.list(self._held)]
            return [given for given in found if given is not None]

    def keys(self) -> builtins.list[K]:
        """Every key, also of objects that have grown too old since somebody looked."""
        with self._lock:
            return builtins.list(self._held)

    def replace(self, given: Iterable[T], version: str = "") -> None:  # noqa: ARG002
        """Hold exactly these, all of one age."""
        now = self._clock.now()
        held = {self._key_of(each): (each, now) for each in given}
        with self._lock:
            self._held = held

    def resync(self) -> None:
        """Nothing to do: only queues tell things again."""

    def stats(self) -> ExpirationCacheStats:
        return ExpirationCacheStats(objects=len(self._held), expired=self._expired)

    def _key_of(self, given: T) -> K:
        return call_key_function(self._key, given)

    def _fresh(self, key: K) -> T | None:
        found = self._held.get(key)
        if found is None:
            return None
        given, since = found
        if not self._is_expired(given, self._clock.now() - since):
            return given
        del self._held[key]
        self._expired += 1
        return None
