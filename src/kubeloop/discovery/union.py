"""Several mappers as one, for resources that come from more than one place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar, final

from kubeloop.errors import KubeError
from kubeloop.meta import GroupKind, GroupVersionKind, GroupVersionResource
from kubeloop.wire import ResourceInfo

from .errors import NoMatch

__all__ = ["Mapper", "MapperErrors", "UnionMapper"]

T = TypeVar("T")


class Mapper(Protocol):
    """The lookups that give every candidate."""

    def resources_for(self, wanted: GroupVersionResource) -> list[GroupVersionResource]: ...
    def kinds_for(self, wanted: GroupVersionResource) -> list[GroupVersionKind]: ...
    def mappings(self, kind: GroupKind, *versions: str) -> list[ResourceInfo]: ...


@final
class MapperErrors(KubeError):
    """Some mappers failed; what the others gave is in `found`."""

    def __init__(self, errors: Sequence[Exception], found: Sequence[object]) -> None:
        super().__init__(errors, found)
        self.errors, self.found = tuple(errors), tuple(found)

    def _message(self) -> str:
        return f"look up in several mappers: {'; '.join(map(str, self.errors))}"


@final
class UnionMapper:
    """Asks every mapper; one that knows nothing does not matter while another does."""

    def __init__(self, *mappers: Mapper) -> None:
        self._mappers = mappers

    def resources_for(self, wanted: GroupVersionResource) -> list[GroupVersionResource]:
        """Every resource that fits, each once. Raises: NoResourceMatch, MapperErrors."""
        return self._together(lambda mapper: mapper.resources_for(wanted))

    def kinds_for(self, wanted: GroupVersionResource) -> list[GroupVersionKind]:
        """The kinds of all that fits, each once. Raises: NoResourceMatch, MapperErrors."""
        return self._together(lambda mapper: mapper.kinds_for(wanted))

    def mappings(self, kind: GroupKind, *versions: str) -> list[ResourceInfo]:
        """The resources of a kind, each once. Raises: NoKindMatch, MapperErrors."""
        return self._together(lambda mapper: mapper.mappings(kind, *versions))

    def _together(self, ask: Callable[[Mapper], list[T]]) -> list[T]:
        found: list[T] = []
        misses: list[NoMatch] = []
        errors: list[Exception] = []
        for mapper in self._mappers:
            try:
                found += [each for each in ask(mapper) if each not in found]
            except NoMatch as error:
                misses.append(error)
            except KubeError as error:
                errors.append(error)
        if errors:
            raise MapperErrors(errors, found)
        if not found and misses:
            raise misses[0]
        return found
