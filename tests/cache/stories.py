"""What a handler was told, and whether it makes sense."""

from __future__ import annotations

from typing import Any

from kubeloop.cache import Change, ChangeType, Entry
from kubeloop.machinery import ObjectKey

Identity = tuple[str, str]  # uid and version


class Story:
    """Follows what a handler is told of each object, and refuses what cannot be."""

    def __init__(self) -> None:
        self.now: dict[ObjectKey, Identity] = {}
        self.lines: list[str] = []
        self.ended: set[str] = set()  # uids of which there is nothing more to tell

    def __call__(self, change: Change[Any]) -> None:
        old, new = _identity(change.old_metadata), _identity(change.new_metadata)
        before = self.now.get(change.key)
        self.lines.append(f"{change.type} {change.key.name}")
        match change.type:
            case ChangeType.ADDED:
                assert before is None, f"{change}: added twice"
                assert new is not None
                assert new[0] not in self.ended, f"{change}: {new[0]} is back from the dead"
            case ChangeType.UPDATED:
                assert before == old, f"{change}: starts from {old}, told was {before}"
            case ChangeType.DELETED:
                assert before is not None, f"{change}: never added"
                assert old is not None
                assert before[0] == old[0], f"{change}: another object than {before}"
        if before is not None and (new is None or new[0] != before[0]):
            self.ended.add(before[0])
        if new is None:
            self.now.pop(change.key, None)
        else:
            self.now[change.key] = new


def _identity(entry: Entry | None) -> Identity | None:
    return None if entry is None else (entry.uid, entry.version)


def held(informer: Any) -> dict[ObjectKey, Identity]:
    """What an informer's cache has, in the words of `ModelServer.state`."""
    return {entry.key: (entry.uid, entry.version) for entry in informer.lister.metadata()}
