"""Extraction of the fields that a field manager has applied."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from kubeloop.clients import extract
from tests.golden.case import Area, Case


def _managed(manager: str, fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    entry = {"manager": manager, "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1"}
    return {**entry, "fieldsV1": fields, **more}


_POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "web",
        "namespace": "shop",
        "uid": "u",
        "resourceVersion": "5",
        "labels": {"a": "1", "b": "2"},
        "finalizers": ["x", "y"],
        "managedFields": [
            _managed("labels", {"f:metadata": {"f:labels": {"f:a": {}}}}),
            _managed("finalizers", {"f:metadata": {"f:finalizers": {'v:"y"': {}}}}),
            _managed(
                "containers",
                {
                    "f:spec": {
                        "f:containers": {
                            'k:{"name":"a"}': {
                                ".": {},
                                "f:name": {},
                                "f:image": {},
                                "f:ports": {
                                    'k:{"containerPort":80,"protocol":"TCP"}': {
                                        ".": {},
                                        "f:containerPort": {},
                                    }
                                },
                                "f:args": {},
                            }
                        },
                        "f:nodeSelector": {},
                        "f:restartPolicy": {},
                    }
                },
            ),
            _managed("status", {"f:status": {"f:phase": {}}}, subresource="status"),
            _managed("updater", {"f:spec": {"f:nodeName": {}}}, operation="Update"),
            _managed(
                "gone", {"f:spec": {"f:hostname": {}, "f:containers": {'k:{"name":"z"}': {}}}}
            ),
        ],
    },
    "spec": {
        "containers": [
            {
                "name": "a",
                "image": "a:1",
                "args": ["-v", "-w"],
                "ports": [
                    {"containerPort": 80, "protocol": "TCP"},
                    {"containerPort": 81, "protocol": "TCP"},
                ],
            },
            {"name": "b", "image": "b:1"},
        ],
        "nodeSelector": {"zone": "a", "disk": "b"},
        "restartPolicy": "Always",
        "nodeName": "n1",
    },
    "status": {"phase": "Running", "message": "m"},
}
_CONFIG: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {
        "name": "c",
        "namespace": "shop",
        "managedFields": [_managed("data", {"f:data": {".": {}, "f:a": {}}, "f:immutable": {}})],
    },
    "data": {"a": "1", "b": "2"},
    "immutable": True,
}
_DEPLOYMENT: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {
        "name": "d",
        "namespace": "shop",
        "managedFields": [
            _managed(
                "deploy",
                {
                    "f:metadata": {"f:annotations": {"f:note": {}}},
                    "f:spec": {
                        "f:replicas": {},
                        "f:selector": {},
                        "f:template": {
                            "f:spec": {
                                "f:containers": {
                                    'k:{"name":"a"}': {
                                        ".": {},
                                        "f:name": {},
                                        "f:env": {
                                            'k:{"name":"X"}': {".": {}, "f:name": {}, "f:value": {}}
                                        },
                                    }
                                }
                            }
                        },
                    },
                },
                apiVersion="apps/v1",
            )
        ],
        "annotations": {"note": "n", "other": "o"},
    },
    "spec": {
        "replicas": 3,
        "selector": {"matchLabels": {"a": "b"}},
        "template": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {
                "containers": [
                    {
                        "name": "a",
                        "image": "a:1",
                        "env": [{"name": "X", "value": "1"}, {"name": "Y", "value": "2"}],
                    }
                ]
            },
        },
    },
}


def _cases() -> Iterator[Case]:
    managers = ["labels", "finalizers", "containers", "status", "updater", "gone", "no"]
    for manager, subresource in itertools.product(managers, ("", "status")):
        given = {"Kind": "Pod", "Object": _POD, "Manager": manager, "Subresource": subresource}
        yield Case("apply.extract", given)
    for kind, obj, manager in (
        ("ConfigMap", _CONFIG, "data"),
        ("ConfigMap", _CONFIG, "no"),
        ("ConfigMap", {**_CONFIG, "metadata": {"name": "c", "namespace": "shop"}}, "data"),
        ("Deployment", _DEPLOYMENT, "deploy"),
    ):
        given = {"Kind": kind, "Object": obj, "Manager": manager, "Subresource": ""}
        yield Case("apply.extract", given)


def _extract(given: Any) -> Any:
    return extract(given["Object"], given["Manager"], subresource=given["Subresource"])


AREA = Area(_cases, {"apply.extract": _extract})
