"""What a block or a function changed in an object, and how it fits a newer version of it.

Guarantees: pure; the difference that is sent says nothing about fields that were not
changed; a change is brought into a newer object only where no one else changed the same
field, whatever the values.
See also: reading and sending (`resource`), which changes overlap (`three_way`), the patches
themselves (`kubeloop.patches`).
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

from .three_way import merge_changes

__all__ = [
    "Change",
    "carried_over",
    "change_between",
    "ignored_fields",
    "merge_rules",
    "merged_into",
    "metadata_text",
    "recreated",
]

Json = dict[str, Any]

# What the server alone writes, with every change of any writer.
_SERVERS_OWN = ("resourceVersion", "managedFields", "generation")
_MOST_NAMED = 8  # fields in one message


class Change(msgspec.Struct, frozen=True):
    """A patch, and the format it is in."""

    patch: Json
    content_type: str

    def under(self, version: str, uid: str = "") -> Json:
        """The patch for an object that must still be this one, at `version`."""
        precondition = {"uid": uid} if uid else {}
        changed = self.patch.get("metadata") or {}
        metadata = {**precondition, **changed, "resourceVersion": version}
        return {**self.patch, "metadata": metadata}


def change_between(before: Json, after: Json, facts: TypeFacts | None) -> Change | None:
    """What makes `before` into `after`; None when nothing does.

    Built-in kinds (those with `facts`) get a strategic patch, which names only the elements
    of a list that changed; all others a merge patch.
    """
    old, new = _tidy(before), _tidy(after)
    if facts is not None:
        try:
            patch = strategic_patch_between(old, new, facts)
        except PatchError:
            # A key that reads as a directive, or an element without its merge key. A merge
            # patch can say it, and is as safe: the version in it rules out other writers.
            pass
        else:
            return Change(patch, STRATEGIC_MERGE_PATCH) if patch else None
    patch = merge_patch_between(old, new)
    return Change(patch, MERGE_PATCH) if patch else None


def carried_over(
    before: Json, after: Json, now: Json, rules: TypeFacts | None, *, what: GroupResource
) -> Json:
    """The newer object `now` with the change from `before` to `after` made in it.

    Raises:
        Conflict: both changed the same field; it names the field, also in `causes`.
    """
    merged = merge_changes(_tidy(before), _tidy(after), _tidy(now), rules)
    if merged.overlaps:
        raise _overlap(merged.overlaps, now, what)
    return merged.document


def merged_into(document: Json, patch: Json, facts: TypeFacts | None) -> Json:
    """The document with a patch in it, by the rules of its kind."""
    if facts is None:
        merged = apply_merge_patch(document, patch)
        assert isinstance(merged, dict)
        return merged
    return apply_strategic_patch(document, patch, facts)


def merge_rules(document: Json, known: TypeFacts | None) -> TypeFacts:
    """Which elements and fields of a document can be changed independently.

    Those of its class, of the built-in kind that it says it is, or of its metadata alone:
    then any other list is one value.
    """
    if known is not None:
        return known
    group, _, version = str(document.get("apiVersion") or "").rpartition("/")
    found = class_for(group, version, str(document.get("kind") or ""))
    return _MetadataRules() if found is None else facts_of(found)


class _MetadataRules:
    """The rules of a kind of which only the metadata is known."""

    def field(self, name: str) -> FieldFacts:  # noqa: ARG002 - nothing is known of any
        return NO_FACTS

    def inside(self, name: str) -> TypeFacts | None:
        return facts_of(ObjectMeta) if name == "metadata" else None


def ignored_fields(change: Change, *, part: str, has_status: bool) -> list[str]:
    """What a server would leave out of a change without saying so.

    Where the status has an address of its own, it is written there, and nothing else is.
    """
    if part == "status":
        return sorted(change.patch.keys() - {"apiVersion", "kind", "metadata", "status"})
    return ["status"] if has_status and not part and "status" in change.patch else []


def recreated(now: Json, what: GroupResource) -> Conflict:
    """The error for an object that has the name of the one that was read, and is another."""
    return _conflict(
        "it was deleted since it was read, and another created in its place", now, what
    )


def metadata_text(data: Json, key: str) -> str:
    """A value of the object's metadata as text; empty where there is none."""
    metadata = data.get("metadata")
    return str(metadata.get(key) or "") if isinstance(metadata, dict) else ""


def _tidy(document: Json) -> Json:
    metadata = document.get("metadata")
    if not isinstance(metadata, dict):
        return document
    kept = {key: value for key, value in metadata.items() if key not in _SERVERS_OWN}
    return {**document, "metadata": kept}


def _overlap(fields: tuple[str, ...], now: Json, what: GroupResource) -> Conflict:
    named = ", ".join(fields[:_MOST_NAMED])
    rest = len(fields) - _MOST_NAMED
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
