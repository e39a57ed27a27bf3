"""Selectors, options of lists and tokens of pages that kube-apiserver rejects, with its sentences."""

from __future__ import annotations

import base64
import json
from typing import Any
from urllib.parse import quote

_NS = "/api/v1/namespaces/{ns}"
_MAPS = f"{_NS}/configmaps"
_APPS = "/apis/apps/v1/namespaces/{ns}"
_LABELS = (
    "a=b=c", "a b", "a in b", "a in (b", "a in (b,", "a in b)", "a in ()", "a in (,)", "a notin",
    "a notin ()", "!", "!a=b", "a>b", "a>1.5", "a<-", "a<", "a!", "a=!", "=a", "==", "a==b==c",
    ",", ",a", "a,", "a,,b", "a,b,,", "(a)", ")", "a=(b)", "a in (b c)", "a in (b;c)", "-a", "a-=b",
    "a/b/c=d", "/a=b", "A_b/c=d", "a.b./c=d", "a=b_", "a=-", "a=b/c", "a in (b/c,-d)", "ä=b", "a=ö",
    "a" * 64, "a=" + "b" * 64, "a" * 254 + "/b", "a/" + "b" * 64, "in", "notin in (a)", "a exists",
    "exists a", "a in", "a=b,c in (d", "a = 'b'", 'a="b"', "a=b c", "a=1,a>x,-b",
    "!-a", "a.b=c.d.", "a\tin\t(b)x", "a!b", "a=b;c=d", "a\x00b", "a in (in)", "in in (in)x",
    "a in (=)", "a in (b=)", "a in (,=)", "a in (b,=)", "a in (,b", "a in ((b)", "a in (b,,c) d",
    "a in (b))", "a notin (b", "a,!", "a,=", "!!a", "a\x00", "a=b,a in (-)",
)  # fmt: skip
_FIELDS = (
    "x", "x=1", "metadata.name", "metadata.name>1", "=", "!=", "==", "=x", "metadata.name=a=b",
    "metadata.name=a,", ",metadata.name=a", "metadata.name=a,x", "metadata.name=a,x=1,y=2",
    "metadata.name=a\\", "metadata.name=a\\x", "metadata.name=\\,", "metadata.labels=a",
    "metadata.uid=1", "metadata.name in (a)", "metadata.namespace==b,spec.x!=2", "Metadata.Name=a",
)  # fmt: skip
_TOKENS: tuple[Any, ...] = (
    {"v": "meta.k8s.io/v2", "rv": 1, "start": "a"},
    {"v": "meta.k8s.io/v1", "rv": 0, "start": "a"},
    {"v": "meta.k8s.io/v1", "rv": -2, "start": "a"},
    {"v": "meta.k8s.io/v1", "rv": -1, "start": ""},
    {"v": "meta.k8s.io/v1", "rv": "1", "start": "a"},
    {"v": "meta.k8s.io/v1", "start": "a"},
    {"v": "meta.k8s.io/v1", "rv": 1},
    {"v": "meta.k8s.io/v1", "rv": 1, "start": "../a"},
    {"v": 1},
    {},
    [],
    "x",
    None,
)


