"""Prunes, defaults and validates objects by the schema of a CustomResourceDefinition.

Guarantees: pure; results share unchanged parts with the arguments; pruning and defaulting are
idempotent. Messages are kube-apiserver's.
Not implemented: CEL rules (`x-kubernetes-validations`) are never evaluated (`crd_warnings`).
See also: the compiled schema (`schema_nodes`), validation of values (`schema_validation`),
validation of the schema itself (`crd_schemas`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, final

from kubeloop.meta import (
    GroupVersion,
    problems_of_dns_1035_label,
    problems_of_label_key,
    problems_of_label_value,
)
from kubeloop.wire import NO_FACTS, FieldFacts, InvalidArgument, TypeFacts, facts_of
from kubeloop.wire.meta.v1 import ObjectMeta

from ..statuses import Cause, bad_request
from ..values import causes
from ..values.json_values import go_numbers, json_equal
from ..values.unknown_fields import check_types
from .schema_nodes import ABSENT, META_FIELDS, Node
from .schema_validation import problems_of

__all__ = ["Schema", "SchemaFacts", "embedded_problems"]

# Problems that keep the API server from evaluating CEL rules.
_BLOCKING: Final = frozenset(
    {
        "FieldValueNotSupported",
        "FieldValueRequired",
        "FieldValueTooLong",
        "FieldValueTooMany",
        "FieldValueTypeInvalid",
    }
)
_UNCHECKED: Final = causes.invalid(
    "<nil>",
    None,
    "some validation rules were not checked because the object was invalid; correct the "
    "existing errors to complete validation",
)


@final
class Schema:
    """The schema of one version of a custom kind; without one everything is valid."""

    def __init__(self, raw: Mapping[str, Any] | None) -> None:
        self.raw: dict[str, Any] = dict(raw or {"x-kubernetes-preserve-unknown-fields": True})
        self.root: Node = Node(self.raw)
        # The root is treated as an embedded resource, without x-kubernetes-embedded-resource.
        self.root.embedded = True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and json_equal(self.raw, other.raw)

    def __hash__(self) -> int:
        return hash(causes.as_json(self.raw))

    @functools.cached_property
    def facts(self) -> TypeFacts:
        """The merge rules of the fields, for patches and server-side apply."""
        return SchemaFacts(self.root)

    def prune(self, obj: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """`obj` without fields that the schema does not have, and the paths of those.

        Raises:
            StatusError: metadata, here or in an embedded resource, cannot be decoded, or the object
                is nested too deeply (400).
        """
        unknown: list[str] = []
        try:
            obj = go_numbers(obj)
            pruned = _coerce_meta(self.root, obj, "", unknown)
            pruned = _prune(self.root, pruned, "", unknown)
        except RecursionError:
            raise bad_request("json: exceeded max depth") from None
        return pruned, sorted(unknown)

    def coerce(self, obj: dict[str, Any]) -> dict[str, Any]:
        """`obj` without what the schema does not allow: unknown fields, and nulls without a
        default. Its metadata is not touched."""
        pruned: dict[str, Any] = _without_nulls(self.root, _prune(self.root, obj, "", []))
        return pruned

    def read(self, stored: dict[str, Any]) -> dict[str, Any]:
        """A stored object as it is read: pruned and with defaults. The same object if it has
        all defaults and no other fields."""
        return self.default(self.coerce(stored))

    def default(self, obj: dict[str, Any]) -> dict[str, Any]:
        """`obj` with the schema's defaults for missing fields and for nulls that are not
        allowed."""
        result: dict[str, Any] = _default(self.root, obj)
        return result

    def without_nulls(self, obj: dict[str, Any]) -> dict[str, Any]:
        """`obj` without nulls that are not allowed and have no default."""
        result: dict[str, Any] = _without_nulls(self.root, obj)
        return result

    def validate(
        self, obj: dict[str, Any], old: dict[str, Any] | None = None, *, subresource: str = ""
    ) -> list[Cause]:
        """What is wrong with `obj`; parts that are unchanged since `old` are accepted.

        With `subresource="status"` only the status is validated.

        Raises:
            StatusError: the object is nested too deeply (400).
        """
        try:
            return self._problems(obj, old, subresource)
        except RecursionError:
            raise bad_request("json: exceeded max depth") from None

    def _problems(
        self, obj: dict[str, Any], old: dict[str, Any] | None, subresource: str
    ) -> list[Cause]:
        before = ABSENT if old is None else old
        found = list(
            self._problems_of_status(obj, old or {})
            if subresource == "status"
            else problems_of(self.root, obj, before)
        )
        found += embedded_problems(self.root, obj, "", root=True)
        # An object whose stored lists already have duplicates may keep them.
        if old is None or not list(_list_problems(self.root, old, "")):
            found += _list_problems(self.root, obj, "")
        if self._has_rules and any(each.reason in _BLOCKING for each in found):
            found.append(_UNCHECKED)
        return found

    @functools.cached_property
    def _has_rules(self) -> bool:
        return any(node.has_rules for node in _walk(self.root))

    def _problems_of_status(self, obj: dict[str, Any], old: dict[str, Any]) -> list[Cause]:
        node = self.root.properties.get("status")
        if node is None or "status" not in obj:
            return []
        return problems_of(node, obj["status"], old.get("status", ABSENT), under="status")


@final
class SchemaFacts:
    """The merge rules of the fields of one object in a schema."""

    def __init__(self, node: Node) -> None:
        self._node = node

    def field(self, name: str) -> FieldFacts:
        """The merge rules of a field; an unknown one has none."""
        if name == "metadata" and self._node.embedded:
            return NO_FACTS
        child = self._node.child(name)
        return _field_facts(child) if child is not None else NO_FACTS

    def inside(self, name: str) -> TypeFacts | None:
        """The merge rules of the fields inside a field; None if the schema has none."""
        if name == "metadata" and self._node.embedded:
            return facts_of(ObjectMeta)
        child = self._node.child(name)
        return _type_facts(child) if child is not None else None


def _field_facts(node: Node) -> FieldFacts:
    return FieldFacts(
        list_type=node.list_type,  # type: ignore[arg-type]  # one of the words, by validation
        list_map_keys=node.list_map_keys,
        map_type=node.map_type,  # type: ignore[arg-type]  # one of the words, by validation
    )


def _type_facts(node: Node) -> TypeFacts | None:
    if node.items is not None:
        return _type_facts(node.items)
    if node.properties or node.embedded:
        return SchemaFacts(node)
    return _type_facts(node.additional) if node.additional is not None else None


def _walk(node: Node) -> Iterator[Node]:
    yield node
    below = [node.items, node.additional, *node.properties.values()]
    for child in below:
        if child is not None:
            yield from _walk(child)


# --- walking an object and its schema


def _map_children(node: Node, value: Any, change: Callable[[Node | None, Any, str], Any]) -> Any:
    """`value` with each child replaced by `change(schema, item, step)`; the same value if no
    child changed."""
    if isinstance(value, dict):
        new = {key: change(node.child(key), item, key) for key, item in value.items()}
        return value if all(new[key] is item for key, item in value.items()) else new
    if isinstance(value, list):
        items = [change(node.items, item, f"[{i}]") for i, item in enumerate(value)]
        is_same = all(left is right for left, right in zip(items, value, strict=True))
        return value if is_same else items
    return value


def _below(path: str, step: str) -> str:
    return f"{path}{step}" if step.startswith("[") or not path else f"{path}.{step}"


# --- pruning


def _coerce_meta(node: Node | None, value: Any, path: str, unknown: list[str]) -> Any:
    """`value` with the metadata of the root and of embedded resources decoded as ObjectMeta."""
    if node is None:
        return value

    def child(below: Node | None, item: Any, step: str) -> Any:
        if node.embedded and step in META_FIELDS:
            return _coerce_meta_field(step, item, path, unknown)
        return _coerce_meta(below, item, _below(path, step), unknown)

    return _map_children(node, value, child)


def _coerce_meta_field(name: str, value: Any, path: str, unknown: list[str]) -> Any:
    where = _below(path, name)
    if name != "metadata":
        if not isinstance(value, str):
            raise bad_request(_cause_text(causes.invalid(where, value, "must be a string")))
        return value
    if value is None:
        return {}
    checked = check_types("meta/v1.ObjectMeta", value)
    if checked.problems:
        raise bad_request(_cause_text(causes.invalid(where, value, checked.problems[0])))
    unknown += [f"{where}.{each}" for each in checked.unknown]
    return checked.object


def _cause_text(cause: Cause) -> str:
    return f"{cause.field}: {cause.message}"


def _prune(
    node: Node | None, value: Any, path: str, unknown: list[str], *, preserve: bool = False
) -> Any:
    """`value` without the keys that the schema does not have.

    With `preserve` unknown keys stay, as in a list that preserves them.
    """
    preserve = preserve or (node is not None and node.preserve)
    if isinstance(value, dict):
        pruned = set() if preserve else _unknown_keys(node, value)
        unknown += [_below(path, key) for key in pruned]
        value = {k: item for k, item in value.items() if k not in pruned} if pruned else value

    def child(below: Node | None, item: Any, step: str) -> Any:
        if node is not None and node.embedded and step in META_FIELDS:
            return item
        if below is None and preserve:
            return item  # no schema, and unknown fields are preserved
        # As in kube-apiserver, a list passes the setting on to its items, an object does not.
        inherited = preserve and isinstance(value, list)
        return _prune(below, item, _below(path, step), unknown, preserve=inherited)

    return _map_children(node or _EMPTY, value, child)


_EMPTY: Final = Node({})


def _unknown_keys(node: Node | None, value: dict[str, Any]) -> set[str]:
    # apiVersion, kind and metadata are implicit in every resource.
    if node is None:
        return set(value)
    own = META_FIELDS if node.embedded else frozenset[str]()
    return {key for key in value if node.child(key) is None and key not in own}


# --- defaulting


def _without_nulls(node: Node | None, value: Any) -> Any:
    """`value` without nulls in fields that are not nullable and have no default."""
    if node is None:
        return value
    if isinstance(value, dict):
        nulls = {key for key, item in value.items() if _is_dropped_null(node.child(key), item)}
        value = {k: item for k, item in value.items() if k not in nulls} if nulls else value
    return _map_children(node, value, lambda below, item, _: _without_nulls(below, item))


def _is_dropped_null(node: Node | None, value: Any) -> bool:
    if value is not None or node is None:
        return False
    return not node.nullable and node.default is ABSENT


def _default(node: Node | None, value: Any) -> Any:
    if node is None:
        return value
    if isinstance(value, dict):
        missing = {
            name: child.default
            for name, child in node.properties.items()
            if child.default is not ABSENT and _is_missing(child, value.get(name, ABSENT))
        }
        value = {**value, **missing} if missing else value
    return _map_children(node, value, lambda below, item, _: _default_item(below, item))


def _default_item(node: Node | None, value: Any) -> Any:
    if node is not None and value is None and not node.nullable and node.default is not ABSENT:
        value = node.default
    return _default(node, value)


def _is_missing(node: Node, value: Any) -> bool:
    # A null that is not allowed gets the default, as a missing field does.
    return value is ABSENT or (value is None and not node.nullable)


# --- lists that are sets or maps


def _list_problems(node: Node | None, value: Any, path: str) -> Iterator[Cause]:
    if node is None:
        return
    if isinstance(value, dict):
        for key, item in value.items():
            is_property = key in node.properties
            below = _below(path, key) if is_property else f"{path}[{key}]"
            yield from _list_problems(node.child(key), item, below)
    elif isinstance(value, list):
        yield from _duplicates(node, value, path)
        for index, item in enumerate(value):
            yield from _list_problems(node.items, item, f"{path}[{index}]")


def _duplicates(node: Node, items: list[Any], path: str) -> Iterator[Cause]:
    # `ValidateListSetsAndMaps` of apiextensions.
    if node.list_type == "map":
        strays = [i for i, each in enumerate(items) if not isinstance(each, dict | None)]
        if strays:
            where = f"{path}[{strays[0]}]"
            rule = "must be an object for an array of list-type map"
            yield causes.invalid(where, items[strays[0]], rule)
            return
        items = [_keys_of(node, each or {}) for each in items]
    if node.list_type in {"set", "map"}:
        seen: dict[str, int] = {}
        for index, item in enumerate(items):
            key = causes.as_json(item)
            seen[key] = seen.get(key, 0) + 1
            if seen[key] == 2:  # reported once, at the second one
                yield causes.duplicate(f"{path}[{index}]", item)


def _keys_of(node: Node, item: dict[str, Any]) -> dict[str, Any]:
    return {key: item[key] for key in node.list_map_keys if key in item}


# --- embedded resources


def embedded_problems(
    node: Node | None, value: Any, path: str, *, root: bool = False
) -> Iterator[Cause]:
    """What is wrong with the kinds and names of embedded resources."""
    if node is None:
        return
    if isinstance(value, dict):
        if node.embedded and not root:
            yield from _resource_problems(value, path)
        for key, item in value.items():
            if not (node.embedded and key in META_FIELDS):
                yield from embedded_problems(node.child(key), item, _below(path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from embedded_problems(node.items, item, f"{path}[{index}]")


def _resource_problems(value: dict[str, Any], path: str) -> Iterator[Cause]:
    # `objectmeta.Validate` of apiextensions.
    for name in ("apiVersion", "kind"):
        where, text = _below(path, name), value.get(name)
        if name not in value:
            yield causes.required(where)
        elif not isinstance(text, str):
            yield causes.invalid(where, text, "must be a string")
        elif not text:
            yield causes.invalid(where, text, "must not be empty")
        else:
            yield from _kind_problems(name, text, where)
    yield from _embedded_metadata_problems(value.get("metadata"), _below(path, "metadata"))


def _embedded_metadata_problems(metadata: Any, path: str) -> Iterator[Cause]:
    """Labels and name of an embedded resource; its name is only a segment of a path."""
    if not isinstance(metadata, dict):
        return
    name = metadata.get("name") or ""
    if name in {".", ".."} or "/" in name or "%" in name:
        yield causes.invalid(f"{path}.name", name, "may not be a path, or contain '/' or '%'")
    for key, value in (metadata.get("labels") or {}).items():
        for problem in problems_of_label_key(key):
            yield causes.invalid(f"{path}.labels", key, problem)
        for problem in problems_of_label_value(value):
            yield causes.invalid(f"{path}.labels", value, problem)
    for key in metadata.get("annotations") or {}:
        for problem in problems_of_label_key(key.lower()):
            yield causes.invalid(f"{path}.annotations", key, problem)


def _kind_problems(name: str, text: str, where: str) -> Iterator[Cause]:
    if name == "apiVersion":
        try:
            GroupVersion.parse(text)
        except InvalidArgument:
            yield causes.invalid(where, text, f"unexpected GroupVersion string: {text}")
        return
    problems = problems_of_dns_1035_label(text.lower())
    if problems:
        rule = f"may have mixed case, but should otherwise match: {','.join(problems)}"
        yield causes.invalid(where, text, rule)
