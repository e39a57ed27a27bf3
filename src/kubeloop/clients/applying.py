"""Applying many objects: what others stand on comes first, and is waited for.

Promises: namespaces and CRDs are applied before all else, and a CRD is served before an
object of its kind is applied; the results come in the order of the objects; every object
that cannot be applied is reported, and keeps no other back.
See also: applying one (`resource`).
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

from .forms import check_object

__all__ = [
    "Appliable",
    "ApplyErrors",
    "Manifest",
    "ManifestEntry",
    "Outcome",
    "entries_in",
    "in_order",
    "is_crd",
    "owned",
    "served_versions",
]

Appliable = Kind | dict[str, Any]
Manifest = Appliable | Iterable[Appliable] | str | bytes | Path

_SUFFIXES = (".yaml", ".yml", ".json")
_KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_LONGEST_SHOWN = 255  # characters of a path

# What the API itself stands on goes first; the rest keeps its order.
_FIRST = {
    ("v1", "Namespace"): 0,
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"): 1,
}


class ManifestEntry(msgspec.Struct, frozen=True):
    """One object that is to be applied, or why there is none."""

    place: str  # for messages: `shop.yaml document 2`
    content: Appliable | KubeError


@final
class ApplyErrors(KubeError):
    """Of several objects some were not applied: `errors` has one error for each of them.

    `applied` holds the objects that were, as the server has them, in the order of what was
    given. The text has one line for each error.
    """

    def __init__(
        self, errors: Sequence[KubeError], applied: Sequence[Appliable], *, total: int
    ) -> None:
        super().__init__(errors, applied, total)
        self.errors = tuple(errors)
        self.applied = tuple(applied)
        self.total = total  # also those that were not tried: the server cannot be reached

    @property
    def summary(self) -> str:
        """How many objects were applied, and a line for each error."""
        errors = "1 error" if len(self.errors) == 1 else f"{len(self.errors)} errors"
        head = f"apply: {errors}, {len(self.applied)} of {self.total} objects applied:"
        # Each is one line, with hidden characters escaped: only these line breaks are ours.
        return "\n".join([head, *map(str, self.errors)])


@final
class Outcome:
    """What became of the objects so far, by where they stood in what was given."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.results: dict[int, Appliable] = {}
        self.errors: dict[int, KubeError] = {}

    def keep_good(
        self, entries: Sequence[ManifestEntry], owner: Owner | None
    ) -> dict[int, Appliable]:
        """The objects that can be applied, with their owner; the errors of the others stay."""
        good: dict[int, Appliable] = {}
        for index, entry in enumerate(entries):
            if isinstance(entry.content, KubeError):
                self.errors[index] = entry.content
                continue
            try:
                good[index] = entry.content if owner is None else owned(entry.content, owner)
            except KubeError as error:
                self.errors[index] = error
        return good

    def in_full(self) -> list[Appliable]:
        """All results in order.

        Raises: the one error there is, or ApplyErrors when there is more to say.
        """
        applied = [self.results[index] for index in sorted(self.results)]
        errors = [self.errors[index] for index in sorted(self.errors)]
        if not errors:
            return applied
        if len(errors) == 1 and (self.total == 1 or not applied):
            raise errors[0]
        raise ApplyErrors(errors, applied, total=self.total)


def entries_in(given: Manifest, *, kinds: Sequence[type[Kind]] = ()) -> list[ManifestEntry]:
    """The objects that are meant: some, a path (a file, or a folder of them) or YAML text.

    Bytes, and a text with a newline or a brace in it, are YAML; any other text is a path.
    What cannot be read does not keep the others back: it is an entry with its error. Of a
    text or file that is not YAML nothing is taken.
    Raises: InvalidArgument for what is no object at all.
    """
    if isinstance(given, Kind | dict):
        return [_checked("the object", given)]
    if isinstance(given, bytes) or (isinstance(given, str) and ("\n" in given or "{" in given)):
        return _parsed(given, kinds)
    if isinstance(given, str | Path):
        return _entries_at(given, kinds)
    if not hasattr(given, "__iter__"):
        raise _no_object(given)
    objects = [_object(each) for each in given]
    return [_checked(f"object {index + 1}", each) for index, each in enumerate(objects)]


def _object(given: Appliable) -> Appliable:
    if not isinstance(given, Kind | dict):
        raise _no_object(given)
    return given


def _no_object(given: object) -> InvalidArgument:
    return InvalidArgument(
        f"apply a {type(given).__name__}: expected an object of a class, a dict, YAML, or the"
        " path of a file"
    )


def _checked(place: str, thing: Appliable) -> ManifestEntry:
    """The object, if it says what and which one it is."""
    if isinstance(thing, dict):
        try:
            check_object(thing)
        except InvalidArgument as wrong:
            return ManifestEntry(place, InvalidArgument(f"apply {place}: {wrong}"))
    named = _Names.of(thing)
    for key, value in (("apiVersion", named.api_version), ("kind", named.kind)):
        if not isinstance(value, str) or not value:
            error = InvalidArgument(f"apply {place}: it does not say its {key}")
            return ManifestEntry(place, error)
    if named.api_version.startswith("kustomize.config.k8s.io/"):
        return ManifestEntry(place, _kustomization(place, "DIR"))
    if not isinstance(named.name, str) or not named.name:
        error = InvalidArgument(f"apply {place}: the {named.kind} has no name (apply needs one)")
        return ManifestEntry(place, error)
    return ManifestEntry(place, thing)