def _token(value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def _lists(path: str, option: str, *values: str) -> list[tuple[Any, ...]]:
    return [("GET", f"{path}?{option}={quote(value, safe='')}", None) for value in values]


def _selector(selector: Any) -> tuple[Any, ...]:
    template = {
        "metadata": {"labels": {"a": "b"}},
        "spec": {"containers": [{"name": "a", "image": "i"}]},
    }
    spec = {"selector": selector, "template": template}
    return ("POST", f"{_APPS}/deployments?dryRun=All", {"metadata": {"name": "x"}, "spec": spec})


def _expressions(*terms: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [_selector({"matchLabels": {"a": "b"}, "matchExpressions": [term]}) for term in terms]


CASES: dict[str, list[tuple[Any, ...]]] = {
    **{
        f"the label selector {text[:70]!r}": _lists(_MAPS, "labelSelector", text)
        for text in _LABELS
    },
    **{f"the field selector {text!r}": _lists(_MAPS, "fieldSelector", text) for text in _FIELDS},
    "label selectors of other requests": [
        ("DELETE", f"{_MAPS}?labelSelector=a+b", None),
        ("GET", f"{_MAPS}?timeoutSeconds=1&watch=1&labelSelector=a+b", None),
        ("GET", "/api/v1/namespaces?labelSelector=a%20in%20b", None),
        ("GET", f"{_APPS}/deployments?labelSelector=-a", None),
        ("GET", f"{_MAPS}/x?labelSelector=a+b", None),
    ],
    "field selectors of other kinds": [
        *_lists(f"{_NS}/pods", "fieldSelector", "spec.x=1", "spec.nodeName", "status.phase=A,b=c"),
        *_lists(f"{_NS}/secrets", "fieldSelector", "type", "data=1"),
        *_lists(f"{_NS}/events", "fieldSelector", "reason=a,involvedObject.x=b", "a"),
        *_lists(f"{_NS}/services", "fieldSelector", "spec.clusterIP=a,spec.ports=b"),
        *_lists("/api/v1/nodes", "fieldSelector", "spec.x=1"),
        *_lists("/api/v1/namespaces", "fieldSelector", "status.x=1", "name=a"),
        *_lists(f"{_APPS}/deployments", "fieldSelector", "spec.replicas=1", "status.replicas=1"),
        *_lists("/apis/batch/v1/namespaces/{ns}/jobs", "fieldSelector", "status.active=1"),
        *_lists(
            "/apis/certificates.k8s.io/v1/certificatesigningrequests", "fieldSelector", "spec.x=1"
        ),
        *_lists(
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "fieldSelector", "spec.x=1"
        ),
        ("DELETE", f"{_MAPS}?fieldSelector=spec.x=1", None),
        ("GET", f"{_MAPS}?timeoutSeconds=1&watch=1&fieldSelector=spec.x=1", None),
        ("GET", f"{_MAPS}?timeoutSeconds=1&watch=1&fieldSelector=x", None),
        ("GET", "/api/v1/configmaps?fieldSelector=metadata.namespace=a,b=c", None),
    ],
    "expressions of selectors": _expressions(
        {"key": "a", "operator": "In"},
        {"key": "a", "operator": "NotIn", "values": []},
        {"key": "a", "operator": "Exists", "values": ["b"]},
        {"key": "a", "operator": "DoesNotExist", "values": ["b"]},
        {"key": "a", "operator": "Gt", "values": ["1"]},
        {"key": "a", "operator": "in", "values": ["b"]},
        {"key": "a"},
        {"operator": "Exists"},
        {"key": "-", "operator": "In", "values": ["b c", "-", "x" * 64]},
        {"key": "a/b/c", "operator": "Exists"},
        {"key": "A_/b", "operator": "Exists"},
        {"key": "x" * 64, "operator": "Exists"},
    ),
    "labels of selectors": [
        _selector({"matchLabels": {"a": "b c"}}),
        _selector({"matchLabels": {"a b": "c"}}),
        _selector({"matchLabels": {"a": "c"}}),
        _selector({"matchLabels": {"": "c"}}),
        _selector({"matchLabels": {"a": "x" * 64}}),
        _selector({}),
        _selector(None),
    ],
    **{
        f"the continue token of {json.dumps(value)}": _lists(_MAPS, "continue", _token(value))
        for value in _TOKENS
    },
    "continue tokens that are no tokens": _lists(
        _MAPS, "continue", "x", "xxxx", "e30", "e30=", "!!", "{}", "eyJ", "bm8", " "
    ),
    "a continue token with a version": [
        ("GET", f"{_MAPS}?resourceVersion=5&continue={_token(_TOKENS[6])}", None),
        ("GET", f"{_MAPS}?resourceVersion=0&continue={_token(_TOKENS[1])}", None),
        ("GET", f"{_MAPS}?resourceVersion=5&resourceVersionMatch=Exact&continue=x", None),
        ("GET", f"{_MAPS}?resourceVersionMatch=Exact&continue=x", None),
    ],
    "versions": [
        *_lists(_MAPS, "resourceVersion", "x", "-1", "1.5", "99999999999999999999"),
        ("GET", f"{_MAPS}/x?resourceVersion=x", None),
        ("GET", f"{_MAPS}?timeoutSeconds=1&watch=1&resourceVersion=x", None),
        ("GET", f"{_MAPS}?timeoutSeconds=1&watch=1&resourceVersion=-1", None),
        *_lists(_MAPS, "resourceVersionMatch", "x", "Exact", "NotOlderThan"),
        ("GET", f"{_MAPS}?resourceVersion=0&resourceVersionMatch=Exact", None),
        ("GET", f"{_MAPS}?resourceVersion=1&resourceVersionMatch=Some", None),
        (
            "GET",
            f"{_MAPS}?timeoutSeconds=1&watch=1&resourceVersion=1&resourceVersionMatch=Exact",
            None,
        ),
        ("GET", f"{_MAPS}?timeoutSeconds=1&watch=1&sendInitialEvents=true", None),
        ("GET", f"{_MAPS}?sendInitialEvents=true", None),
        (
            "GET",
            f"{_MAPS}?timeoutSeconds=1&watch=1&sendInitialEvents=false&resourceVersionMatch=x",
            None,
        ),
        ("GET", f"{_MAPS}?resourceVersion=9223372036854775807", None),
    ],
    "options that are no numbers or words": [
        *_lists(_MAPS, "limit", "x", "1.5", "", "99999999999999999999"),
        *_lists(_MAPS, "timeoutSeconds", "x", "1s"),
        *_lists(_MAPS, "timeout", "x", "1", "-1s", "1h"),
        *_lists(_MAPS, "allowWatchBookmarks", "maybe"),
        ("DELETE", f"{_MAPS}/x?gracePeriodSeconds=x", None),
        ("DELETE", f"{_MAPS}/x?gracePeriodSeconds=-1", None),
        ("DELETE", f"{_MAPS}/x?orphanDependents=x", None),
        ("DELETE", f"{_MAPS}/x?propagationPolicy=x", None),
        ("DELETE", f"{_MAPS}/x?propagationPolicy=Orphan&orphanDependents=true", None),
        ("DELETE", f"{_MAPS}/x?dryRun=x", None),
        ("DELETE", f"{_MAPS}/x", {"kind": "DeleteOptions", "propagationPolicy": "x"}),
        ("DELETE", f"{_MAPS}/x", {"gracePeriodSeconds": "x"}),
        ("DELETE", f"{_MAPS}/x", {"apiVersion": "v1", "kind": "Pod"}),
        ("DELETE", f"{_MAPS}/x", "{"),
        ("POST", f"{_MAPS}?dryRun=x", {"metadata": {"name": "x"}}),
        ("POST", f"{_MAPS}?dryRun=All&dryRun=x", {"metadata": {"name": "x"}}),
        ("POST", f"{_MAPS}?fieldValidation=x", {"metadata": {"name": "x"}}),
        ("POST", f"{_MAPS}?fieldManager={'x' * 129}", {"metadata": {"name": "x"}}),
        ("POST", f"{_MAPS}?fieldManager=%00", {"metadata": {"name": "x"}}),
        ("POST", f"{_MAPS}?pretty=x&dryRun=All", {"metadata": {"name": "x"}}),
    ],
}
