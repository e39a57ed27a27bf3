"""The admission plugin DefaultIngressClass: the class of ingresses that name none."""

from __future__ import annotations

from typing import Final

from ...request.calls import Call
from ...storage.store import Object
from ..plugin import Cluster, Plugin, default_class

__all__ = ["DEFAULT_INGRESS_CLASS"]

_CLASSES: Final = ("networking.k8s.io", "ingressclasses")
_DEFAULT: Final = ("ingressclass.kubernetes.io/is-default-class",)


def _mutate(cluster: Cluster, _: Call, ingress: Object) -> Object:
    spec, annotations = ingress.get("spec") or {}, ingress["metadata"].get("annotations") or {}
    if spec.get("ingressClassName") is not None or "kubernetes.io/ingress.class" in annotations:
        return ingress
    name = default_class(cluster, _CLASSES, _DEFAULT)
    return {**ingress, "spec": {**spec, "ingressClassName": name}} if name else ingress


DEFAULT_INGRESS_CLASS: Final = Plugin(
    "DefaultIngressClass", mutate={("networking.k8s.io", "ingresses"): _mutate}
)
