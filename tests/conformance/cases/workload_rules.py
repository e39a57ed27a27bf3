"""Rules and defaults of workloads: apps, batch, autoscaling, policy.

Each case is a list of requests; `{ns}` is a fresh namespace.
"""

from __future__ import annotations

from typing import Any

_MERGE = {"Content-Type": "application/merge-patch+json"}
_APPS = "/apis/apps/v1/namespaces/{ns}"
_BATCH = "/apis/batch/v1/namespaces/{ns}"
_SCALING = "/apis/autoscaling/v2/namespaces/{ns}/horizontalpodautoscalers"
_SCALING_V1 = "/apis/autoscaling/v1/namespaces/{ns}/horizontalpodautoscalers"
_POLICY = "/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets"
_SELECTOR = {"matchLabels": {"a": "b"}}
_TEMPLATE = {
    "metadata": {"labels": {"a": "b"}},
    "spec": {"containers": [{"name": "a", "image": "i"}]},
}
_JOB_TEMPLATE = {"spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "i"}]}}
_BAD_TEMPLATE = {
    "metadata": {"labels": {"a": "b", "x y": "z"}},
    "spec": {
        "containers": [{"name": "A", "image": " i "}],
        "restartPolicy": "Never",
        "activeDeadlineSeconds": 5,
        "volumes": [{"name": "v", "secret": {}}],
    },
}


def _create(path: str, spec: dict[str, Any], name: str = "x") -> tuple[Any, ...]:
    return ("POST", path, {"metadata": {"name": name}, "spec": spec})


def _patch(path: str, body: dict[str, Any], name: str = "x") -> tuple[Any, ...]:
    return ("PATCH", f"{path}/{name}", body, _MERGE)


def _workload(**spec: Any) -> dict[str, Any]:
    return {"selector": _SELECTOR, "template": _TEMPLATE, **spec}


def _job(**spec: Any) -> tuple[Any, ...]:
    return _create(f"{_BATCH}/jobs", {"template": _JOB_TEMPLATE, **spec})


def _cron(**spec: Any) -> tuple[Any, ...]:
    template = {"spec": {"template": _JOB_TEMPLATE}}
    return _create(f"{_BATCH}/cronjobs", {"schedule": "* * * * *", "jobTemplate": template, **spec})


def _scaler(**spec: Any) -> tuple[Any, ...]:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
    return _create(_SCALING, {"scaleTargetRef": target, "maxReplicas": 3, **spec})


def _claims(*specs: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"metadata": {"name": f"c{number}"}, "spec": spec} for number, spec in enumerate(specs)]


_CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
_DEPLOYMENTS = f"{_APPS}/deployments"
_SETS = f"{_APPS}/statefulsets"
_DAEMONS = f"{_APPS}/daemonsets"
_REPLICAS = f"{_APPS}/replicasets"

