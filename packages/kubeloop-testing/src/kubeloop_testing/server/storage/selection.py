"""Which objects a list or a watch selects: by namespace, labels, and selectable fields.

Guarantees: an unknown field and a text that is no selector are rejected; neither ever selects
everything.
See also: `kubeloop.selectors` (the grammar of selectors), the selectable fields (`kinds`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import final

import msgspec

from kubeloop.selectors import FieldSelector, Selector, parse_fields, parse_labels
from kubeloop.wire import InvalidArgument, Json

from ..registry import ServedResource
from ..statuses import bad_request
from .selector_errors import field_selector_error, label_selector_error, without_bare_operators
from .store import Entry, Object

__all__ = ["Selection", "field_paths", "selection"]

_NAMED = ("metadata.name", "metadata.namespace")
_NUMBERS = frozenset({"status.replicas", "status.succeeded"})
_FLAGS = frozenset({"spec.unschedulable", "spec.hostNetwork"})


def field_paths(served: ServedResource) -> dict[str, str]:
    """The selectable fields of a resource, each with its path in the stored object."""
    rules = served.strategy
    names = _NAMED if rules.selects_namespace else _NAMED[:1]
    return {**{name: name for name in names}, **(rules.selectable or {})}


@final
class Selection(msgspec.Struct, frozen=True):
    """The selectors of one list or watch."""

    namespace: str = ""
    labels: Selector | None = None
    fields: FieldSelector | None = None
    paths: Mapping[str, str] = msgspec.field(default_factory=dict)

    @property
    def everything(self) -> bool:
        """Whether every object of the namespace is selected."""
        return self.labels is None and self.fields is None

    def matches(self, entry: Entry) -> bool:
        """Whether an object of the right namespace is selected."""
        meta = entry.obj["metadata"]
        if self.labels is not None and not self.labels.matches(meta.get("labels") or {}):
            return False
        return self.fields is None or self.fields.matches(self._reader(entry.obj))

    def selects(self, entry: Entry) -> bool:
        """Whether an object of any namespace is selected."""
        if self.namespace and entry.obj["metadata"].get("namespace") != self.namespace:
            return False
        return self.everything or self.matches(entry)

    def _reader(self, obj: Object) -> Callable[[str], str]:
        return lambda field: _text_at(obj, self.paths.get(field, field))


def _text_at(obj: Object, path: str) -> str:
    value: Json = obj
    for step in path.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    match value:
        case None:
            # A Go field without a value has its zero value.
            return "0" if path in _NUMBERS else "false" if path in _FLAGS else ""
        case bool():
            return "true" if value else "false"
        case list():
            return ",".join(str(each.get("ip", "")) for each in value if isinstance(each, dict))
    return str(value)


def selection(
    served: ServedResource,
    *,
    namespace: str,
    label_selector: str,
    field_selector: str,
    name: str = "",
) -> Selection:
    """The selection of a request; `name` narrows it to one object.

    Raises:
        StatusError: 400 for a text that is no selector and for fields that are not selectable.
    """
    try:
        labels = parse_labels(label_selector.rstrip("\0"))  # a NUL ends a word
    except InvalidArgument as error:
        raise bad_request(label_selector_error(label_selector) or str(error)) from error
    try:
        fields = parse_fields(without_bare_operators(field_selector))
    except InvalidArgument as error:
        raise bad_request(field_selector_error(field_selector) or str(error)) from error
    paths = field_paths(served)
    for term in fields.terms:
        # Otherwise an unknown field would be empty everywhere, and `!=` would select all objects.
        if term.field not in paths:
            raise bad_request(_unsupported(served, term.field))
    if name:
        fields = fields & parse_fields(f"metadata.name={name}")
    return Selection(
        namespace=namespace,
        labels=None if labels.is_everything else labels,
        fields=None if fields.is_everything else fields,
        paths=paths,
    )


def _unsupported(served: ServedResource, field: str) -> str:
    # Kinds without a conversion function of their own have apimachinery's default message.
    if served.strategy.selectable is None:
        known = ", ".join(f'"{name}"' for name in _NAMED)
        return f'"{field}" is not a known field selector: only {known}'
    return served.strategy.unsupported_field.format(field=field)
