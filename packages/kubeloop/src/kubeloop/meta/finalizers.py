"""Finalizers of an object.

Guarantees: works on models and on dicts; a call returns whether it changed something, so that
the caller can skip the write; the order of the other finalizers stays.
See also: `kubeloop.runtime.ensure_finalizer`, which runs the cleanup.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Protocol, TypeAlias

from kubeloop.wire.errors import InvalidArgument

__all__ = ["Finalizable", "add_finalizer", "has_finalizer", "remove_finalizer"]


class _Finalized(Protocol):
    @property
    def finalizers(self) -> list[str]: ...


class _Typed(Protocol):
    @property
    def metadata(self) -> _Finalized: ...


Finalizable: TypeAlias = _Typed | MutableMapping[str, object]


def has_finalizer(obj: Finalizable, name: str) -> bool:
    """Whether the object has the finalizer `name`."""
    return name in _finalizers_of(obj)


def add_finalizer(obj: Finalizable, name: str) -> bool:
    """Add the finalizer; False if the object already has it."""
    finalizers = _finalizers_of(obj)
    if name in finalizers:
        return False
    finalizers.append(name)
    _keep(obj, finalizers)
    return True


def remove_finalizer(obj: Finalizable, name: str) -> bool:
    """Remove the finalizer; False if the object does not have it."""
    finalizers = _finalizers_of(obj)
    if name not in finalizers:
        return False
    finalizers[:] = [other for other in finalizers if other != name]
    _keep(obj, finalizers)
    return True


def _finalizers_of(obj: Finalizable) -> list[str]:
    if not isinstance(obj, MutableMapping):
        return obj.metadata.finalizers
    finalizers = _metadata_of(obj).get("finalizers") or []
    if not isinstance(finalizers, list):
        raise InvalidArgument(f"metadata.finalizers: expected a list, found {finalizers!r}")
    return finalizers


def _keep(obj: Finalizable, finalizers: list[str]) -> None:
    """Store the list in a dict; an empty list is left out."""
    if not isinstance(obj, MutableMapping):
        return
    metadata = obj["metadata"] = _metadata_of(obj)
    if finalizers:
        metadata["finalizers"] = finalizers
    else:
        metadata.pop("finalizers", None)


def _metadata_of(obj: MutableMapping[str, object]) -> MutableMapping[str, object]:
    metadata = obj.get("metadata") or {}
    if not isinstance(metadata, MutableMapping):
        raise InvalidArgument(f"metadata: expected an object, found {metadata!r}")
    return metadata
