"""Rules of certificates.k8s.io."""

from __future__ import annotations

from typing import Any

from tests.conformance.certificates import (
    CA,
    CERTIFICATE,
    LEAF,
    REQUEST,
    REQUEST_DER,
    REQUEST_OF_ADMINISTRATOR,
)
from tests.conformance.rule_steps import Body, Step, change, create, delete, lifecycle, rejections

_API = "/apis/certificates.k8s.io/v1"
_REQUESTS = f"{_API}/certificatesigningrequests"
_BUNDLES = f"{_API}/clustertrustbundles"
_POD_REQUESTS = f"{_API}/namespaces/{{ns}}/podcertificaterequests"


# The requester is recorded in the object: with the certificate of a client it would be another
# one in every run.
_REQUESTER = {"Impersonate-User": "jane", "Impersonate-Group": "system:masters"}


def _life(body: Body, *steps: Step, name: str = "x-{ns}") -> list[Step]:
    """The life of a signing request."""
    return [create(_REQUESTS, body, name, _REQUESTER), *steps, delete(_REQUESTS, name)]


def _request(**changes: Any) -> Body:
    spec = {
        "request": REQUEST,
        "signerName": "example.com/signer",
        "usages": ["client auth"],
        **changes,
    }
    return {"spec": {key: value for key, value in spec.items() if value is not None}}


def _condition(kind: str, status: str = "True", **more: str) -> Body:
    return {"type": kind, "status": status, "reason": "Case", "message": "m", **more}


def _status(**status: Any) -> Body:
    return {"status": status}


def _bundle(bundle: str, signer: str = "", name: str = "x-{ns}") -> Body:
    spec = {"trustBundle": bundle, **({"signerName": signer} if signer else {})}
    return {"metadata": {"name": name}, "spec": spec}


def _pod_request(**changes: Any) -> Body:
    spec = {
        "signerName": "example.com/signer",
        "podName": "p",
        "podUID": "1",
        "serviceAccountName": "default",
        "serviceAccountUID": "2",
        "nodeName": "n",
        "nodeUID": "3",
        "stubPKCS10Request": REQUEST_DER,
        "maxExpirationSeconds": 86400,
        **changes,
    }
    return {"spec": {key: value for key, value in spec.items() if value is not None}}


