"""Warnings that several kinds share.

Guarantees: a warning for each case in which kube-apiserver's strategies return one
(`WarningsOnCreate`, `WarningsOnUpdate`), with its field path; the sentences are our own.
See also: pods and templates (`pod_warnings`), addresses (`address_warnings`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kubeloop.meta import problems_of_dns_label

from ...values.json_values import json_equal, value_at
from ..kind import Json, Warn, Warnings
from .address_warnings import address_warnings
from .pod_warnings import template_warnings
from .value_rules import enumerate_objects

__all__ = [
    "CLASS_ANNOTATION",
    "annotations_of",
    "balancer_warnings",
    "name_warnings",
    "spec_template_warnings",
    "workload_warnings",
]

CLASS_ANNOTATION: Final = "volume.beta.kubernetes.io/storage-class"


def annotations_of(obj: Json) -> Mapping[str, str]:
    return (obj.get("metadata") or {}).get("annotations") or {}


def name_warnings(obj: Json, old: Json | None) -> Warnings:
    if old is None and problems_of_dns_label((obj.get("metadata") or {}).get("name") or ""):
        used = "the Pod's hostname" if obj.get("kind") == "Pod" else "Pod names and hostnames"
        found = " ".join(problems_of_dns_label((obj.get("metadata") or {}).get("name") or ""))
        yield (
            f"metadata.name: this is used in {used}, which can result in surprising behavior; a "
            f"DNS label is recommended: [{found}]"
        )


def workload_warnings(*path: str, names_pods: bool = True) -> Warn:
    """Warnings about a template at `path`, when the spec changes."""

    def warn(obj: Json, old: Json | None) -> Warnings:
        if names_pods:
            yield from name_warnings(obj, old)
        if old is None or not json_equal(obj.get(path[0]), old.get(path[0])):
            template = value_at(obj, *path)
            if isinstance(template, Mapping):
                yield from template_warnings(template, ".".join(path))

    return warn


spec_template_warnings: Final = workload_warnings("spec", "template", names_pods=False)


def balancer_warnings(obj: Json, _: Json | None) -> Warnings:
    path = ("status", "loadBalancer", "ingress")
    for index, each in enumerate_objects(value_at(obj, *path)):
        if each.get("ip"):
            yield from address_warnings(f"{'.'.join(path)}[{index}]", each["ip"])
