"""From the name of a kind or a resource to the resource itself: where it is, what it can do.

Promises: plain code on what was discovered; group versions that could not be discovered
are not missed by the others; the order of preference is the server's.
Elsewhere: asking the server, and asking it again (`deferred`), short names (`shortcuts`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar, final

import msgspec

from kubeloop.meta import (
    GroupKind,
    GroupResource,
    GroupVersion,
    GroupVersionKind,
    GroupVersionResource,
)
from kubeloop.wire import ResourceInfo

from .errors import AmbiguousMatch, NoKindMatch, NoMatch, NoResourceMatch
from .groups import Discovered, infos_in
from .shortcuts import OnWarning, expand_category, expand_shortcut

__all__ = ["RESTMapper", "guess_plural"]

T = TypeVar("T", GroupVersionKind, GroupVersionResource)


def guess_plural(kind: str) -> str:
    """The resource that a kind is probably served as, by the habit of English."""
    word = kind.lower()
    if not word or word.endswith("endpoints"):
        return word
    if word.endswith("s"):
        return f"{word}es"
    return f"{word.removesuffix('y')}ies" if word.endswith("y") else f"{word}s"


class _Pattern(msgspec.Struct, frozen=True):
    """A group version to prefer; an empty version stands for any."""

    group: str
    version: str = ""

    def fits(self, candidate: GroupVersionKind | GroupVersionResource) -> bool:
        return candidate.group == self.group and self.version in ("", candidate.version)


@final
class RESTMapper:
    """Answers from one discovery; ask `DeferredMapper` when the server may have news.

    Lookups take a `GroupVersionResource` or a `GroupKind` in which what is not known is
    empty: `GroupVersionResource("", "", "deployment")`.
    """

    def __init__(self, discovered: Discovered, *, on_warning: OnWarning | None = None) -> None:
        self._discovered = discovered
        self._on_warning = on_warning
        self._priorities = tuple(_priorities(discovered))
        self._infos = [
            info
            for group in discovered.groups
            for version in group.group_versions
            for info in infos_in(discovered, version)
        ]
        self._by_name: dict[str, list[ResourceInfo]] = {}
        self._by_kind: dict[GroupKind, list[ResourceInfo]] = {}
        for info in self._infos:
            self._index(info)
        for version in discovered.resources:
            self._add_kind(_list_info(version, "List", namespaced=False))

    # --- by resource

    def resources_for(self, wanted: GroupVersionResource) -> list[GroupVersionResource]:
        """Every resource that fits, the preferred one not necessarily first.

        The name is plural or singular, in any case; a group may be given by its beginning.
        Raises: NoResourceMatch when none fits.
        """
        found = [_gvr(info) for info in self._named(wanted)]
        if not found:
            raise NoResourceMatch(_text(wanted))
        return found

    def resource_for(self, wanted: GroupVersionResource) -> GroupVersionResource:
        """The one resource that fits best. Raises: NoResourceMatch, AmbiguousMatch."""
        return self._best(self.resources_for(wanted), f"resource {_text(wanted)}")

    def kinds_for(self, wanted: GroupVersionResource) -> list[GroupVersionKind]:
        """The kinds of every resource that fits. Raises: NoResourceMatch."""
        found = [_gvk(info) for info in self._named(wanted)]
        if not found:
            raise NoResourceMatch(_text(wanted))
        return found

    def kind_for(self, wanted: GroupVersionResource) -> GroupVersionKind:
        """The kind of the resource that fits best. Raises: NoResourceMatch, AmbiguousMatch."""
        return self._best(self.kinds_for(wanted), f"resource {_text(wanted)}")

    def singular_of(self, resource: str) -> str:
        """The singular name of a resource. Raises: NoResourceMatch."""
        found = self.resource_for(GroupVersionResource("", "", resource))
        return self._info_at(found).singular

    # --- by kind

    def mappings(self, kind: GroupKind, *versions: str) -> list[ResourceInfo]:
        """The resources of a kind, in the first of `versions` that has it, else in all.

        Raises: NoKindMatch when there is none.
        """
        served = self._by_kind.get(kind, [])
        wanted = [version for version in versions if version]
        if not wanted:
            found = served
        else:
            present = {info.version for info in served}
            chosen = next((version for version in wanted if version in present), None)
            found = [info for info in served if info.version == chosen]
        if not found:
            raise NoKindMatch(kind.kind, kind.group, wanted)
        return found

    def mapping(self, kind: GroupKind, *versions: str) -> ResourceInfo:
        """The resource of a kind; `versions` come before the server's own preference.

        Raises: NoKindMatch, AmbiguousMatch.
        """
        found = self.mappings(kind, *versions)
        chosen = self._best([_gvk(info) for info in found], f"kind {kind}")
        return next(info for info in found if _gvk(info) == chosen)

    # --- by whatever a person would type

    def expand(self, wanted: GroupVersionResource) -> GroupVersionResource:
        """`deploy` becomes `deployments.apps`; what is no short name stays as it is."""
        return expand_shortcut(self._discovered, wanted, on_warning=self._on_warning)

    def category(self, word: str) -> tuple[GroupResource, ...]:
        """All resources in a category such as `all`; empty when there is no such one."""
        return expand_category(self._discovered, word)

    def find(self, word: str) -> ResourceInfo:
        """What `kubectl get` would take: `deploy`, `deployments.apps`, `Deployment.v1.apps`.

        Raises: NoResourceMatch, AmbiguousMatch.
        """
        for reading in _readings(word):
            for look in (self._find_resource, self._find_kind):
                try:
                    return look(reading)
                except AmbiguousMatch:
                    raise
                except NoMatch:
                    continue
        raise NoResourceMatch(word)

    def _find_resource(self, wanted: GroupVersionResource) -> ResourceInfo:
        return self._info_at(self.resource_for(self.expand(wanted)))

    def _find_kind(self, wanted: GroupVersionResource) -> ResourceInfo:
        groups = [kind for kind in self._by_kind if kind.kind == wanted.resource]
        fitting = [kind for kind in groups if not wanted.group or kind.group == wanted.group]
        infos = [
            info
            for kind in fitting
            for info in self._by_kind[kind]
            if wanted.version in ("", info.version)
        ]
        if not infos:
            raise NoKindMatch(wanted.resource, wanted.group)
        chosen = self._best([_gvk(info) for info in infos], f"kind {wanted.resource}")
        return next(info for info in infos if _gvk(info) == chosen)

    # --- the tables

    def _index(self, info: ResourceInfo) -> None:
        for name in {info.plural.lower(), info.singular.lower()}:
            self._by_name.setdefault(name, []).append(info)
        version = GroupVersion(info.group, info.version)
        self._add_kind(info)
        # People write kinds in lower case, and lists have kinds of their own.
        lower = info.kind.lower()
        if lower != info.kind:
            self._by_kind.setdefault(GroupKind(info.group, lower), []).append(info)
        self._add_kind(_list_info(version, f"{info.kind}List", namespaced=info.namespaced))

    def _add_kind(self, info: ResourceInfo) -> None:
        self._by_kind.setdefault(GroupKind(info.group, info.kind), []).append(info)

    def _named(self, wanted: GroupVersionResource) -> list[ResourceInfo]:
        named = self._by_name.get(wanted.resource.lower(), [])
        if wanted.version:
            named = [info for info in named if info.version == wanted.version]
        if not wanted.group:
            return named
        exact = [info for info in named if info.group == wanted.group]
        if exact or wanted.version:
            return exact
        return [info for info in named if info.group.startswith(wanted.group)]

    def _info_at(self, resource: GroupVersionResource) -> ResourceInfo:
        return next(info for info in self._infos if _gvr(info) == resource)

    def _best(self, candidates: list[T], wanted: str) -> T:
        """The candidate that is left when each preference has narrowed them down."""
        left = list(dict.fromkeys(candidates))
        for pattern in self._priorities:
            fitting = [candidate for candidate in left if pattern.fits(candidate)]
            if len(fitting) == 1:
                return fitting[0]
            left = fitting or left
        if len(left) == 1:
            return left[0]
        raise AmbiguousMatch(wanted, left)


def _priorities(discovered: Discovered) -> Iterator[_Pattern]:
    """Core v1; then each group's preferred version and its others; then each group at all."""
    yield _Pattern("", "v1")
    for group in discovered.groups:
        if group.preferred:
            yield _Pattern(group.name, group.preferred)
        for version in group.versions:
            if version != group.preferred:
                yield _Pattern(group.name, version)
    for group in discovered.groups:
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


def _readings(word: str) -> Iterator[GroupVersionResource]:
    """`a.b.c` may be resource, version and group, or a resource and its group."""
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


def _text(wanted: GroupVersionResource) -> str:
    return ".".join(filter(None, (wanted.resource, wanted.version, wanted.group)))
