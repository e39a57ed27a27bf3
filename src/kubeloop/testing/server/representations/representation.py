"""How an object is shown: in its version, as its metadata only, or as a row of a Table.

Promises: an object shown in the version it is stored in is sent with its stored bytes;
a form is a value, so what is rendered once is shared by all who see the same form.
Elsewhere: which form a request asks for (`negotiation`), a Table's columns (`tables`).
"""

from __future__ import annotations

from typing import Final, Literal, final

from ..registry import Served
from ..storage.store import Entry, Object, encoded

__all__ = ["PARTIAL", "TABLE", "Form", "head_of", "shown"]

PARTIAL: Final = "PartialObjectMetadata"
TABLE: Final = "Table"
_META = "meta.k8s.io/v1"


def head_of(api_version: str, kind: str) -> bytes:
    """The opening of an object's JSON, up to where a stored tail goes on."""
    return b'{"kind":%s,"apiVersion":%s,' % (encoded(kind), encoded(api_version))


def shown(served: Served, obj: Object) -> Object:
    """A stored object in the version of `served`."""
    if _same_but_name(served):
        return {**obj, "kind": served.kind, "apiVersion": served.api_version}
    if served.custom is not None:
        pruned, _ = served.custom.schema.prune({**obj, "apiVersion": served.api_version})
        found: Object = served.custom.schema.default(pruned)
        return found
    from ..builtin.conversion import convert

    converted = convert(obj, served.group, served.kind, served.version)
    return {**converted, "kind": served.kind, "apiVersion": served.api_version}


def _same_but_name(served: Served) -> bool:
    """Whether the version that is served differs from the stored one in its name at most."""
    if (served.group, served.plural) != served.storage:
        return False
    if served.version == served.storage_version:
        return True
    if served.custom is not None:
        return False
    return (served.group, served.plural) not in _CONVERTED


# The built-in collections whose versions differ in more than their names.
_CONVERTED = frozenset(
    {
        ("autoscaling", "horizontalpodautoscalers"),
        ("resource.k8s.io", "resourceclaims"),
        ("resource.k8s.io", "resourceclaimtemplates"),
        ("resource.k8s.io", "resourceslices"),
        ("resource.k8s.io", "deviceclasses"),
    }
)


@final
class Form:
    """One way to show the objects of one resource."""

    def __init__(
        self,
        served: Served,
        *,
        kind: Literal["", "PartialObjectMetadata", "Table"] = "",
        include: str = "Metadata",
    ) -> None:
        self.served = served
        self.kind = kind
        self.include = include
        self.plain = not kind and _same_but_name(served)
        self.identity = (served.group, served.version, served.plural, kind, include)
        self._head = (
            head_of(_META, PARTIAL) if kind == PARTIAL else head_of(served.api_version, served.kind)
        )

    def whole(self, entry: Entry) -> bytes:
        """The object as the whole body of an answer, or as the object of an event."""
        if self.plain:
            return self._head + entry.tail
        return encoded(self.value(entry.obj))

    def value(self, obj: Object) -> Object:
        """The object in this form, as a value."""
        if self.kind == PARTIAL:
            return {"kind": PARTIAL, "apiVersion": _META, "metadata": obj.get("metadata", {})}
        if self.kind == TABLE:
            return self.table([obj], columns=True)
        return shown(self.served, obj)

    def items(self, entries: list[Entry]) -> bytes:
        """The objects as the elements of a list's `items`, comma between."""
        if self.plain and self.served.custom is None:
            # Items of built-in kinds come without kind and apiVersion.
            return b"{" + b",{".join([entry.tail for entry in entries]) if entries else b""
        if self.plain:
            head = self._head
            return b",".join([head + entry.tail for entry in entries])
        return b",".join([encoded(self._item(entry.obj)) for entry in entries])

    def list_of(self, entries: list[Entry], metadata: Object) -> bytes:
        """The whole body of a list."""
        if self.kind == TABLE:
            table = self.table([entry.obj for entry in entries], columns=True)
            return encoded({**table, "metadata": metadata})
        if self.kind == PARTIAL:
            kind, api_version = f"{PARTIAL}List", _META
        else:
            kind, api_version = self.served.list_kind, self.served.api_version
        opening = head_of(api_version, kind) + b'"metadata":' + encoded(metadata)
        return opening + b',"items":[' + self.items(entries) + b"]}"

    def table(self, objs: list[Object], *, columns: bool) -> Object:
        from .tables import table

        rows = [shown(self.served, obj) for obj in objs]
        found: Object = table(self.served, rows, include=self.include, columns=columns)
        return found

    def bookmark(self, version: int, *, annotations: dict[str, str] | None = None) -> bytes:
        """The object of a bookmark: of the watched kind, with a version and no more."""
        meta: Object = {"resourceVersion": str(version)}
        if annotations:
            meta["annotations"] = annotations
        if self.kind == TABLE:
            return encoded({**self.table([], columns=False), "metadata": meta})
        return self._head + b'"metadata":' + encoded(meta) + b"}"

    def _item(self, obj: Object) -> Object:
        value = self.value(obj)
        if self.kind or self.served.custom is not None:
            return value
        return {k: v for k, v in value.items() if k not in {"kind", "apiVersion"}}