class _Names(msgspec.Struct, frozen=True):
    """What an object says it is; of a dict it may be anything."""

    api_version: Any
    kind: Any
    name: Any

    @classmethod
    def of(cls, thing: Appliable) -> _Names:
        if isinstance(thing, Kind):
            metadata = getattr(thing, "metadata", None)
            return cls(thing.api_version, thing.kind, getattr(metadata, "name", None))
        metadata = thing.get("metadata")
        name = metadata.get("name") if isinstance(metadata, dict) else None
        return cls(thing.get("apiVersion"), thing.get("kind"), name)


def _parsed(
    text: str | bytes, kinds: Sequence[type[Kind]], source: str = ""
) -> list[ManifestEntry]:
    try:
        found = parse_manifest(text, kinds=kinds, source=source)
    except DecodeError as error:
        return [ManifestEntry(source or "YAML", error)]
    return [
        ManifestEntry(place, each) if isinstance(each, DecodeError) else _checked(place, each)
        for place, each in found
    ]


def _entries_at(given: str | Path, kinds: Sequence[type[Kind]]) -> list[ManifestEntry]:
    path = Path(given)
    try:
        files = _files(path)
    except KubeError as error:
        return [ManifestEntry(_shown(given), error)]
    except (OSError, ValueError) as error:
        return [ManifestEntry(_shown(given), _unreadable(given, error))]
    return [entry for file in files for entry in _entries_of(file, given, kinds)]


def _entries_of(file: Path, given: str | Path, kinds: Sequence[type[Kind]]) -> list[ManifestEntry]:
    try:
        text = file.read_bytes()
    except (OSError, ValueError) as error:  # a path cannot hold a NUL
        named = given if file == Path(given) else file
        return [ManifestEntry(_shown(named), _unreadable(named, error))]
    return _parsed(text, kinds, str(file))


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        if path.name in _KUSTOMIZATIONS and path.exists():  # most do not say their apiVersion
            raise _kustomization(str(path), shlex.quote(str(path.parent)))
        return [path]
    files = sorted(each for each in path.iterdir() if each.suffix in _SUFFIXES)
    if any((path / name).is_file() for name in _KUSTOMIZATIONS):
        raise _kustomization(str(path), shlex.quote(str(path)))
    if not files:
        suffixes = ", ".join(_SUFFIXES)
        raise InvalidArgument(f"apply {path}: there is no manifest in this folder ({suffixes})")
    return files


def _kustomization(place: str, folder: str) -> InvalidArgument:
    return InvalidArgument(
        f"apply {place}: this is a kustomization, which has to be built first"
        f" (kubectl kustomize {folder} | kubeloop apply -f -)"
    )


def _unreadable(given: str | Path, error: Exception) -> InvalidArgument:
    reason = getattr(error, "strerror", None) or error
    # A text of one line is taken for a path. It may be a manifest, and hold a secret.
    hint = " (a manifest ends with a newline, else it is taken for a path)"
    is_text = isinstance(given, str) and (": " in given or len(given) > _LONGEST_SHOWN)
    failure = InvalidArgument(f"apply {_shown(given)}: it cannot be read: {reason}{hint * is_text}")
    failure.__cause__ = error if not is_text else None
    return failure


def _shown(given: str | Path) -> str:
    """A path for a message; of what may be a manifest only how long it is."""
    text = str(given)
    if isinstance(given, str) and (": " in text or len(text) > _LONGEST_SHOWN):
        return f"a text of one line with {len(text)} characters"
    text = text if text.isprintable() else repr(text)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def in_order(things: Mapping[int, Appliable]) -> list[int]:
    """The keys of the objects in the order to apply them in."""
    if len(things) < 2:
        return list(things)
    ranks = {index: _rank(thing) for index, thing in things.items()}
    return sorted(things, key=lambda index: ranks[index])


def _rank(thing: Appliable) -> int:
    named = _Names.of(thing)
    return _FIRST.get((named.api_version, named.kind), len(_FIRST))


def is_crd(thing: Appliable) -> bool:
    """Whether an object brings a new kind."""
    return bool(_Names.of(thing).kind == "CustomResourceDefinition")


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
    data = thing.to_dict() if isinstance(thing, Kind) else _copied(check_object(thing))
    metadata = data.setdefault("metadata", {})
    if inside and not metadata.get("namespace"):
        metadata["namespace"] = inside
    set_controller(data, owner)
    return type(thing).from_dict(data) if isinstance(thing, Kind) else data


def _copied(thing: dict[str, Any]) -> dict[str, Any]:
    metadata = dict(thing.get("metadata") or {})
    given = metadata.get("ownerReferences") or []
    if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
        raise InvalidArgument(
            f"apply {thing.get('kind')} {metadata.get('name')}: its ownerReferences are no list of"
            " objects"
        )
    references = [dict(each) for each in given]
    return {**thing, "metadata": {**metadata, "ownerReferences": references}}
