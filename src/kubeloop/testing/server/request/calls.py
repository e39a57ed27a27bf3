"""A write as it is asked for, as it is judged, and as it went: values and a contract.

Elsewhere: writing itself (`writing`), who judges (`gate`).
"""

from __future__ import annotations

from typing import Any, Protocol, final

import msgspec

from ..registry import Served
from ..storage.store import Entry, Object, key_of
from .options import WriteOptions, manager_of

__all__ = ["Admission", "Call", "Written"]


@final
class Call(msgspec.Struct, frozen=True):
    """What all writes have in common: the place, and who asks for what."""

    served: Served
    namespace: str = ""
    name: str = ""
    part: str = ""  # the subresource; empty for the object itself
    options: WriteOptions = WriteOptions()
    agent: str = ""
    user: Any = None

    @property
    def key(self) -> str:
        return key_of(self.namespace if self.served.namespaced else "", self.name)

    @property
    def manager(self) -> str:
        return manager_of(self.options, self.agent)


@final
class Written(msgspec.Struct, frozen=True):
    """What a write left behind; with a dry run, what it would have."""

    entry: Entry
    code: int = 200
    warnings: tuple[str, ...] = ()


class Admission(Protocol):
    """Who may change or refuse a write before it is made; the namespace's state first."""

    def check(self, call: Call, operation: str) -> None:
        """Decide what can be decided without waiting. Raises `Refusal`."""
        ...

    def guard(self, call: Call, obj: Object, old: Object | None) -> None:
        """Decide by what is written, without waiting. Raises `Refusal`."""
        ...

    def applies(self, call: Call, operation: str) -> bool:
        """Whether any webhook wants to be asked."""
        ...

    async def mutate(
        self, call: Call, operation: str, obj: Object | None, old: Object | None
    ) -> tuple[Object | None, list[str]]: ...

    async def validate(
        self, call: Call, operation: str, obj: Object | None, old: Object | None
    ) -> list[str]: ...
