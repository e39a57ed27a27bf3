"""The representation of objects in a response: whole, metadata only, or as a Table.

Guarantees: an object in its storage version is sent with its stored bytes; representations with
the same `cache_key` encode an object identically, so that watches can share the bytes.
See also: which representation a request accepts (`negotiation`), the Table (`tables`).
"""

from __future__ import annotations

from typing import Final, Literal, final

from ..registry import ServedResource
from ..storage.store import Entry, Object, encoded

__all__ = ["PARTIAL", "TABLE", "Representation", "head_of", "to_served_version"]

PARTIAL: Final = "PartialObjectMetadata"
TABLE: Final = "Table"
_META = "meta.k8s.io/v1"


def head_of(api_version: str, kind: str) -> bytes:
    """The start of an object's JSON, which a stored `Entry.tail` continues."""
    return b'{"kind":%s,"apiVersion":%s,' % (encoded(kind), encoded(api_version))


def to_served_version(served: ServedResource, obj: Object) -> Object:
    """Convert a stored object to the version of `served`."""
    if _has_stored_schema(served):
        return {**obj, "kind": served.kind, "apiVersion": served.api_version}
    if served.custom is not None:
        pruned, _ = served.custom.schema.prune({**obj, "apiVersion": served.api_version})
        found: Object = served.custom.schema.default(pruned)
        return found
    from ..builtin.conversion import convert

    converted = convert(obj, served.group, served.kind, served.version)
    return {**converted, "kind": served.kind, "apiVersion": served.api_version}


def _has_stored_schema(served: ServedResource) -> bool:
    """Whether the served version has the schema of the storage version."""
    if (served.group, served.plural) != served.storage:
        return False
    if served.version == served.storage_version:
        return True
    if served.custom is not None:
        return False
    return (served.group, served.plural) not in _CONVERTED


# The built-in resources whose versions have different schemas.
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
class Representation:
    """How the objects of one resource are encoded for a client."""

    def __init__(
        self,
        served: ServedResource,
        *,
        kind: Literal["", "PartialObjectMetadata", "Table"] = "",
        include: str = "Metadata",
        version: str = "v1",
    ) -> None:
        self.served = served
        self.kind = kind
        self.include = include
        self._meta = f"meta.k8s.io/{version}"  # the group version of Table and metadata only
        self._uses_stored_bytes = not kind and _has_stored_schema(served)
        self.cache_key = (served.group, served.version, served.plural, kind, include, version)
        own = (self._meta, PARTIAL) if kind == PARTIAL else (served.api_version, served.kind)
        self._head = head_of(*own)

    def encode_object(self, entry: Entry) -> bytes:
        """One object, as the body of a response or in a watch event."""
        if self._uses_stored_bytes:
            return self._head + entry.tail
        return encoded(self._represent(entry.obj))

    def _represent(self, obj: Object) -> Object:
        if self.kind == PARTIAL:
            return {"kind": PARTIAL, "apiVersion": self._meta, "metadata": obj.get("metadata", {})}
        if self.kind == TABLE:
            return self.table([obj], columns=True)
        return to_served_version(self.served, obj)

    def _encode_items(self, entries: list[Entry]) -> bytes:
        """The content of `items` of a list."""
        if self._uses_stored_bytes and self.served.custom is None:
            # As in kube-apiserver, items of built-in kinds have no kind and apiVersion.
            return b"{" + b",{".join([entry.tail for entry in entries]) if entries else b""
        if self._uses_stored_bytes:
            head = self._head
            return b",".join([head + entry.tail for entry in entries])
        return b",".join([encoded(self._item(entry.obj)) for entry in entries])

    def encode_list(self, entries: list[Entry], metadata: Object) -> bytes:
        """The body of a list."""
        if self.kind == TABLE:
            table = self.table([entry.obj for entry in entries], columns=True)
            return encoded({**table, "metadata": metadata})
        if self.kind == PARTIAL:
            kind, api_version = f"{PARTIAL}List", self._meta
        else:
            kind, api_version = self.served.list_kind, self.served.api_version
            if self.served.custom is not None:
                # Lists of custom objects have no Go type, and so no omitempty.
                metadata = {"continue": "", **metadata}
        start = head_of(api_version, kind) + b'"metadata":' + encoded(metadata)
        if self.kind == PARTIAL and not entries:
            return start + b',"items":null}'  # a nil slice in Go, as asPartialObjectMetadataList
        return start + b',"items":[' + self._encode_items(entries) + b"]}"

    def table(self, objs: list[Object], *, columns: bool) -> Object:
        from .tables import table

        rows = [to_served_version(self.served, obj) for obj in objs]
        found: Object = table(self.served, rows, include=self.include, columns=columns)
        return found if self._meta == _META else self._in_own_version(found)

    def _in_own_version(self, found: Object) -> Object:
        """A Table of v1, with the metadata-only objects in it, in another version."""
        rows = found["rows"]
        if self.include == "Metadata":
            rows = [{**row, "object": {**row["object"], "apiVersion": self._meta}} for row in rows]
        return {**found, "apiVersion": self._meta, "rows": rows}

    def encode_bookmark(self, version: int, *, annotations: dict[str, str] | None = None) -> bytes:
        """The object of a bookmark: of the watched kind, with a resource version only."""
        meta: Object = {"resourceVersion": str(version)}
        if annotations:
            meta["annotations"] = annotations
        if self.kind == TABLE:
            return encoded({**self.table([], columns=False), "metadata": meta})
        return self._head + b'"metadata":' + encoded(meta) + b"}"

    def _item(self, obj: Object) -> Object:
        # As in `_encode_items`, only custom kinds keep kind and apiVersion.
        value = self._represent(obj)
        if self.kind or self.served.custom is not None:
            return value
        return {k: v for k, v in value.items() if k not in {"kind", "apiVersion"}}
