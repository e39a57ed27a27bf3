"""Rules of resource.k8s.io (dynamic resource allocation)."""

from __future__ import annotations

from typing import Any

from tests.conformance.rule_steps import Body, Step, change, lifecycle, rejections

_API = "/apis/resource.k8s.io/v1"
_CLAIMS = f"{_API}/namespaces/{{ns}}/resourceclaims"
_TEMPLATES = f"{_API}/namespaces/{{ns}}/resourceclaimtemplates"
_CLASSES = f"{_API}/deviceclasses"
_SLICES = f"{_API}/resourceslices"
_TAINTS = f"{_API}/devicetaintrules"

_EXACTLY = {"deviceClassName": "gpu"}
_REQUEST = {"name": "r", "exactly": _EXACTLY}
_OPAQUE = {"opaque": {"driver": "gpu.example.com", "parameters": {"a": 1}}}


def _claim(**devices: Any) -> Body:
    return {"spec": {"devices": devices}}


def _requests(*requests: Body) -> Body:
    return _claim(requests=list(requests))


def _exactly(**changes: Any) -> Body:
    return _requests({"name": "r", "exactly": {**_EXACTLY, **changes}})


def _constraints(*constraints: Body) -> Body:
    return _claim(requests=[_REQUEST], constraints=list(constraints))


def _config(*config: Body) -> Body:
    return _claim(requests=[_REQUEST], config=list(config))


def _slice(**changes: Any) -> Body:
    spec = {
        "driver": "gpu.example.com",
        "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
        "nodeName": "n",
        **changes,
    }
    return {"spec": {key: value for key, value in spec.items() if value is not None}}


def _device(**device: Any) -> Body:
    return _slice(devices=[{"name": "d", **device}])


def _taint_rule(**spec: Any) -> Body:
    return {"spec": {"taint": {"key": "a", "effect": "NoSchedule"}, **spec}}


_RESULT = {"request": "r", "driver": "gpu.example.com", "pool": "p", "device": "d"}
_ALLOCATION = {"devices": {"results": [_RESULT]}}
_CONSUMER = {"resource": "pods", "name": "p", "uid": "1"}
_DEVICE_STATUS = {"driver": "gpu.example.com", "pool": "p", "device": "d"}


def _status(**status: Any) -> Step:
    return change(_CLAIMS, {"status": status}, part="status")


