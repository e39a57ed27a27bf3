"""Turns the label keys of affinity and spread constraints into selectors, for new pods.

Guarantees: the result of kube-apiserver's `applyMatchLabelKeysAndMismatchLabelKeys`.
See also: the rules for these fields (`rules.scheduling_validation`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kubeloop.wire import JsonObject

from ...values.json_values import map_field, map_items

__all__ = ["with_label_keys"]

_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"


def with_label_keys(spec: JsonObject, labels: Mapping[str, str]) -> JsonObject:
    """The spec of a pod with these labels; its label keys are part of its selectors."""

    def term(value: JsonObject) -> JsonObject:
        return _with_expressions(value, labels)

    def weighted(value: JsonObject) -> JsonObject:
        return map_field(value, "podAffinityTerm", term)

    def terms(value: JsonObject) -> JsonObject:
        return map_items(map_items(value, _REQUIRED, term), _PREFERRED, weighted)

    def affinity(value: JsonObject) -> JsonObject:
        return map_field(map_field(value, "podAffinity", terms), "podAntiAffinity", terms)

    return map_items(map_field(spec, "affinity", affinity), "topologySpreadConstraints", term)


def _with_expressions(term: JsonObject, labels: Mapping[str, str]) -> JsonObject:
    pairs = (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn"))
    added = [
        {"key": key, "operator": operator, "values": [labels[key]]}
        for field, operator in pairs
        for key in term.get(field) or ()
        if key in labels
    ]
    if not added or not isinstance(term.get("labelSelector"), dict):
        return term
    selector = term["labelSelector"]
    expressions = [*(selector.get("matchExpressions") or ()), *added]
    return {**term, "labelSelector": {**selector, "matchExpressions": expressions}}
