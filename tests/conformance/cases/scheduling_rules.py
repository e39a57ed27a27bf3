"""Rules of scheduling.k8s.io, node.k8s.io and coordination.k8s.io."""

from __future__ import annotations

from tests.conformance.rule_steps import Body, Step, change, create, delete, lifecycle, rejections

_PRIORITIES = "/apis/scheduling.k8s.io/v1/priorityclasses"
_RUNTIMES = "/apis/node.k8s.io/v1/runtimeclasses"
_LEASES = "/apis/coordination.k8s.io/v1/namespaces/{ns}/leases"
_PODS = "/api/v1/namespaces/{ns}/pods"


def _pod(**spec: object) -> Body:
    return {"spec": {"containers": [{"name": "a", "image": "a"}], **spec}}


_TOLERATION = {"key": "a", "operator": "Exists", "effect": "NoSchedule"}

CASES: dict[str, list[Step]] = {
    "a sparse priority class": lifecycle(_PRIORITIES, {"value": 5}),
    "a priority class without a value": lifecycle(_PRIORITIES, {}),
    "a priority class with all fields": lifecycle(
        _PRIORITIES,
        {"value": -5, "globalDefault": False, "description": "low", "preemptionPolicy": "Never"},
        change(_PRIORITIES, {"description": "lower", "metadata": {"labels": {"a": "b"}}}),
    ),
    "wrong values of a priority class": rejections(
        _PRIORITIES,
        {"value": 1000000001},
        {"value": 2000000000},
        {"value": 1, "preemptionPolicy": "Sometimes"},
        {"value": 1, "preemptionPolicy": ""},
        {"metadata": {"name": "system-{ns}"}, "value": 1},
        {"metadata": {"name": "system-cluster-critical"}, "value": 1},
        {
            "metadata": {"name": "system-cluster-critical"},
            "value": 2000000000,
            "globalDefault": True,
        },
        {"metadata": {"name": "Bad_{ns}"}, "value": 1},
    ),
    "fixed fields of a priority class": lifecycle(
        _PRIORITIES,
        {"value": 5},
        change(_PRIORITIES, {"value": 6}),
        change(_PRIORITIES, {"preemptionPolicy": "Never"}),
        change(_PRIORITIES, {"preemptionPolicy": "x", "value": 7}),
        change(_PRIORITIES, {"preemptionPolicy": None}),
    ),
    "the priority classes of the system": [
        ("GET", f"{_PRIORITIES}/system-cluster-critical", None),
        ("GET", f"{_PRIORITIES}/system-node-critical", None),
        ("DELETE", f"{_PRIORITIES}/system-node-critical?dryRun=All", None),
    ],
    "the priority of a pod": [
        create(_PRIORITIES, {"value": 5, "preemptionPolicy": "Never"}),
        create(_PODS, _pod(priorityClassName="x-{ns}"), "a"),
        create(_PODS, _pod(priorityClassName="system-cluster-critical"), "b"),
        create(_PODS, _pod(priorityClassName="system-node-critical", priority=2000001000), "c"),
        create(_PODS, _pod(priorityClassName="x-{ns}", priority=6), "d"),
        create(
            _PODS, _pod(priorityClassName="x-{ns}", preemptionPolicy="PreemptLowerPriority"), "e"
        ),
        create(_PODS, _pod(priorityClassName="x-{ns}", preemptionPolicy="Never", priority=5), "f"),
        create(_PODS, _pod(priorityClassName="missing-{ns}"), "g"),
        create(_PODS, _pod(priority=1), "h"),
        create(_PODS, _pod(priority=0), "i"),
        create(_PODS, _pod(preemptionPolicy="Never"), "j"),
        delete(_PRIORITIES),
    ],
    "a default priority class": [
        create(f"{_PRIORITIES}?dryRun=All", {"value": 5, "globalDefault": True}),
    ],
    "a sparse runtime class": lifecycle(_RUNTIMES, {"handler": "h"}),
    "a runtime class with all fields": lifecycle(
        _RUNTIMES,
        {
            "handler": "h",
            "overhead": {"podFixed": {"cpu": "100m", "memory": "10Mi"}},
            "scheduling": {"nodeSelector": {"a": "b"}, "tolerations": [_TOLERATION]},
        },
        change(_RUNTIMES, {"handler": "other"}),
        change(_RUNTIMES, {"overhead": {"podFixed": {"cpu": "200m"}}}),
        change(_RUNTIMES, {"scheduling": {"nodeSelector": {"a b": "c"}}}),
        change(_RUNTIMES, {"scheduling": None}),
    ),
    "wrong values of a runtime class": rejections(
        _RUNTIMES,
        {},
        {"handler": "Not A Name"},
        {"handler": "h", "overhead": {"podFixed": {"cpu": "-1"}}},
        {"handler": "h", "overhead": {"podFixed": {"tea": "1"}}},
        {"handler": "h", "scheduling": {"nodeSelector": {"a b": "-x-"}}},
        {"handler": "h", "scheduling": {"tolerations": [_TOLERATION, _TOLERATION]}},
        {"handler": "h", "scheduling": {"tolerations": [{"operator": "Equal", "value": "x"}]}},
        {"handler": "h", "scheduling": {"tolerations": [{"key": "a b", "operator": "Exists"}]}},
        {"handler": "h", "scheduling": {"tolerations": [{"key": "a", "operator": "Near"}]}},
        {
            "handler": "h",
            "scheduling": {"tolerations": [{"key": "a", "operator": "Exists", "value": "x"}]},
        },
        {"handler": "h", "scheduling": {"tolerations": [{"key": "a", "effect": "Later"}]}},
        {
            "handler": "h",
            "scheduling": {
                "tolerations": [{"key": "a", "effect": "NoSchedule", "tolerationSeconds": 1}]
            },
        },
    ),
    "the runtime class of a pod": [
        create(
            _RUNTIMES,
            {
                "handler": "h",
                "overhead": {"podFixed": {"cpu": "100m", "memory": "10Mi"}},
                "scheduling": {"nodeSelector": {"a": "b"}, "tolerations": [_TOLERATION]},
            },
        ),
        create(_PODS, _pod(runtimeClassName="x-{ns}"), "a"),
        create(_PODS, _pod(runtimeClassName="x-{ns}", nodeSelector={"c": "d"}), "b"),
        create(_PODS, _pod(runtimeClassName="x-{ns}", nodeSelector={"a": "d"}), "c"),
        create(_PODS, _pod(runtimeClassName="x-{ns}", tolerations=[_TOLERATION]), "d"),
        create(_PODS, _pod(runtimeClassName="x-{ns}", overhead={"cpu": "1"}), "e"),
        create(
            _PODS, _pod(runtimeClassName="x-{ns}", overhead={"cpu": "100m", "memory": "10Mi"}), "f"
        ),
        create(_PODS, _pod(runtimeClassName="missing-{ns}"), "g"),
        create(_PODS, _pod(overhead={"cpu": "1"}), "h"),
        delete(_RUNTIMES),
    ],
    "a sparse lease": lifecycle(_LEASES, {"spec": {}}),
    "a lease without a spec": lifecycle(_LEASES, {}),
    "wrong values of a lease": rejections(
        _LEASES,
        {"spec": {"leaseDurationSeconds": 0}},
        {"spec": {"leaseTransitions": -1}},
        {"spec": {"preferredHolder": "a"}},
        {"spec": {"strategy": "Guess"}},
        {"spec": {"strategy": "example.com/a b"}},
        {"spec": {"strategy": "example.com/own", "preferredHolder": "a"}},
        {"spec": {"strategy": "OldestEmulationVersion", "preferredHolder": "a"}},
    ),
    "changes of a lease": lifecycle(
        _LEASES,
        {"spec": {"holderIdentity": "a", "leaseDurationSeconds": 15}},
        change(_LEASES, {"spec": {"holderIdentity": "b", "leaseTransitions": 1}}),
        change(_LEASES, {"spec": {"leaseDurationSeconds": -1}}),
        change(_LEASES, {"spec": {"renewTime": "2024-01-01T00:00:00.123456Z"}}),
    ),
}
