"""The difference of two states of an object as a patch, and its application to a newer state.

Guarantees: pure; a patch has only the fields that changed; a change is applied to a newer object
only if no other writer changed the same field, to any value.
See also: `writer` (reads and sends), `three_way_merge` (which changes overlap),
`kubeloop.patches` (the patch formats).
"""

from __future__ import annotations

from typing import Any

import msgspec

from kubeloop.errors import Conflict, failure
from kubeloop.meta import GroupResource
from kubeloop.patches import (
    PatchError,
    apply_merge_patch,
    apply_strategic_patch,
    merge_patch_between,
    strategic_patch_between,
)
from kubeloop.rest import MERGE_PATCH, STRATEGIC_MERGE_PATCH
from kubeloop.wire import NO_FACTS, FieldFacts, TypeFacts, class_for, facts_of
from kubeloop.wire.meta.v1 import ObjectMeta, StatusCause

from .three_way_merge import merge_changes

__all__ = [
    "ObjectPatch",
    "ignored_fields",
    "merge_patch_into",
    "merge_rules",
    "metadata_text",
    "patch_between",
    "rebase_change",
    "recreated_error",
]

Json = dict[str, Any]

# The server changes these with every write.
_SERVER_FIELDS = ("resourceVersion", "managedFields", "generation")
_MAX_NAMED = 8  # fields in one message


class ObjectPatch(msgspec.Struct, frozen=True):
    """A patch and its content type."""

    patch: Json
    content_type: str

    def with_precondition(self, version: str, uid: str = "") -> Json:
        """The patch, for an object that still has this version and uid."""
        precondition = {"uid": uid} if uid else {}
        changed = self.patch.get("metadata") or {}
        metadata = {**precondition, **changed, "resourceVersion": version}
        return {**self.patch, "metadata": metadata}


def patch_between(before: Json, after: Json, facts: TypeFacts | None) -> ObjectPatch | None:
    """The patch from `before` to `after`; None if they are equal.

    Built-in kinds (those with `facts`) get a strategic merge patch, which has only the elements
    of a list that changed; all others get a merge patch.
    """
    old, new = _without_server_fields(before), _without_server_fields(after)
    if facts is not None:
        try:
            patch = strategic_patch_between(old, new, facts)
        except PatchError:
            # A key that looks like a directive, or an element without its merge key. A merge
            # patch can express it, and its version excludes other writers as well.
            pass
        else:
            return ObjectPatch(patch, STRATEGIC_MERGE_PATCH) if patch else None
    patch = merge_patch_between(old, new)
    return ObjectPatch(patch, MERGE_PATCH) if patch else None


def rebase_change(
    before: Json, after: Json, now: Json, rules: TypeFacts | None, *, what: GroupResource
) -> Json:
    """The newer object `now` with the change from `before` to `after` applied.

    Raises:
        Conflict: both changed the same field; the message and `causes` name it.
    """
    merged = merge_changes(
        _without_server_fields(before),
        _without_server_fields(after),
        _without_server_fields(now),
        rules,
    )
    if merged.overlaps:
        raise _overlap_error(merged.overlaps, now, what)
    return merged.document


def merge_patch_into(document: Json, patch: Json, facts: TypeFacts | None) -> Json:
    """The document with a patch applied, by the rules of its kind."""
    if facts is None:
        merged = apply_merge_patch(document, patch)
        assert isinstance(merged, dict)
        return merged
    return apply_strategic_patch(document, patch, facts)


def merge_rules(document: Json, known: TypeFacts | None) -> TypeFacts:
    """The rules for independent changes of fields and list elements.

    They come from the class, or from the built-in kind of the document. Without these only the
    metadata has rules, and any other list is one value.
    """
    if known is not None:
        return known
    group, _, version = str(document.get("apiVersion") or "").rpartition("/")
    found = class_for(group, version, str(document.get("kind") or ""))
    return _MetadataFacts() if found is None else facts_of(found)


class _MetadataFacts:
    """The rules of an unknown kind: only those of its metadata."""

    def field(self, name: str) -> FieldFacts:  # noqa: ARG002 - fits TypeFacts
        return NO_FACTS

    def inside(self, name: str) -> TypeFacts | None:
        return facts_of(ObjectMeta) if name == "metadata" else None


def ignored_fields(patch: ObjectPatch, *, subresource: str, has_status: bool) -> list[str]:
    """The fields of a patch that a server ignores without an error.

    If there is a status subresource, only it writes the status, and it writes nothing else.
    """
    if subresource == "status":
        return sorted(patch.patch.keys() - {"apiVersion", "kind", "metadata", "status"})
    return ["status"] if has_status and not subresource and "status" in patch.patch else []


def recreated_error(now: Json, what: GroupResource) -> Conflict:
    """The error for an object with another uid than the one that was read."""
    return _conflict("the object was deleted and created again since it was read", now, what)


def metadata_text(data: Json, key: str) -> str:
    """A value of the object's metadata as text; empty if there is none."""
    metadata = data.get("metadata")
    return str(metadata.get(key) or "") if isinstance(metadata, dict) else ""


def _without_server_fields(document: Json) -> Json:
    metadata = document.get("metadata")
    if not isinstance(metadata, dict):
        return document
    kept = {key: value for key, value in metadata.items() if key not in _SERVER_FIELDS}
    return {**document, "metadata": kept}


def _overlap_error(fields: tuple[str, ...], now: Json, what: GroupResource) -> Conflict:
    named = ", ".join(fields[:_MAX_NAMED])
    rest = len(fields) - _MAX_NAMED
    more = f" and {rest} more" if rest > 0 else ""
    text = f"another writer changed {named}{more} since it was read"
    causes = [
        StatusCause(field=field, reason="FieldValueConflict", message=text) for field in fields
    ]
    return _conflict(text, now, what, causes)


def _conflict(
    text: str, now: Json, what: GroupResource, causes: list[StatusCause] | None = None
) -> Conflict:
    name, namespace = metadata_text(now, "name"), metadata_text(now, "namespace")
    action = f"edit {what.resource}/{name}" + (f" in {namespace}" if namespace else "")
    status = failure("Conflict", text, resource=what, name=name, causes=causes or ())
    return Conflict(action, status)
