"""What discovery and mapping can fail with, under the one root.

    KubeError
    ├── GroupDiscoveryFailed     some group versions did not answer; the others are in `found`
    ├── StaleGroupVersion        the server says that it cannot vouch for a group version now
    ├── EmptyGroupVersion        a group version answered, and has no resources
    ├── NotInCache               a cache of discovery has no such group version
    └── NoMatch                  nothing served fits a kind or a resource
        ├── NoKindMatch
        ├── NoResourceMatch
        └── AmbiguousMatch       several fit, and nothing says which

Elsewhere: errors of single requests (`kubeloop.errors`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, final

from kubeloop.errors import KubeError
from kubeloop.meta import GroupVersion

if TYPE_CHECKING:
    from .groups import Discovered

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
    """Some group versions could not be discovered: `failures`. What could be is in `found`."""

    def __init__(self, failures: Mapping[GroupVersion, Exception], found: Discovered) -> None:
        super().__init__(failures, found)
        self.failures = dict(failures)
        self.found = found

    def _message(self) -> str:
        named = (f"{version}: {cause}" for version, cause in sorted(_by_text(self.failures)))
        return f"discover the server's resources: some groups failed: {', '.join(named)}"


@final
class StaleGroupVersion(KubeError):
    """The server lists a group version, and says that what it knows of it is stale."""

    def __init__(self, version: GroupVersion) -> None:
        super().__init__(version)
        self.version = version

    def _message(self) -> str:
        return f"discover {self.version}: the server's knowledge of it is stale (try again later)"


@final
class EmptyGroupVersion(KubeError):
    """A group version is served without any resource."""

    def __init__(self, version: GroupVersion) -> None:
        super().__init__(version)
        self.version = version

    def _message(self) -> str:
        return f"discover {self.version}: the server names no resource in it"


@final
class NotInCache(KubeError):
    """What was discovered last does not have this group version."""

    def __init__(self, version: GroupVersion) -> None:
        super().__init__(version)
        self.version = version

    def _message(self) -> str:
        return f"discover {self.version}: not found (invalidate the cache when it may be new)"


class NoMatch(KubeError):
    """Nothing that the server serves fits."""


@final
class NoKindMatch(NoMatch):
    """No resource is of this kind, in any version that was asked for."""

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
    """Several resources or kinds fit; `candidates` are their texts."""

    def __init__(self, wanted: str, candidates: Iterable[object]) -> None:
        self.wanted, self.candidates = wanted, tuple(map(str, candidates))
        super().__init__(wanted, self.candidates)

    def _message(self) -> str:
        found = "; ".join(self.candidates)
        return f"find {self.wanted}: several fit: {found} (name the group and the version)"


def failed_groups(error: BaseException | None) -> dict[GroupVersion, Exception]:
    """What failed in discovery, also when the error wraps the one that says so; else empty."""
    while error is not None:
        if isinstance(error, GroupDiscoveryFailed):
            return dict(error.failures)
        error = error.__cause__
    return {}


def _by_text(failures: Mapping[GroupVersion, Exception]) -> list[tuple[str, str]]:
    return [(str(version), str(cause)) for version, cause in failures.items()]
