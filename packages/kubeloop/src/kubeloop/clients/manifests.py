"""The objects of a manifest: where they come from, in which order they are applied, the results.

Guarantees: namespaces and CRDs are applied first, and a CRD is served before an object of its
kind is applied; results are in the order of the manifest; an object that cannot be applied is
reported, and the others are applied.
See also: `client` (applies them), `resource` (applies one object).
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, final

import msgspec

from kubeloop.errors import DecodeError, InvalidArgument, KubeError
from kubeloop.meta import GroupVersion, ObjectKey, Owner, set_controller
from kubeloop.wire import Kind, parse_manifest

from .object_codecs import check_object

__all__ = [
    "AnyObject",
    "ApplyErrors",
    "ApplyOutcome",
    "Manifest",
    "ManifestEntry",
    "apply_order",
    "check_identity",
    "is_crd",
    "manifest_entries",
    "served_versions",
    "set_owner",
]

AnyObject = Kind | dict[str, Any]
"""An object of a class, or a dict: what `apply` accepts and returns."""

Manifest = AnyObject | Iterable[AnyObject] | str | bytes | Path

_SUFFIXES = (".yaml", ".yml", ".json")
_KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_MAX_SHOWN = 255  # characters of a path

# Other objects depend on these; the rest keeps its order.
_APPLY_FIRST = {
    ("v1", "Namespace"): 0,
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"): 1,
}


class ManifestEntry(msgspec.Struct, frozen=True):
    """One object of a manifest, or the error for it."""

    source: str  # for messages: `shop.yaml document 2`
    content: AnyObject | KubeError


@final
class ApplyErrors(KubeError):
    """Some of several objects were not applied: `errors` has one error for each of them.

    `applied` has the other objects as the server stored them, in the order of the manifest. The
    text has one line for each error.
    """

    def __init__(
        self, errors: Sequence[KubeError], applied: Sequence[AnyObject], *, total: int
    ) -> None:
        super().__init__(errors, applied, total)
        self.errors = tuple(errors)
        self.applied = tuple(applied)
        self.total = total  # also those that were not tried, because the server cannot be reached

    @property
    def summary(self) -> str:
        """How many objects were applied, and a line for each error."""
        errors = "1 error" if len(self.errors) == 1 else f"{len(self.errors)} errors"
        head = f"apply: {errors}, {len(self.applied)} of {self.total} objects applied:"
        # Each error is one line, with control characters escaped.
        return "\n".join([head, *map(str, self.errors)])


@final
class ApplyOutcome:
    """Results and errors of the objects, by their index in the manifest."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.results: dict[int, AnyObject] = {}
        self.errors: dict[int, KubeError] = {}

    def select_valid(self, entries: Sequence[ManifestEntry]) -> dict[int, AnyObject]:
        """The objects that can be applied; records the errors of the others."""
        valid: dict[int, AnyObject] = {}
        for index, entry in enumerate(entries):
            if isinstance(entry.content, KubeError):
                self.errors[index] = entry.content
            else:
                valid[index] = entry.content
        return valid

    def results_or_raise(self) -> list[AnyObject]:
        """All results in order.

        Raises: the error if there is one and no result, else ApplyErrors.
        """
        applied = [self.results[index] for index in sorted(self.results)]
        errors = [self.errors[index] for index in sorted(self.errors)]
        if not errors:
            return applied
        if len(errors) == 1 and (self.total == 1 or not applied):
            raise errors[0]
        raise ApplyErrors(errors, applied, total=self.total)


def manifest_entries(given: Manifest, *, kinds: Sequence[type[Kind]] = ()) -> list[ManifestEntry]:
    """The objects of a manifest: objects, YAML, or the path of a file or a folder.

    Bytes, and a string with a newline or a brace, are YAML; any other string is a path. An
    object that cannot be decoded is an entry with its error; a text or file that is not YAML is
    one entry with an error.
    Raises: InvalidArgument for a type that is not a manifest.
    """
    if isinstance(given, Kind | dict):
        return [_check_entry("the object", given)]
    if isinstance(given, bytes) or (isinstance(given, str) and ("\n" in given or "{" in given)):
        return _parse_text(given, kinds)
    if isinstance(given, str | Path):
        return _entries_at(given, kinds)
    if not hasattr(given, "__iter__"):
        raise _not_an_object(given)
    objects = [_check_type(each) for each in given]
    return [_check_entry(f"object {index + 1}", each) for index, each in enumerate(objects)]


def _check_type(given: AnyObject) -> AnyObject:
    if not isinstance(given, Kind | dict):
        raise _not_an_object(given)
    return given


def _not_an_object(given: object) -> InvalidArgument:
    return InvalidArgument(
        f"apply a {type(given).__name__}: expected an object of a class, a dict, YAML, or the"
        " path of a file"
    )


def _check_entry(source: str, obj: AnyObject) -> ManifestEntry:
    try:
        check_identity(obj, source)
    except InvalidArgument as error:
        return ManifestEntry(source, error)
    return ManifestEntry(source, obj)


def check_identity(obj: AnyObject, source: str = "the object") -> None:
    """Raise InvalidArgument if an object has no apiVersion, kind or name."""
    if isinstance(obj, dict):
        try:
            check_object(obj)
        except InvalidArgument as wrong:
            raise InvalidArgument(f"apply {source}: {wrong}") from None
    names = _Identity.of(obj)
    for key, value in (("apiVersion", names.api_version), ("kind", names.kind)):
        if not isinstance(value, str) or not value:
            raise InvalidArgument(f"apply {source}: {key} is missing")
    if names.api_version.startswith("kustomize.config.k8s.io/"):
        raise _kustomization(source, "DIR")
    if not isinstance(names.name, str) or not names.name:
        raise InvalidArgument(f"apply {source}: the {names.kind} has no name (apply needs one)")


