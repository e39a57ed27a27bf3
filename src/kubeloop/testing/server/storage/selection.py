"""Which objects a list or a watch selects: by namespace, labels, and selectable fields.

Guarantees: an unknown field and a text that is no selector are rejected; neither ever selects
everything.
See also: `kubeloop.selectors` (the grammar of selectors).
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
# Kinds whose conversion function knows only the name.
_WITHOUT_NAMESPACE = frozenset({
    ("", "namespaces"),
    ("", "nodes"),
    ("certificates.k8s.io", "certificatesigningrequests"),
    ("certificates.k8s.io", "clustertrustbundles"),
    ("certificates.k8s.io", "podcertificaterequests"),
    ("resource.k8s.io", "resourceslices"),
})  # fmt: skip

_INVOLVED = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")

# The selectable fields of built-in kinds, beyond name and namespace: the conversion functions
# AddFieldLabelConversionFunc and the ToSelectableFields of kube-apiserver's registries.
_FIELDS: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("", "pods"): {
        path: path
        for path in (
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.podIPs",
            "status.nominatedNodeName",
        )
    },
    ("", "events"): {
        **{f"involvedObject.{name}": f"involvedObject.{name}" for name in _INVOLVED},
        "reason": "reason",
        "reportingComponent": "reportingComponent",
        "source": "source.component",
        "type": "type",
    },
    ("events.k8s.io", "events"): {
        **{f"regarding.{name}": f"involvedObject.{name}" for name in _INVOLVED},
        "reason": "reason",
        "reportingController": "reportingComponent",
        "type": "type",
    },
    ("", "secrets"): {"type": "type"},
    ("", "namespaces"): {"status.phase": "status.phase"},
    ("", "nodes"): {"spec.unschedulable": "spec.unschedulable"},
    ("", "services"): {"spec.clusterIP": "spec.clusterIP", "spec.type": "spec.type"},
    ("", "replicationcontrollers"): {"status.replicas": "status.replicas"},
    ("batch", "jobs"): {"status.successful": "status.succeeded"},
    ("certificates.k8s.io", "certificatesigningrequests"): {"spec.signerName": "spec.signerName"},
    ("certificates.k8s.io", "clustertrustbundles"): {"spec.signerName": "spec.signerName"},
    ("certificates.k8s.io", "podcertificaterequests"): {
        path: path for path in ("spec.signerName", "spec.podName", "spec.nodeName")
    },
    ("resource.k8s.io", "resourceslices"): {
        "spec.nodeName": "spec.nodeName",
        "spec.driver": "spec.driver",
    },
}
_NUMBERS = frozenset({"status.replicas", "status.succeeded"})
_FLAGS = frozenset({"spec.unschedulable", "spec.hostNetwork"})


def field_paths(served: ServedResource) -> dict[str, str]:
    """The selectable fields of a resource, each with its path in the stored object."""
    resource = (served.group, served.plural)
    found = {name: name for name in _NAMED[: 1 if resource in _WITHOUT_NAMESPACE else 2]}
    found.update(_FIELDS.get(resource, {}))
    if served.custom is not None:
        for path in served.custom.selectable_fields or ():
            bare = str(path).lstrip(".")
            found[bare] = bare
    return found


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
    if served.custom is None and (served.group, served.plural) not in _FIELDS:
        known = ", ".join(f'"{name}"' for name in _NAMED)
        return f'"{field}" is not a known field selector: only {known}'
    if (served.group, served.plural) == ("batch", "jobs"):
        return f'field label "{field}" not supported for {served.kind}'
    return f"field label not supported: {field}"
