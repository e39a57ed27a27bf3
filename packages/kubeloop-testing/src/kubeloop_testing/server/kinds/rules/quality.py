"""The quality of service of pods, which decides which ones are evicted first.

Guarantees: the class that kube-apiserver writes into the status of a new pod.
See also: new pods (`core.pod`), resizes of pods (`core.pod_updates`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...values.json_values import value_at

__all__ = ["quality_of_service"]


def quality_of_service(pod: Mapping[str, Any]) -> str:
    """`Guaranteed` if all containers have limits equal to their requests, `BestEffort` without
    any limits and requests, else `Burstable`: `ComputePodQOS` of Kubernetes."""
    containers = [
        *(value_at(pod, "spec", "containers") or ()),
        *(value_at(pod, "spec", "initContainers") or ()),
    ]
    resources_of = [_limits_and_requests(each) for each in containers]
    if not any(limits or requests for limits, requests in resources_of):
        return "BestEffort"
    are_limited = all(limits.keys() == {"cpu", "memory"} for limits, _ in resources_of)
    are_equal = all({**limits, **requests} == limits for limits, requests in resources_of)
    return "Guaranteed" if are_limited and are_equal else "Burstable"


def _limits_and_requests(container: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    def of(name: str) -> dict[str, str]:
        amounts = value_at(container, "resources", name) or {}
        return {key: str(value) for key, value in amounts.items() if key in {"cpu", "memory"}}

    return of("limits"), of("requests")
