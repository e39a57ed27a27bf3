"""The changes that a handler received, and whether they are consistent."""

from __future__ import annotations

from typing import Any

from kubeloop.cache import Change, ChangeType, Entry
from kubeloop.meta import ObjectKey

Identity = tuple[str, str]  # uid and version


class ChangeHistory:
    """A handler that fails for changes that contradict each other."""

    def __init__(self) -> None:
        self.now: dict[ObjectKey, Identity] = {}
        self.lines: list[str] = []
        self.added: set[str] = set()  # uids

    def __call__(self, change: Change[Any]) -> None:
        old, new = _identity(change.old_entry), _identity(change.new_entry)
        before = self.now.get(change.key)
        self.lines.append(f"{change.type} {change.key.name}")
        match change.type:
            case ChangeType.ADDED:
                assert before is None, f"{change}: added while {before} is not deleted"
                assert new is not None
                assert new[0] not in self.added, f"{change}: {new[0]} is added twice"
                self.added.add(new[0])
            case ChangeType.UPDATED:
                assert old is not None
                assert new is not None
                assert before == old, f"{change}: starts from {old}, expected {before}"
                assert old[0] == new[0], f"{change}: an update from one uid to another"
            case ChangeType.DELETED:
                assert before is not None, f"{change}: never added"
                assert old is not None
                assert before[0] == old[0], f"{change}: another object than {before}"
                assert _identity(change.previous_entry) == before
        if new is None:
            self.now.pop(change.key, None)
        else:
            self.now[change.key] = new


def _identity(entry: Entry | None) -> Identity | None:
    return None if entry is None else (entry.uid, entry.version)


def cached_versions(informer: Any) -> dict[ObjectKey, Identity]:
    """What an informer's cache has, in the form of `ModelServer.state`."""
    return {entry.key: (entry.uid, entry.version) for entry in informer.lister.metadata()}