class _Identity(msgspec.Struct, frozen=True):
    """The identity of an object; the values of a dict may have any type."""

    api_version: Any
    kind: Any
    name: Any

    @classmethod
    def of(cls, obj: AnyObject) -> _Identity:
        if isinstance(obj, Kind):
            metadata = getattr(obj, "metadata", None)
            return cls(obj.api_version, obj.kind, getattr(metadata, "name", None))
        metadata = obj.get("metadata")
        name = metadata.get("name") if isinstance(metadata, dict) else None
        return cls(obj.get("apiVersion"), obj.get("kind"), name)


def _parse_text(
    text: str | bytes, kinds: Sequence[type[Kind]], source: str = ""
) -> list[ManifestEntry]:
    try:
        found = parse_manifest(text, kinds=kinds, source=source)
    except DecodeError as error:
        return [ManifestEntry(source or "YAML", error)]
    return [
        ManifestEntry(source, each) if isinstance(each, DecodeError) else _check_entry(source, each)
        for source, each in found
    ]


def _entries_at(given: str | Path, kinds: Sequence[type[Kind]]) -> list[ManifestEntry]:
    path = Path(given)
    try:
        files = _files(path)
    except KubeError as error:
        return [ManifestEntry(_display(given), error)]
    except (OSError, ValueError) as error:
        return [ManifestEntry(_display(given), _unreadable(given, error))]
    return [entry for file in files for entry in _entries_of(file, given, kinds)]


def _entries_of(file: Path, given: str | Path, kinds: Sequence[type[Kind]]) -> list[ManifestEntry]:
    try:
        text = file.read_bytes()
    except (OSError, ValueError) as error:  # a path cannot contain NUL
        path = given if file == Path(given) else file
        return [ManifestEntry(_display(path), _unreadable(path, error))]
    return _parse_text(text, kinds, str(file))


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        if path.name in _KUSTOMIZATIONS and path.exists():  # most have no apiVersion
            raise _kustomization(str(path), shlex.quote(str(path.parent)))
        return [path]
    files = sorted(each for each in path.iterdir() if each.suffix in _SUFFIXES)
    if any((path / name).is_file() for name in _KUSTOMIZATIONS):
        raise _kustomization(str(path), shlex.quote(str(path)))
    if not files:
        suffixes = ", ".join(_SUFFIXES)
        raise InvalidArgument(f"apply {path}: no manifest in this folder (expected {suffixes})")
    return files


def _kustomization(source: str, folder: str) -> InvalidArgument:
    return InvalidArgument(
        f"apply {source}: a kustomization must be built first"
        f" (kubectl kustomize {folder} | kubeloop apply -f -)"
    )


def _unreadable(given: str | Path, error: Exception) -> InvalidArgument:
    reason = getattr(error, "strerror", None) or error
    # A string of one line counts as a path. It may be a manifest, and contain a secret.
    hint = " (a manifest must end with a newline, or it counts as a path)"
    is_text = isinstance(given, str) and (": " in given or len(given) > _MAX_SHOWN)
    failure = InvalidArgument(f"apply {_display(given)}: cannot read it: {reason}{hint * is_text}")
    failure.__cause__ = error if not is_text else None
    return failure


def _display(given: str | Path) -> str:
    """A path for a message; only the length of a text that may be a manifest."""
    text = str(given)
    if isinstance(given, str) and (": " in text or len(text) > _MAX_SHOWN):
        return f"a text of one line with {len(text)} characters"
    text = text if text.isprintable() else repr(text)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."


def apply_order(objects: Mapping[int, AnyObject]) -> list[int]:
    """The indexes of the objects in the order to apply them."""
    if len(objects) < 2:
        return list(objects)
    ranks = {index: _rank(obj) for index, obj in objects.items()}
    return sorted(objects, key=lambda index: ranks[index])


def _rank(obj: AnyObject) -> int:
    names = _Identity.of(obj)
    return _APPLY_FIRST.get((names.api_version, names.kind), len(_APPLY_FIRST))


def is_crd(obj: AnyObject) -> bool:
    """Whether an object is a CustomResourceDefinition."""
    return bool(_Identity.of(obj).kind == "CustomResourceDefinition")


def served_versions(crd: Mapping[str, Any]) -> list[tuple[GroupVersion, str]]:
    """The group versions that a CRD serves, each with the name of the resource."""
    spec = crd.get("spec") or {}
    plural = (spec.get("names") or {}).get("plural") or ""
    return [
        (GroupVersion(spec.get("group") or "", version.get("name") or ""), plural)
        for version in spec.get("versions") or ()
        if version.get("served")
    ]


def set_owner(data: dict[str, Any], owner: Owner) -> None:
    """Make the owner the controller of an object, in the namespace of the owner."""
    metadata = data.setdefault("metadata", {})
    given = metadata.get("ownerReferences") or []
    if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
        raise InvalidArgument(
            f"apply {data.get('kind')} {metadata.get('name')}: ownerReferences must be a list of"
            " objects"
        )
    if given:  # the metadata is a copy, and its lists are not
        metadata["ownerReferences"] = [dict(each) for each in given]
    namespace = ObjectKey.of(owner).namespace
    if namespace and not metadata.get("namespace"):
        metadata["namespace"] = namespace
    set_controller(data, owner)
