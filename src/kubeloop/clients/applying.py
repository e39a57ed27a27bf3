"""Applying many objects: what others stand on comes first, and is waited for.

Promises: namespaces and CRDs are applied before all else, and a CRD is served before an
object of its kind is applied; the results come in the order of the objects.
Elsewhere: applying one (`verbs`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kubeloop.machinery import GroupVersion, InvalidValue, ObjectKey, Owner, set_controller
from kubeloop.wire import Kind, load_yaml

__all__ = [
    "Appliable",
    "Manifest",
    "in_order",
    "is_crd",
    "objects_in",
    "owned",
    "served_versions",
]

Appliable = Kind | dict[str, Any]
Manifest = Appliable | Iterable[Appliable] | str | bytes | Path

_SUFFIXES = (".yaml", ".yml", ".json")

# What the API itself stands on goes first; the rest keeps its order.
_FIRST = {
    ("v1", "Namespace"): 0,
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"): 1,
}


def objects_in(given: Manifest, *, kinds: Sequence[type[Kind]] = ()) -> list[Appliable]:
    """The objects that are meant: some, a path (a file, or a folder of them) or YAML text.

    Bytes, and a text with a newline or a brace in it, are YAML; any other text is a path.
    Raises: InvalidValue for a path that cannot be read or what is no object at all,
    DecodeError for what is no manifest.
    """
    if isinstance(given, Kind | dict):
        return [given]
    if isinstance(given, bytes) or (isinstance(given, str) and ("\n" in given or "{" in given)):
        return list(load_yaml(given, kinds=kinds))
    if isinstance(given, str | Path):
        return [obj for path in _files(Path(given)) for obj in _read(path, kinds)]
    if not hasattr(given, "__iter__"):
        raise _no_object(given)
    return [_object(each) for each in given]


def _object(given: Appliable) -> Appliable:
    if not isinstance(given, Kind | dict):
        raise _no_object(given)
    return given


def _no_object(given: object) -> InvalidValue:
    return InvalidValue(
        f"apply a {type(given).__name__}: expected an object of a class, a dict, YAML, or the"
        " path of a file"
    )


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    return sorted(each for each in path.iterdir() if each.suffix in _SUFFIXES)


def _read(path: Path, kinds: Sequence[type[Kind]]) -> list[Appliable]:
    try:
        text = path.read_bytes()
    except (OSError, ValueError) as error:  # a path cannot hold a NUL
        reason = getattr(error, "strerror", None) or error
        raise InvalidValue(f"apply {path}: it cannot be read: {reason}") from error
    return list(load_yaml(text, kinds=kinds, source=str(path)))


def in_order(objects: Sequence[Mapping[str, Any]]) -> list[int]:
    """The indexes of the objects in the order to apply them in."""
    ranks = [
        _FIRST.get((obj.get("apiVersion", ""), obj.get("kind", "")), len(_FIRST)) for obj in objects
    ]
    return sorted(range(len(objects)), key=lambda index: ranks[index])


def is_crd(obj: Mapping[str, Any]) -> bool:
    """Whether an object brings a new kind."""
    return obj.get("kind") == "CustomResourceDefinition"


def served_versions(crd: Mapping[str, Any]) -> list[tuple[GroupVersion, str]]:
    """The group versions that a CRD will be served in, each with the resource's name."""
    spec = crd.get("spec") or {}
    plural = (spec.get("names") or {}).get("plural") or ""
    return [
        (GroupVersion(spec.get("group") or "", version.get("name") or ""), plural)
        for version in spec.get("versions") or ()
        if version.get("served")
    ]


def owned(thing: Appliable, owner: Owner) -> Appliable:
    """A copy that the owner controls, in its namespace; what the caller holds stays."""
    inside = ObjectKey.of(owner).namespace
    data = thing.to_dict() if isinstance(thing, Kind) else _copied(thing)
    metadata = data.setdefault("metadata", {})
    if inside and not metadata.get("namespace"):
        metadata["namespace"] = inside
    set_controller(data, owner)
    return type(thing).from_dict(data) if isinstance(thing, Kind) else data


def _copied(thing: dict[str, Any]) -> dict[str, Any]:
    metadata = dict(thing.get("metadata") or {})
    references = [dict(each) for each in metadata.get("ownerReferences") or ()]
    return {**thing, "metadata": {**metadata, "ownerReferences": references}}
