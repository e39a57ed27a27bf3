"""The errors of discovery and mapping.

    KubeError
    ├── GroupDiscoveryFailed     some group versions failed; the others are in `found`
    ├── StaleGroupVersion        the server reports that a group version is stale
    ├── EmptyGroupVersion        a group version has no resources
    ├── NotInCache               the cache does not have the group version
    └── NoMatch                  no resource matches
        ├── NoKindMatch
        ├── NoResourceMatch
        └── AmbiguousMatch       several resources match

See also: `kubeloop.errors` (errors of single requests).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, final

from kubeloop.errors import KubeError
from kubeloop.meta import GroupVersion

if TYPE_CHECKING:
    from .groups import DiscoveryResult

__all__ = [
    "AmbiguousMatch",
    "EmptyGroupVersion",
    "GroupDiscoveryFailed",
    "NoKindMatch",
    "NoMatch",
    "NoResourceMatch",
    "NotInCache",
    "StaleGroupVersion",
    "failed_groups",
]


@final
class GroupDiscoveryFailed(KubeError):
    """Discovery of some group versions failed: `failures`. The result of the others is `found`."""

    def __init__(self, failures: Mapping[GroupVersion, Exception], found: DiscoveryResult) -> None:
        super().__init__(failures, found)
        self.failures = dict(failures)
        self.found = found

    def _message(self) -> str:
        named = (f"{version}: {cause}" for version, cause in sorted(_by_text(self.failures)))
        return f"discover the server's resources: some groups failed: {', '.join(named)}"


@final
class StaleGroupVersion(KubeError):
    """The server lists a group version as stale."""

    def __init__(self, version: GroupVersion) -> None:
        super().__init__(version)
        self.version = version

    def _message(self) -> str:
        return f"discover {self.version}: the server reports it as stale (try again later)"


@final
class EmptyGroupVersion(KubeError):
    """A group version has no resources."""

    def __init__(self, version: GroupVersion) -> None:
        super().__init__(version)
        self.version = version

    def _message(self) -> str:
        return f"discover {self.version}: the server lists no resources"


@final
class NotInCache(KubeError):
    """The cached discovery does not have the group version."""

    def __init__(self, version: GroupVersion) -> None:
        super().__init__(version)
        self.version = version

    def _message(self) -> str:
        return f"discover {self.version}: not in the cache (invalidate the cache if it may be new)"


class NoMatch(KubeError):
    """No resource of the server matches."""


@final
class NoKindMatch(NoMatch):
    """No resource has this kind, in the requested versions."""

    def __init__(self, kind: str, group: str, versions: Iterable[str] = ()) -> None:
        self.kind, self.group, self.versions = kind, group, tuple(versions)
        super().__init__(kind, group, self.versions)

    def _message(self) -> str:
        name = f"{self.kind}.{self.group}" if self.group else self.kind
        served = f" in {', '.join(self.versions)}" if self.versions else ""
        return f"find kind {name}{served}: the server has none (is its CRD installed?)"


@final
class NoResourceMatch(NoMatch):
    """No resource has this name."""

    def __init__(self, resource: str) -> None:
        super().__init__(resource)
        self.resource = resource

    def _message(self) -> str:
        return f"find resource {self.resource}: the server has none (is its CRD installed?)"


@final
class AmbiguousMatch(NoMatch):
    """Several resources or kinds match: `candidates`."""

    def __init__(self, requested: str, candidates: Iterable[object]) -> None:
        self.requested, self.candidates = requested, tuple(map(str, candidates))
        super().__init__(requested, self.candidates)

    def _message(self) -> str:
        found = "; ".join(self.candidates)
        return f"find {self.requested}: several match: {found} (give group and version)"


def failed_groups(error: BaseException | None) -> dict[GroupVersion, Exception]:
    """The failures of a `GroupDiscoveryFailed`, also if it is a cause of `error`; else empty."""
    while error is not None:
        if isinstance(error, GroupDiscoveryFailed):
            return dict(error.failures)
        error = error.__cause__
    return {}


def _by_text(failures: Mapping[GroupVersion, Exception]) -> list[tuple[str, str]]:
    return [(str(version), str(cause)) for version, cause in failures.items()]