CASES: dict[str, list[tuple[Any, ...]]] = {
    "workloads without a spec": [
        ("POST", path, {"metadata": {"name": "x"}})
        for path in (
            _DEPLOYMENTS,
            _SETS,
            _DAEMONS,
            _REPLICAS,
            f"{_BATCH}/jobs",
            f"{_BATCH}/cronjobs",
            _SCALING,
            _SCALING_V1,
            _POLICY,
        )
    ],
    "a deployment": [_create(_DEPLOYMENTS, _workload())],
    "a bad deployment": [
        _create(
            _DEPLOYMENTS,
            _workload(
                replicas=-1,
                minReadySeconds=-1,
                revisionHistoryLimit=-1,
                progressDeadlineSeconds=-1,
                strategy={"type": "X"},
                template=_BAD_TEMPLATE,
            ),
        )
    ],
    "rolling updates of a deployment": [
        _create(
            _DEPLOYMENTS,
            _workload(strategy={"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}),
        ),
        _create(
            _DEPLOYMENTS,
            _workload(strategy={"rollingUpdate": {"maxSurge": "x", "maxUnavailable": "101%"}}),
        ),
        _create(
            _DEPLOYMENTS,
            _workload(strategy={"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}),
        ),
        _create(
            _DEPLOYMENTS,
            _workload(strategy={"rollingUpdate": {"maxSurge": -1, "maxUnavailable": "-5%"}}),
        ),
    ],
    "a deadline that is too short": [
        _create(_DEPLOYMENTS, _workload(minReadySeconds=10, progressDeadlineSeconds=10))
    ],
    "selectors of a deployment": [
        _create(_DEPLOYMENTS, {"template": _TEMPLATE}),
        _create(_DEPLOYMENTS, _workload(selector={})),
        _create(_DEPLOYMENTS, _workload(selector={"matchLabels": {"x": "y"}})),
        _create(_DEPLOYMENTS, _workload(selector={"matchLabels": {"a b": "y"}})),
        _create(
            _DEPLOYMENTS,
            _workload(selector={"matchExpressions": [{"key": "a", "operator": "X"}]}),
        ),
        _create(
            _DEPLOYMENTS,
            _workload(
                selector={"matchExpressions": [{"key": "a", "operator": "In", "values": ["b c"]}]}
            ),
        ),
    ],
    "change a deployment": [
        _create(_DEPLOYMENTS, _workload()),
        _patch(_DEPLOYMENTS, {"spec": {"selector": {"matchLabels": {"a": "c"}}}}),
        _patch(_DEPLOYMENTS, {"spec": {"replicas": 3}}),
        _patch(_DEPLOYMENTS, {"spec": {"template": {"metadata": {"labels": {"c": "d"}}}}}),
        ("PATCH", f"{_DEPLOYMENTS}/x/status", {"status": {"replicas": -1}}, _MERGE),
        (
            "PATCH",
            f"{_DEPLOYMENTS}/x/status",
            {
                "status": {
                    "replicas": 1,
                    "availableReplicas": 2,
                    "readyReplicas": 3,
                    "updatedReplicas": 4,
                }
            },
            _MERGE,
        ),
        (
            "PATCH",
            f"{_DEPLOYMENTS}/x/status",
            {"status": {"replicas": 1, "collisionCount": 2, "observedGeneration": -1}},
            _MERGE,
        ),
    ],
    "a replica set": [
        _create(_REPLICAS, _workload()),
        _patch(_REPLICAS, {"spec": {"selector": {"matchLabels": {"c": "d"}}}}),
        (
            "PATCH",
            f"{_REPLICAS}/x/status",
            {"status": {"replicas": -1, "readyReplicas": 3}},
            _MERGE,
        ),
    ],
    "a bad replica set": [
        _create(_REPLICAS, _workload(replicas=-1, minReadySeconds=-1, template=_BAD_TEMPLATE)),
        _create(_REPLICAS, _workload(selector={})),
    ],
    "a daemon set": [
        _create(_DAEMONS, _workload()),
        _patch(_DAEMONS, {"spec": {"selector": {"matchLabels": {"c": "d"}}}}),
        _patch(_DAEMONS, {"spec": {"template": {"spec": {"hostNetwork": True}}}}),
        (
            "PATCH",
            f"{_DAEMONS}/x/status",
            {"status": {"numberReady": -1, "currentNumberScheduled": -2}},
            _MERGE,
        ),
    ],
    "a daemon set that is updated on deletion": [
        _create(_DAEMONS, _workload(updateStrategy={"type": "OnDelete"}))
    ],
    "a bad daemon set": [
        _create(
            _DAEMONS,
            _workload(
                minReadySeconds=-1,
                revisionHistoryLimit=-1,
                updateStrategy={"type": "X"},
                template=_BAD_TEMPLATE,
            ),
        ),
        _create(
            _DAEMONS,
            _workload(updateStrategy={"rollingUpdate": {"maxUnavailable": 0, "maxSurge": 0}}),
        ),
        _create(
            _DAEMONS,
            _workload(updateStrategy={"rollingUpdate": {"maxUnavailable": 1, "maxSurge": 1}}),
        ),
        _create(
            _DAEMONS,
            _workload(
                updateStrategy={"rollingUpdate": {"maxUnavailable": "101%", "maxSurge": "x"}}
            ),
        ),
        _create(_DAEMONS, {"template": _TEMPLATE}),
    ],
    "a stateful set": [
        _create(_SETS, _workload(serviceName="s", volumeClaimTemplates=_claims(_CLAIM))),
        _patch(_SETS, {"spec": {"serviceName": "t"}}),
        _patch(_SETS, {"spec": {"podManagementPolicy": "Parallel"}}),
        _patch(_SETS, {"spec": {"volumeClaimTemplates": []}}),
        _patch(_SETS, {"spec": {"selector": {"matchLabels": {"c": "d"}}}}),
        _patch(_SETS, {"spec": {"revisionHistoryLimit": 3, "minReadySeconds": 2, "replicas": 2}}),
        _patch(_SETS, {"spec": {"ordinals": {"start": 3}}}),
        _patch(_SETS, {"spec": {"persistentVolumeClaimRetentionPolicy": {"whenScaled": "Delete"}}}),
        _patch(_SETS, {"spec": {"updateStrategy": {"type": "OnDelete", "rollingUpdate": None}}}),
    ],
    "a bad stateful set": [
        _create(
            _SETS,
            _workload(
                replicas=-1,
                minReadySeconds=-1,
                podManagementPolicy="X",
                updateStrategy={"type": "X"},
                ordinals={"start": -1},
                persistentVolumeClaimRetentionPolicy={"whenScaled": "X", "whenDeleted": "Y"},
                volumeClaimTemplates=_claims({}, {"accessModes": ["X"]}),
                template=_BAD_TEMPLATE,
                serviceName="A_b",
            ),
        ),
        _create(
            _SETS,
            _workload(updateStrategy={"type": "OnDelete", "rollingUpdate": {"partition": 1}}),
        ),
        _create(
            _SETS,
            _workload(updateStrategy={"rollingUpdate": {"partition": -1, "maxUnavailable": 0}}),
        ),
        _create(_SETS, _workload(selector={})),
    ],
    "a revision": [
        ("POST", f"{_APPS}/controllerrevisions", {"metadata": {"name": "x"}}),
        (
            "POST",
            f"{_APPS}/controllerrevisions",
            {"metadata": {"name": "x"}, "revision": -1, "data": {}},
        ),
        (
            "POST",
            f"{_APPS}/controllerrevisions",
            {"metadata": {"name": "x"}, "revision": 1, "data": {}},
        ),
        ("PATCH", f"{_APPS}/controllerrevisions/x", {"data": {"a": 1}}, _MERGE),
        ("PATCH", f"{_APPS}/controllerrevisions/x", {"revision": 2}, _MERGE),
        ("PATCH", f"{_APPS}/controllerrevisions/x", {"revision": -2}, _MERGE),
    ],
    # --- jobs
    "a job": [_job()],
    "a job with all defaults": [
        _job(
            backoffLimitPerIndex=1,
            completionMode="Indexed",
            completions=3,
            podFailurePolicy={
                "rules": [
                    {"action": "FailIndex", "onPodConditions": [{"type": "DisruptionTarget"}]}
                ]
            },
        )
    ],
    "a bad job": [
        _job(
            parallelism=-1,
            completions=-1,
            activeDeadlineSeconds=-1,
            backoffLimit=-1,
            ttlSecondsAfterFinished=-1,
            completionMode="X",
            podReplacementPolicy="X",
            managedBy="a b",
            backoffLimitPerIndex=-1,
            maxFailedIndexes=-1,
            suspend=True,
        ),
        _job(
            completionMode="Indexed",
            template={"spec": {"restartPolicy": "Always", "containers": []}},
        ),
        _job(completionMode="Indexed", completions=5, parallelism=200000),
        _job(completionMode="Indexed", completions=5, maxFailedIndexes=6, backoffLimitPerIndex=1),
        _job(completionMode="NonIndexed", backoffLimitPerIndex=1),
        _job(completionMode="Indexed", completions=5, maxFailedIndexes=2),
        _job(manualSelector=True),
        _job(selector={"matchLabels": {"x": "y"}}),
    ],
    "pod failure policies": [
        _job(
            podFailurePolicy={
                "rules": [
                    {},
                    {"action": "X", "onExitCodes": {"operator": "In", "values": [0, 1, 1]}},
                    {"action": "FailJob", "onExitCodes": {"operator": "X", "values": []}},
                    {
                        "action": "FailJob",
                        "onExitCodes": {
                            "operator": "In",
                            "values": [2, 1],
                            "containerName": "none",
                        },
                    },
                    {"action": "FailIndex", "onPodConditions": [{"type": "A b", "status": "X"}]},
                    {
                        "action": "Count",
                        "onExitCodes": {"operator": "In", "values": [1]},
                        "onPodConditions": [{"type": "X", "status": "True"}],
                    },
                ]
            }
        ),
        _job(
            template={
                "spec": {"restartPolicy": "OnFailure", "containers": [{"name": "a", "image": "i"}]}
            },
            podFailurePolicy={"rules": []},
            podReplacementPolicy="TerminatingOrFailed",
        ),
    ],
    "success policies": [
        _job(successPolicy={"rules": []}),
        _job(
            completionMode="Indexed",
            completions=5,
            successPolicy={
                "rules": [
                    {},
                    {"succeededIndexes": "5-1,x", "succeededCount": -1},
                    {"succeededIndexes": "0-9"},
                    {"succeededIndexes": "0-1", "succeededCount": 3},
                ]
            },
        ),
    ],
    "change a job": [
        _job(parallelism=1, completions=2),
        _patch(f"{_BATCH}/jobs", {"spec": {"completions": 3}}),
        _patch(f"{_BATCH}/jobs", {"spec": {"parallelism": 3}}),
        _patch(f"{_BATCH}/jobs", {"spec": {"template": {"spec": {"restartPolicy": "OnFailure"}}}}),
        _patch(f"{_BATCH}/jobs", {"spec": {"completionMode": "Indexed"}}),
        _patch(f"{_BATCH}/jobs", {"spec": {"suspend": True}}),
        _patch(f"{_BATCH}/jobs", {"spec": {"template": {"spec": {"nodeSelector": {"a": "b"}}}}}),
        _patch(f"{_BATCH}/jobs", {"spec": {"selector": {"matchLabels": {"a": "b"}}}}),
        _patch(f"{_BATCH}/jobs", {"spec": {"backoffLimit": 2, "activeDeadlineSeconds": 4}}),
        _patch(f"{_BATCH}/jobs", {"spec": {"podReplacementPolicy": "Failed"}}),
        _patch(f"{_BATCH}/jobs", {"spec": {"managedBy": "example.com/x"}}),
    ],
    "change a suspended job": [
        _job(suspend=True),
        _patch(f"{_BATCH}/jobs", {"spec": {"template": {"spec": {"nodeSelector": {"a": "b"}}}}}),
        _patch(f"{_BATCH}/jobs", {"spec": {"template": {"metadata": {"labels": {"a": "b"}}}}}),
        _patch(f"{_BATCH}/jobs", {"spec": {"template": {"spec": {"priorityClassName": "x"}}}}),
    ],
    "the status of a job": [
        _job(),
        (
            "PATCH",
            f"{_BATCH}/jobs/x/status",
            {"status": {"active": -1, "succeeded": -1, "failed": -1}},
            _MERGE,
        ),
        (
            "PATCH",
            f"{_BATCH}/jobs/x/status",
            {"status": {"conditions": [{"type": "Complete", "status": "True"}]}},
            _MERGE,
        ),
        (
            "PATCH",
            f"{_BATCH}/jobs/x/status",
            {"status": {"completionTime": "2020-01-01T00:00:00Z"}},
            _MERGE,
        ),
        (
            "PATCH",
            f"{_BATCH}/jobs/x/status",
            {"status": {"startTime": "2020-01-01T00:00:00Z", "active": 1}},
            _MERGE,
        ),
    ],
    "a cron job": [_cron()],
    "a bad cron job": [
        _cron(
            schedule="x",
            timeZone="Nowhere/Land",
            concurrencyPolicy="X",
            startingDeadlineSeconds=-1,
            successfulJobsHistoryLimit=-1,
            failedJobsHistoryLimit=-1,
            jobTemplate={"spec": {"template": {"spec": {"containers": []}}}},
        ),
        _cron(schedule=""),
        _cron(schedule="TZ=UTC * * * * *", timeZone="UTC"),
        _cron(timeZone=""),
        _cron(timeZone="Local"),
        _cron(timeZone="Europe/Berlin"),
        _cron(schedule="CRON_TZ=UTC 0 * * * *"),
    ],
    "a cron job with a long name": [
        (
            "POST",
            f"{_BATCH}/cronjobs",
            {
                "metadata": {"name": "x" * 53},
                "spec": {
                    "schedule": "@daily",
                    "jobTemplate": {"spec": {"template": _JOB_TEMPLATE}},
                },
            },
        )
    ],
    "selectors in a cron job": [
        _cron(
            jobTemplate={
                "spec": {"template": _JOB_TEMPLATE, "selector": {"matchLabels": {"a": "b"}}}
            }
        ),
        _cron(jobTemplate={"spec": {"template": _JOB_TEMPLATE, "manualSelector": True}}),
    ],
    # --- autoscalers
    "an autoscaler": [_scaler()],
    "a bad autoscaler": [
        _scaler(minReplicas=0, maxReplicas=0),
        _scaler(minReplicas=5, maxReplicas=3),
        _scaler(maxReplicas=-1),
        _scaler(scaleTargetRef={"kind": "a/b", "name": "c/d"}),
        _scaler(scaleTargetRef={}),
    ],
    "metrics of an autoscaler": [
        _scaler(
            metrics=[
                {},
                {"type": "X"},
                {"type": "Resource"},
                {"type": "Resource", "resource": {"name": "cpu", "target": {}}},
                {"type": "Resource", "resource": {"target": {"type": "Utilization"}}},
                {
                    "type": "Resource",
                    "resource": {
                        "name": "cpu",
                        "target": {"type": "Utilization", "averageUtilization": -1},
                    },
                },
                {
                    "type": "Resource",
                    "resource": {
                        "name": "cpu",
                        "target": {
                            "type": "Utilization",
                            "averageUtilization": 1,
                            "averageValue": "1",
                        },
                    },
                },
                {
                    "type": "Resource",
                    "resource": {"name": "cpu", "target": {"type": "Value", "value": "1"}},
                },
                {"type": "Pods", "pods": {"metric": {}, "target": {"type": "Value", "value": "1"}}},
                {
                    "type": "Pods",
                    "pods": {
                        "metric": {"name": "a/b"},
                        "target": {"type": "AverageValue", "averageValue": "-1"},
                    },
                },
                {
                    "type": "Object",
                    "object": {
                        "metric": {"name": "a"},
                        "target": {"type": "Value"},
                        "describedObject": {},
                    },
                },
                {
                    "type": "External",
                    "external": {"metric": {"name": "a"}, "target": {"type": "Value"}},
                },
                {
                    "type": "External",
                    "external": {
                        "metric": {"name": "a"},
                        "target": {"type": "Value", "value": "1", "averageValue": "1"},
                    },
                },
                {
                    "type": "ContainerResource",
                    "containerResource": {"target": {"type": "Utilization"}},
                },
                {
                    "type": "Pods",
                    "pods": {
                        "metric": {"name": "a"},
                        "target": {"type": "AverageValue", "averageValue": "1"},
                    },
                    "external": {
                        "metric": {"name": "a"},
                        "target": {"type": "Value", "value": "1"},
                    },
                },
            ]
        )
    ],
    "behavior of an autoscaler": [
        _scaler(
            behavior={
                "scaleUp": {},
                "scaleDown": {"policies": [{"type": "Pods", "value": 1, "periodSeconds": 5}]},
            }
        ),
        _scaler(
            behavior={
                "scaleUp": {
                    "stabilizationWindowSeconds": 3601,
                    "selectPolicy": "X",
                    "policies": [{"type": "X", "value": 0, "periodSeconds": 0}],
                },
                "scaleDown": {
                    "stabilizationWindowSeconds": -1,
                    "policies": [{"type": "Pods", "value": 1, "periodSeconds": 1801}, {}],
                    "tolerance": "-1",
                },
            }
        ),
    ],
    "an autoscaler in version 1": [
        (
            "POST",
            _SCALING_V1,
            {
                "metadata": {"name": "x"},
                "spec": {"scaleTargetRef": {"kind": "D", "name": "d"}, "maxReplicas": 2},
            },
        ),
        ("GET", f"{_SCALING}/x", None),
        ("PATCH", f"{_SCALING_V1}/x", {"spec": {"targetCPUUtilizationPercentage": 50}}, _MERGE),
        ("GET", f"{_SCALING}/x", None),
    ],
    "an autoscaler with metrics in version 1": [
        _scaler(
            metrics=[
                {
                    "type": "Resource",
                    "resource": {
                        "name": "cpu",
                        "target": {"type": "Utilization", "averageUtilization": 60},
                    },
                },
                {
                    "type": "Resource",
                    "resource": {
                        "name": "memory",
                        "target": {"type": "AverageValue", "averageValue": "1Gi"},
                    },
                },
                {
                    "type": "External",
                    "external": {
                        "metric": {"name": "q", "selector": {"matchLabels": {"a": "b"}}},
                        "target": {"type": "Value", "value": "5"},
                    },
                },
                {
                    "type": "Object",
                    "object": {
                        "metric": {"name": "o"},
                        "describedObject": {"kind": "Service", "name": "s"},
                        "target": {"type": "Value", "value": "5"},
                    },
                },
                {
                    "type": "Pods",
                    "pods": {
                        "metric": {"name": "p"},
                        "target": {"type": "AverageValue", "averageValue": "5"},
                    },
                },
            ],
            behavior={"scaleDown": {"stabilizationWindowSeconds": 5}},
        ),
        ("GET", f"{_SCALING_V1}/x", None),
    ],
    "a bad autoscaler in version 1": [
        (
            "POST",
            _SCALING_V1,
            {
                "metadata": {"name": "x"},
                "spec": {
                    "scaleTargetRef": {},
                    "maxReplicas": 0,
                    "targetCPUUtilizationPercentage": 0,
                },
            },
        ),
    ],
    # --- disruption budgets
    "a budget": [
        _create(_POLICY, {"minAvailable": 1, "selector": _SELECTOR}),
        _patch(_POLICY, {"spec": {"minAvailable": "50%"}}),
        _patch(_POLICY, {"spec": {"selector": {"matchLabels": {"c": "d"}}}}),
        (
            "PATCH",
            f"{_POLICY}/x/status",
            {"status": {"disruptionsAllowed": -1, "expectedPods": -2}},
            _MERGE,
        ),
    ],
    "a bad budget": [
        _create(_POLICY, {"minAvailable": 1, "maxUnavailable": 1}),
        _create(_POLICY, {"minAvailable": "x", "selector": {"matchLabels": {"a b": "c"}}}),
        _create(_POLICY, {"minAvailable": -1}),
        _create(_POLICY, {"maxUnavailable": "101%"}),
        _create(_POLICY, {"maxUnavailable": 1, "unhealthyPodEvictionPolicy": "X"}),
    ],
    "a budget without a selector": [_create(_POLICY, {"minAvailable": 1})],
    "a budget for all pods": [_create(_POLICY, {"minAvailable": 1, "selector": {}})],
}