CASES: dict[str, list[Step]] = {
    "a sparse claim": lifecycle(_CLAIMS, {"spec": {}}),
    "a claim without a spec": lifecycle(_CLAIMS, {}),
    "a claim of one device": lifecycle(
        _CLAIMS,
        _requests(_REQUEST),
        change(_CLAIMS, _exactly(count=2)),
        change(_CLAIMS, {"metadata": {"labels": {"a": "b"}}}),
    ),
    "a claim with alternatives": lifecycle(
        _CLAIMS,
        _requests(
            {
                "name": "r",
                "firstAvailable": [
                    {"name": "a", "deviceClassName": "big"},
                    {"name": "b", "deviceClassName": "small", "count": 2},
                ],
            }
        ),
    ),
    "a claim with all fields": lifecycle(
        _CLAIMS,
        _claim(
            requests=[
                {
                    "name": "r",
                    "exactly": {
                        "deviceClassName": "gpu",
                        "allocationMode": "All",
                        "selectors": [{"cel": {"expression": "true"}}],
                        "tolerations": [{"key": "a", "operator": "Exists"}],
                    },
                }
            ],
            constraints=[{"requests": ["r"], "matchAttribute": "gpu.example.com/numa"}],
            config=[{"requests": ["r"], **_OPAQUE}],
        ),
    ),
    "wrong requests of a claim": rejections(
        _CLAIMS,
        _requests({}),
        _requests({"name": "A B", "exactly": _EXACTLY}),
        _requests({"name": "r"}),
        _requests({**_REQUEST, "firstAvailable": [{"name": "a", "deviceClassName": "b"}]}),
        _requests(_REQUEST, _REQUEST),
        _exactly(deviceClassName=""),
        _exactly(deviceClassName="A B"),
        _exactly(allocationMode="Some"),
        _exactly(allocationMode="All", count=1),
        _exactly(count=-1),
        _exactly(selectors=[{}]),
        _exactly(tolerations=[{}]),
        _exactly(tolerations=[{"key": "a b", "operator": "Exists", "value": "x"}]),
        _exactly(tolerations=[{"key": "a", "operator": "Near", "effect": "Maybe"}]),
        _requests({"name": "r", "firstAvailable": [{"name": "A B"}]}),
        _requests(
            {
                "name": "r",
                "firstAvailable": [
                    {"name": "a", "deviceClassName": "b"},
                    {"name": "a", "deviceClassName": "b"},
                ],
            }
        ),
    ),
    "wrong constraints and configurations of a claim": rejections(
        _CLAIMS,
        _constraints({}),
        _constraints({"matchAttribute": "plain"}),
        _constraints({"matchAttribute": "example.com/"}),
        _constraints({"matchAttribute": "example.com/a-b"}),
        _constraints({"requests": ["x"], "matchAttribute": "example.com/a"}),
        _constraints({"requests": ["r", "r"], "matchAttribute": "example.com/a"}),
        _constraints({"requests": ["a/b/c"], "matchAttribute": "example.com/a"}),
        _config({}),
        _config({"opaque": {}}),
        _config({"opaque": {"driver": "A B", "parameters": {}}}),
        _config({"requests": ["x"], **_OPAQUE}),
    ),
    "the status of a claim": lifecycle(
        _CLAIMS,
        _requests(_REQUEST),
        _status(reservedFor=[_CONSUMER]),
        _status(allocation={"devices": {"results": [{}]}}),
        _status(allocation={"devices": {"results": [{**_RESULT, "request": "x"}]}}),
        _status(devices=[_DEVICE_STATUS]),
        _status(allocation=_ALLOCATION),
        _status(reservedFor=[{}]),
        _status(reservedFor=[_CONSUMER, _CONSUMER]),
        _status(reservedFor=[_CONSUMER]),
        _status(allocation={"devices": {"results": [{**_RESULT, "device": "e"}]}}),
        _status(devices=[{**_DEVICE_STATUS, "device": "e"}]),
        _status(devices=[{**_DEVICE_STATUS, "networkData": {"ips": ["1.2.3.4"]}}]),
        _status(devices=[{**_DEVICE_STATUS, "networkData": {"ips": ["1.2.3.4/24"]}}]),
        _status(allocation=None, reservedFor=None, devices=None),
    ),
    "a template of claims": lifecycle(
        _TEMPLATES,
        {"spec": {"metadata": {"labels": {"a": "b"}}, "spec": _requests(_REQUEST)["spec"]}},
        change(_TEMPLATES, {"spec": {"spec": _exactly(count=2)["spec"]}}),
        change(_TEMPLATES, {"metadata": {"labels": {"a": "b"}}}),
    ),
    "wrong templates of claims": rejections(
        _TEMPLATES,
        {"spec": {"metadata": {"labels": {"a b": "c"}}, "spec": _requests({"name": "r"})["spec"]}},
        {"spec": {"spec": _requests({})["spec"]}},
    ),
    "a sparse device class": lifecycle(_CLASSES, {"spec": {}}),
    "a device class": lifecycle(
        _CLASSES,
        {
            "spec": {
                "selectors": [{"cel": {"expression": "true"}}],
                "config": [_OPAQUE],
                "extendedResourceName": "example.com/gpu",
            }
        },
        change(_CLASSES, {"spec": {"config": [{}]}}),
        change(_CLASSES, {"spec": {"config": None}}),
    ),
    "wrong device classes": rejections(
        _CLASSES,
        {"spec": {"selectors": [{}]}},
        {"spec": {"config": [{"opaque": {}}]}},
        {"spec": {"extendedResourceName": "cpu"}},
        {"metadata": {"name": "Bad_{ns}"}, "spec": {}},
    ),
    "a slice without devices": lifecycle(_SLICES, _slice()),
    "a slice": lifecycle(
        _SLICES,
        _device(
            attributes={"model": {"string": "x"}, "example.com/version": {"version": "1.0.0"}},
            capacity={"memory": {"value": "10Gi"}},
        ),
        change(_SLICES, {"spec": {"nodeName": "m"}}),
        change(_SLICES, {"spec": {"driver": "other.example.com"}}),
        change(_SLICES, {"spec": {"pool": {"name": "q"}}}),
        change(_SLICES, {"spec": {"pool": {"generation": 2}}}),
        change(_SLICES, {"spec": {"devices": None}}),
    ),
    "wrong slices": rejections(
        _SLICES,
        {"spec": {}},
        _slice(driver=""),
        _slice(driver="A B"),
        _slice(pool={}),
        _slice(pool={"name": "A B", "generation": -1, "resourceSliceCount": 0}),
        _slice(nodeName=None),
        _slice(nodeName=""),
        _slice(nodeName="A B"),
        _slice(allNodes=True),
        _slice(allNodes=False),
        _slice(nodeName=None, perDeviceNodeSelection=True, devices=[{"name": "d"}]),
        _slice(perDeviceNodeSelection=False),
    ),
    "wrong devices of a slice": rejections(
        _SLICES,
        _slice(devices=[{}]),
        _slice(devices=[{"name": "d"}, {"name": "d"}]),
        _device(name="A B"),
        _device(attributes={"a-b": {"string": "x"}}),
        _device(attributes={"a": {}}),
        _device(attributes={"a": {"version": "one"}}),
        _device(attributes={"a": {"string": "x" * 65}}),
        _device(attributes={"a": {"string": "x", "bool": True}}),
        _device(attributes={"/a": {"string": "x"}}),
        _device(capacity={"a b": {"value": "1"}}),
        _device(capacity={"a": {"value": "1", "requestPolicy": {}}}),
        _device(nodeName="n"),
        _device(taints=[{}]),
        _device(taints=[{"key": "a", "effect": "Maybe", "value": "-x-"}]),
        _device(bindingConditions=["a"]),
        _device(bindingConditions=["a", "a"], bindingFailureConditions=["a"]),
        _device(consumesCounters=[{}]),
    ),
    "a rule of device taints": lifecycle(
        _TAINTS,
        _taint_rule(deviceSelector={"driver": "gpu.example.com"}),
        change(_TAINTS, {"spec": {"deviceSelector": {"pool": "p"}}}),
        change(_TAINTS, {"spec": {"taint": {"effect": "x"}}}),
        change(_TAINTS, {"status": {"conditions": [{"type": "a"}]}}, part="status"),
    ),
    "a slice with taints": lifecycle(
        _SLICES, _device(taints=[{"key": "a", "value": "b", "effect": "None"}])
    ),
    "wrong rules of device taints": rejections(
        _TAINTS,
        {},
        {"spec": {"taint": {}}},
        _taint_rule(taint={"key": "a b", "effect": "Maybe", "value": "-x-"}),
        _taint_rule(deviceSelector={"driver": "A B", "pool": "C D", "device": "E F"}),
        _taint_rule(deviceSelector={"driver": "", "pool": "", "device": ""}),
    ),
}
