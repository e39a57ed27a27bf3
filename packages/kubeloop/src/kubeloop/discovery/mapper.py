"""From the name of a kind or a resource to the resource, and back.

Guarantees: no I/O; group versions that failed do not affect the others; the order of preference
is the server's.
See also: `deferred_mapper` (discovers, also again), `shortcuts` (short names).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar, final

import msgspec

from kubeloop.errors import KubeError
from kubeloop.meta import (
    GroupKind,
    GroupResource,
    GroupVersion,
    GroupVersionKind,
    GroupVersionResource,
)
from kubeloop.wire import ResourceInfo

from .errors import AmbiguousMatch, NoKindMatch, NoMatch, NoResourceMatch
from .groups import DiscoveryResult, infos_in
from .shortcuts import OnWarning, expand_category, expand_shortcut

__all__ = [
    "Mapper",
    "MapperErrors",
    "RESTMapper",
    "UnionMapper",
    "guess_plural",
]

T = TypeVar("T", GroupVersionKind, GroupVersionResource)


def guess_plural(kind: str) -> str:
    """The probable resource of a kind: its English plural (as in client-go)."""
    word = kind.lower()
    if not word or word.endswith("endpoints"):
        return word
    if word.endswith("s"):
        return f"{word}es"
    return f"{word.removesuffix('y')}ies" if word.endswith("y") else f"{word}s"


class _Pattern(msgspec.Struct, frozen=True):
    """A preferred group version; an empty version matches any."""

    group: str
    version: str = ""

    def matches(self, candidate: GroupVersionKind | GroupVersionResource) -> bool:
        return candidate.group == self.group and self.version in ("", candidate.version)


@final
class RESTMapper:
    """Lookups in one discovery result; `DeferredMapper` discovers again if needed.

    Unknown fields of a `GroupVersionResource` or `GroupKind` are empty:
    `GroupVersionResource("", "", "deployment")`.
    """

    def __init__(self, result: DiscoveryResult, *, on_warning: OnWarning | None = None) -> None:
        self._discovered = result
        self._on_warning = on_warning
        self._priorities = tuple(_priorities(result))
        self._infos = [
            info
            for group in result.groups
            for version in group.group_versions
            for info in infos_in(result, version)
        ]
        self._by_name: dict[str, list[ResourceInfo]] = {}
        self._by_kind: dict[GroupKind, list[ResourceInfo]] = {}
        for info in self._infos:
            self._index(info)
        for version in result.resources:
            self._add_kind(_list_info(version, "List", namespaced=False))

    # --- by resource

    def resources_for(self, partial: GroupVersionResource) -> list[GroupVersionResource]:
        """Every matching resource; the preferred one is not necessarily first.

        The name is plural or singular, in any case; a prefix of the group is enough.
        Raises: NoResourceMatch.
        """
        found = [_gvr(info) for info in self._by_resource_name(partial)]
        if not found:
            raise NoResourceMatch(_text(partial))
        return found

    def resource_for(self, partial: GroupVersionResource) -> GroupVersionResource:
        """The best match. Raises: NoResourceMatch, AmbiguousMatch."""
        return self._best(self.resources_for(partial), f"resource {_text(partial)}")

    def kinds_for(self, partial: GroupVersionResource) -> list[GroupVersionKind]:
        """The kinds of all matching resources. Raises: NoResourceMatch."""
        found = [_gvk(info) for info in self._by_resource_name(partial)]
        if not found:
            raise NoResourceMatch(_text(partial))
        return found

    def kind_for(self, partial: GroupVersionResource) -> GroupVersionKind:
        """The kind of the best match. Raises: NoResourceMatch, AmbiguousMatch."""
        return self._best(self.kinds_for(partial), f"resource {_text(partial)}")

    def singular_of(self, resource: str) -> str:
        """The singular name of a resource. Raises: NoResourceMatch."""
        found = self.resource_for(GroupVersionResource("", "", resource))
        return self._info_at(found).singular

    # --- by kind

    def mappings(self, kind: GroupKind, *versions: str) -> list[ResourceInfo]:
        """The resources of a kind, in the first of `versions` that has it, or in all versions.

        Raises: NoKindMatch.
        """
        served = self._by_kind.get(kind, [])
        requested = [version for version in versions if version]
        if not requested:
            found = served
        else:
            present = {info.version for info in served}
            chosen = next((version for version in requested if version in present), None)
            found = [info for info in served if info.version == chosen]
        if not found:
            raise NoKindMatch(kind.kind, kind.group, requested)
        return found

    def mapping(self, kind: GroupKind, *versions: str) -> ResourceInfo:
        """The resource of a kind; `versions` take precedence over the server's preference.

        Raises: NoKindMatch, AmbiguousMatch.
        """
        found = self.mappings(kind, *versions)
        chosen = self._best([_gvk(info) for info in found], f"kind {kind}")
        return next(info for info in found if _gvk(info) == chosen)

    # --- by a word of the command line

    def expand(self, partial: GroupVersionResource) -> GroupVersionResource:
        """`deploy` becomes `deployments.apps`; other names are returned unchanged."""
        return expand_shortcut(self._discovered, partial, on_warning=self._on_warning)

    def category(self, word: str) -> tuple[GroupResource, ...]:
        """The resources of a category such as `all`; empty for an unknown one."""
        return expand_category(self._discovered, word)

    def find(self, word: str) -> ResourceInfo:
        """The resource of an argument of `kubectl get`: `deploy`, `deployments.apps`, ….

        Raises: NoResourceMatch, AmbiguousMatch.
        """
        for interpretation in _interpretations(word):
            for find in (self._find_resource, self._find_kind):
                try:
                    return find(interpretation)
                except AmbiguousMatch:
                    raise
                except NoMatch:
                    continue
        raise NoResourceMatch(word)

    def _find_resource(self, partial: GroupVersionResource) -> ResourceInfo:
        return self._info_at(self.resource_for(self.expand(partial)))

    def _find_kind(self, partial: GroupVersionResource) -> ResourceInfo:
        groups = [kind for kind in self._by_kind if kind.kind == partial.resource]
        matching = [kind for kind in groups if not partial.group or kind.group == partial.group]
        infos = [
            info
            for kind in matching
            for info in self._by_kind[kind]
            if partial.version in ("", info.version)
        ]
        if not infos:
            raise NoKindMatch(partial.resource, partial.group)
        chosen = self._best([_gvk(info) for info in infos], f"kind {partial.resource}")
        return next(info for info in infos if _gvk(info) == chosen)

    # --- tables

    def _index(self, info: ResourceInfo) -> None:
        for name in {info.plural.lower(), info.singular.lower()}:
            self._by_name.setdefault(name, []).append(info)
        version = GroupVersion(info.group, info.version)
        self._add_kind(info)
        # Users write kinds in lower case, and lists have their own kinds.
        lower = info.kind.lower()
        if lower != info.kind:
            self._by_kind.setdefault(GroupKind(info.group, lower), []).append(info)
        self._add_kind(_list_info(version, f"{info.kind}List", namespaced=info.namespaced))

    def _add_kind(self, info: ResourceInfo) -> None:
        self._by_kind.setdefault(GroupKind(info.group, info.kind), []).append(info)

    def _by_resource_name(self, partial: GroupVersionResource) -> list[ResourceInfo]:
        named = self._by_name.get(partial.resource.lower(), [])
        if partial.version:
            named = [info for info in named if info.version == partial.version]
        if not partial.group:
            return named
        exact = [info for info in named if info.group == partial.group]
        if exact or partial.version:
            return exact
        return [info for info in named if info.group.startswith(partial.group)]

    def _info_at(self, resource: GroupVersionResource) -> ResourceInfo:
        return next(info for info in self._infos if _gvr(info) == resource)

    def _best(self, candidates: list[T], requested: str) -> T:
        """The candidate that the preferences select. Raises: AmbiguousMatch."""
        left = list(dict.fromkeys(candidates))
        for pattern in self._priorities:
            matching = [candidate for candidate in left if pattern.matches(candidate)]
            if len(matching) == 1:
                return matching[0]
            left = matching or left
        if len(left) == 1:
            return left[0]
        raise AmbiguousMatch(requested, left)


def _priorities(result: DiscoveryResult) -> Iterator[_Pattern]:
    """Core v1; then the versions of each group, the preferred one first; then any version."""
    yield _Pattern("", "v1")
    for group in result.groups:
        if group.preferred:
            yield _Pattern(group.name, group.preferred)
        for version in group.versions:
            if version != group.preferred:
                yield _Pattern(group.name, version)
    for group in result.groups:
        yield _Pattern(group.name)


def _list_info(version: GroupVersion, kind: str, *, namespaced: bool) -> ResourceInfo:
    return ResourceInfo(
        group=version.group,
        version=version.version,
        plural=guess_plural(kind),
        kind=kind,
        singular=kind.lower(),
        namespaced=namespaced,
        verbs=(),
    )


def _interpretations(word: str) -> Iterator[GroupVersionResource]:
    """`a.b.c` may be resource, version and group, or resource and group."""
    name, dot, rest = word.partition(".")
    version, second, group = rest.partition(".")
    if second:
        yield GroupVersionResource(group, version, name)
    if dot:
        yield GroupVersionResource("", rest, name)  # `pods.v1`
    yield GroupVersionResource(rest, "", name)


def _gvr(info: ResourceInfo) -> GroupVersionResource:
    return GroupVersionResource(info.group, info.version, info.plural)


def _gvk(info: ResourceInfo) -> GroupVersionKind:
    return GroupVersionKind(info.group, info.version, info.kind)


def _text(partial: GroupVersionResource) -> str:
    return ".".join(filter(None, (partial.resource, partial.version, partial.group)))


# --- several mappers as one


M = TypeVar("M")


class Mapper(Protocol):
    """Lookups that return every match."""

    def resources_for(self, partial: GroupVersionResource) -> list[GroupVersionResource]: ...
    def kinds_for(self, partial: GroupVersionResource) -> list[GroupVersionKind]: ...
    def mappings(self, kind: GroupKind, *versions: str) -> list[ResourceInfo]: ...


@final
class MapperErrors(KubeError):
    """Some mappers failed; the matches of the others are in `found`."""

    def __init__(self, errors: Sequence[Exception], found: Sequence[object]) -> None:
        super().__init__(errors, found)
        self.errors, self.found = tuple(errors), tuple(found)

    def _message(self) -> str:
        return f"some mappers failed: {'; '.join(map(str, self.errors))}"


@final
class UnionMapper:
    """Looks up in every mapper; it is enough if one has a match (client-go: `MultiRESTMapper`)."""

    def __init__(self, *mappers: Mapper) -> None:
        self._mappers = mappers

    def resources_for(self, partial: GroupVersionResource) -> list[GroupVersionResource]:
        """Every matching resource, each once. Raises: NoResourceMatch, MapperErrors."""
        return self._collect(lambda mapper: mapper.resources_for(partial))

    def kinds_for(self, partial: GroupVersionResource) -> list[GroupVersionKind]:
        """The kinds of all matches, each once. Raises: NoResourceMatch, MapperErrors."""
        return self._collect(lambda mapper: mapper.kinds_for(partial))

    def mappings(self, kind: GroupKind, *versions: str) -> list[ResourceInfo]:
        """The resources of a kind, each once. Raises: NoKindMatch, MapperErrors."""
        return self._collect(lambda mapper: mapper.mappings(kind, *versions))

    def _collect(self, lookup: Callable[[Mapper], list[M]]) -> list[M]:
        found: list[M] = []
        misses: list[NoMatch] = []
        errors: list[Exception] = []
        for mapper in self._mappers:
            try:
                found += [each for each in lookup(mapper) if each not in found]
            except NoMatch as error:
                misses.append(error)
            except KubeError as error:
                errors.append(error)
        if errors:
            raise MapperErrors(errors, found)
        if not found and misses:
            raise misses[0]
        return found