CASES: dict[str, list[Step]] = {
    "a signing request": _life(_request()),
    "a signing request with all fields": _life(
        {
            **_request(
                expirationSeconds=600,
                usages=["digital signature", "key encipherment", "server auth"],
                username="someone-else",
                groups=["others"],
                uid="7",
                extra={"a": ["b"]},
            ),
            "status": {"conditions": [_condition("Approved")], "certificate": CERTIFICATE},
        },
    ),
    "wrong values of a signing request": rejections(
        _REQUESTS,
        {},
        {"spec": {}},
        _request(request="YWJj"),
        _request(request=None),
        _request(usages=[]),
        _request(usages=["client auth", "client auth", "fun"]),
        _request(signerName=None),
        _request(signerName="kubernetes.io/legacy-unknown"),
        _request(signerName="plain"),
        _request(signerName="plain/x"),
        _request(signerName="example.com/a/b"),
        _request(signerName="EXAMPLE.com/A_b"),
        _request(signerName="example.com/"),
        _request(expirationSeconds=599),
    ),
    "the spec of a signing request is fixed": _life(
        _request(),
        change(_REQUESTS, {"spec": {"usages": ["server auth"]}}),
        change(_REQUESTS, {"spec": {"signerName": "example.com/other"}}),
        change(_REQUESTS, {"spec": {"username": "other"}}),
        change(_REQUESTS, {"metadata": {"labels": {"a": "b"}}}),
        change(_REQUESTS, _status(certificate=CERTIFICATE)),
    ),
    "a signing request is approved and signed": _life(
        _request(),
        change(_REQUESTS, _status(conditions=[_condition("Approved")]), part="status"),
        change(_REQUESTS, _status(conditions=[_condition("Approved")]), part="approval"),
        change(_REQUESTS, _status(certificate="YWJj"), part="status"),
        change(_REQUESTS, _status(certificate=CERTIFICATE), part="approval"),
        change(_REQUESTS, _status(certificate=CERTIFICATE), part="status"),
        change(_REQUESTS, _status(certificate=REQUEST), part="status"),
        change(_REQUESTS, _status(conditions=[]), part="approval"),
        change(_REQUESTS, _status(conditions=[]), part="status"),
        change(
            _REQUESTS,
            _status(conditions=[_condition("Approved"), _condition("Failed")]),
            part="status",
        ),
    ),
    "a signing request is denied": _life(
        _request(),
        change(_REQUESTS, _status(conditions=[_condition("Denied", "False")]), part="approval"),
        change(
            _REQUESTS,
            _status(conditions=[_condition("Approved"), _condition("Denied")]),
            part="approval",
        ),
        change(
            _REQUESTS,
            _status(conditions=[_condition("Denied"), _condition("Denied")]),
            part="approval",
        ),
        change(_REQUESTS, _status(conditions=[{"type": "", "status": ""}]), part="approval"),
        change(_REQUESTS, _status(conditions=[_condition("Own", "Maybe")]), part="approval"),
        change(_REQUESTS, _status(conditions=[_condition("Denied")]), part="approval"),
        change(_REQUESTS, _status(conditions=[_condition("Denied")]), part="approval"),
    ),
    "a certificate of administrators": [
        *rejections(
            _REQUESTS,
            _request(
                request=REQUEST_OF_ADMINISTRATOR, signerName="kubernetes.io/kube-apiserver-client"
            ),
            _request(request="YWJj", signerName="kubernetes.io/kube-apiserver-client"),
        ),
        *_life(_request(request=REQUEST_OF_ADMINISTRATOR)),
    ],
    "names of signing requests": [
        create(_REQUESTS, _request(), "Any Name {ns}", _REQUESTER),
        ("DELETE", f"{_REQUESTS}/Any%20Name%20{{ns}}", None),
    ],
    "a trust bundle": lifecycle(
        _BUNDLES,
        _bundle(CA),
        change(_BUNDLES, {"spec": {"trustBundle": LEAF}}),
        change(_BUNDLES, {"spec": {"signerName": "example.com/a"}}),
        change(_BUNDLES, {"spec": {"trustBundle": f"some text\n{CA}"}}),
    ),
    "a trust bundle of a signer": [
        create(_BUNDLES, _bundle(CA, "example.com/s", "example.com:s:{ns}")),
        delete(_BUNDLES, "example.com:s:{ns}"),
    ],
    "wrong values of a trust bundle": rejections(
        _BUNDLES,
        {},
        _bundle(""),
        _bundle("text"),
        _bundle(LEAF),
        _bundle(CA + CA),
        _bundle(CA, "example.com/s"),
        _bundle(CA, "example.com/s", "example.com:s:Bad_{ns}"),
        _bundle(CA, "bad signer", "bad signer:{ns}"),
        _bundle(CA, "", "example.com:s:{ns}"),
    ),
    "a certificate request of a pod": lifecycle(
        _POD_REQUESTS,
        _pod_request(),
        change(_POD_REQUESTS, {"spec": {"podName": "q"}}),
        change(_POD_REQUESTS, {"metadata": {"labels": {"a": "b"}}}),
    ),
    "wrong values of a certificate request of a pod": rejections(
        _POD_REQUESTS,
        _pod_request(podName="A B", podUID="", serviceAccountUID="", nodeUID=""),
        _pod_request(podUID="x" * 129),
        _pod_request(maxExpirationSeconds=1),
        _pod_request(maxExpirationSeconds=86400 * 92),
        _pod_request(
            signerName="kubernetes.io/kube-apiserver-client-pod", maxExpirationSeconds=90000
        ),
    ),
}
