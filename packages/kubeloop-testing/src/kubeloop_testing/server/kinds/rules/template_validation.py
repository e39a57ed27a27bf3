"""Checks that all workloads share: their selectors and their pod templates.

Guarantees: the causes of `ValidatePodTemplateSpec` and of the selectors of workloads.
See also: workloads (`workload_validation`), jobs (`batch.job_spec`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kubeloop.selectors import selector_from_wire
from kubeloop.wire import InvalidArgument

from ...statuses import Cause
from ...values import causes
from ...values.go_values import printed
from ..kind import Causes, Json
from .pod_validation import problems_of_pod_annotations, problems_of_pod_spec
from .value_rules import check_choice, check_labels, check_selector

__all__ = ["matches", "mismatch", "problems_of_selector", "problems_of_template", "template_labels"]


def problems_of_selector(spec: Json, kind: str) -> Causes:
    """What is wrong with the selector of a workload; `kind` is its name in messages."""
    path, selector = "spec.selector", spec.get("selector")
    if selector is None:
        if kind != "daemonset":
            yield causes.required(path)
        yield mismatch(spec, "spec.template")
        return
    found = list(check_selector(path, selector))
    yield from found
    if not selector.get("matchLabels") and not selector.get("matchExpressions"):
        yield causes.invalid(path, selector, f"empty selector is invalid for {kind}")
    elif found and kind != "daemonset":
        shown = printed("meta/v1.LabelSelector", selector)
        yield causes.invalid(path, shown, "invalid label selector")
    elif not found and not matches(selector, template_labels(spec)):
        yield mismatch(spec, "spec.template")


def mismatch(spec: Json, path: str) -> Cause:
    """The cause for a selector that does not select the pods of the template at `path`."""
    rule = "`selector` does not match template `labels`"
    return causes.invalid(f"{path}.metadata.labels", template_labels(spec) or None, rule)


def template_labels(spec: Json) -> dict[str, str]:
    """The labels of the pods of a workload."""
    return dict(((spec.get("template") or {}).get("metadata") or {}).get("labels") or {})


def matches(selector: Any, labels: Mapping[str, str]) -> bool:
    """Whether a selector matches; an invalid one has been reported already."""
    try:
        return selector_from_wire(selector).matches(labels)
    except InvalidArgument:
        return True


def problems_of_template(spec: Json, path: str, *, always: str = "") -> Causes:
    """What is wrong with a pod template; `always` names a kind whose pods always restart."""
    template = spec.get("template")
    if not isinstance(template, Mapping):
        yield causes.required(path)
        return
    meta, below = template.get("metadata") or {}, template.get("spec") or {}
    yield from check_labels(f"{path}.labels", meta.get("labels"))
    if meta.get("annotations"):
        for each in problems_of_pod_annotations(meta["annotations"], below):
            field = each.field.replace("metadata.annotations", f"{path}.annotations", 1)
            yield Cause(field, each.reason, each.message)
    yield from problems_of_pod_spec(below, f"{path}.spec")
    if below.get("ephemeralContainers"):
        rule = "ephemeral containers not allowed in pod template"
        yield causes.forbidden(f"{path}.spec.ephemeralContainers", rule)
    if always:
        where = f"{path}.spec.restartPolicy"
        yield from check_choice(where, below.get("restartPolicy"), ("Always",))
        if below.get("activeDeadlineSeconds") is not None:
            where = f"{path}.spec.activeDeadlineSeconds"
            yield causes.forbidden(where, f"activeDeadlineSeconds in {always} is not Supported")
