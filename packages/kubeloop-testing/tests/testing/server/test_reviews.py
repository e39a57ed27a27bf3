"""Access reviews and token reviews."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import pytest

from kubeloop_testing.server.access import reviews
from kubeloop_testing.server.access.authn import Authenticator
from kubeloop_testing.server.access.rbac import Authorizer
from kubeloop_testing.server.access.service_accounts import ServiceAccountTokens
from kubeloop_testing.server.access.signing import SigningKey
from kubeloop_testing.server.access.token_requests import token_request
from kubeloop_testing.server.identity import AllowAll, User
from kubeloop_testing.server.statuses import StatusError

ANN = User("ann", "7", ("dev",), {"team": ("x",)})
NOW = datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)
KEY = SigningKey()
STORED: dict[str, list[dict[str, Any]]] = {
    "clusterroles": [
        {
            "metadata": {"name": "r"},
            "rules": [
                {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]},
                {"verbs": ["get"], "nonResourceURLs": ["/metrics"]},
            ],
        }
    ],
    "clusterrolebindings": [
        {
            "metadata": {"name": "b"},
            "roleRef": {"kind": "ClusterRole", "name": "r"},
            "subjects": [{"kind": "User", "name": "ann"}],
        }
    ],
    "serviceaccounts": [{"metadata": {"namespace": "shop", "name": "web", "uid": "u1"}}],
    "pods": [
        {
            "metadata": {"namespace": "shop", "name": "web-0", "uid": "p1"},
            "spec": {"serviceAccountName": "web", "nodeName": "n"},
        },
        {"metadata": {"namespace": "shop", "name": "db-0", "uid": "p2"}, "spec": {}},
    ],
}
[ACCOUNT] = STORED["serviceaccounts"]


def _objects(group: str, plural: str) -> Iterable[dict[str, Any]]:
    return STORED.get(plural, [])


RBAC = Authorizer(_objects)


def _review(kind: str, **spec: Any) -> dict[str, Any]:
    return {"kind": kind, "apiVersion": "authorization.k8s.io/v1", "spec": spec}


# --- access


def test_a_review_of_oneself_says_yes_and_why() -> None:
    review = _review(
        "SelfSubjectAccessReview", resourceAttributes={"verb": "get", "resource": "pods"}
    )

    reviewed = reviews.self_subject_access_review(review, ANN, RBAC)

    assert reviewed["spec"] == review["spec"]
    assert reviewed["status"] == {
        "allowed": True,
        "reason": 'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to User "ann"',
    }
    assert "status" not in review


def test_a_self_review_can_be_denied() -> None:
    review = _review("SelfSubjectAccessReview", nonResourceAttributes={"verb": "get", "path": "/x"})

    assert reviews.self_subject_access_review(review, ANN, RBAC)["status"] == {"allowed": False}


@pytest.mark.parametrize("spec", [{}, {"resourceAttributes": {}, "nonResourceAttributes": {}}])
def test_a_review_asks_for_exactly_one_thing(spec: dict[str, Any]) -> None:
    with pytest.raises(StatusError) as error:
        reviews.self_subject_access_review(_review("SelfSubjectAccessReview", **spec), ANN, RBAC)

    assert error.value.code == 422
    assert "exactly one of nonResourceAttributes or resourceAttributes must be specified" in str(
        error.value
    )


def test_a_review_of_another_user_must_name_the_user() -> None:
    spec = {"resourceAttributes": {"verb": "get", "resource": "pods"}}

    reviewed = reviews.subject_access_review(
        _review("SubjectAccessReview", user="ann", **spec), RBAC
    )
    assert reviewed["status"]["allowed"]

    with pytest.raises(StatusError, match="at least one of user or group must be specified"):
        reviews.subject_access_review(_review("SubjectAccessReview", **spec), RBAC)


def test_a_local_review_stays_in_its_namespace() -> None:
    def review(namespace: str) -> dict[str, Any]:
        attributes = {"verb": "get", "resource": "pods", "namespace": namespace}
        return _review("LocalSubjectAccessReview", user="ann", resourceAttributes=attributes)

    assert reviews.local_subject_access_review(review("shop"), "shop", RBAC)["status"]["allowed"]
    with pytest.raises(StatusError, match=r"must match metadata\.namespace"):
        reviews.local_subject_access_review(review("other"), "shop", RBAC)
    with pytest.raises(StatusError) as error:
        reviews.local_subject_access_review(
            {**review("shop"), "metadata": {"namespace": "other"}}, "shop", RBAC
        )
    assert error.value.code == 400


def test_an_invalid_selector_is_reported_and_ignored() -> None:
    attributes = {"verb": "get", "resource": "pods", "labelSelector": {"rawSelector": "(("}}
    review = _review("SelfSubjectAccessReview", resourceAttributes=attributes)

    status = reviews.self_subject_access_review(review, ANN, RBAC)["status"]

    assert status["allowed"]
    assert status["evaluationError"] == (
        "spec.resourceAttributes.labelSelector ignored due to parse error"
    )


def test_all_rules_of_oneself_are_listed() -> None:
    review = _review("SelfSubjectRulesReview", namespace="shop")

    status = reviews.self_subject_rules_review(review, ANN, RBAC)["status"]

    assert status == {
        "resourceRules": [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}],
        "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": ["/metrics"]}],
        "incomplete": False,
    }


def test_without_rbac_everything_is_allowed() -> None:
    review = _review("SelfSubjectRulesReview", namespace="shop")

    status = reviews.self_subject_rules_review(review, ANN, AllowAll())["status"]

    assert status["resourceRules"] == [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}]


def test_the_rules_are_those_of_any_authorizer_that_decides() -> None:
    """Not everything because its class is of a module that was imported again."""

    class ImportedAgain:
        allows, rules_for = RBAC.allows, RBAC.rules_for

    review = _review("SelfSubjectRulesReview", namespace="shop")

    assert reviews.self_subject_rules_review(review, ANN, ImportedAgain()) == (
        reviews.self_subject_rules_review(review, ANN, RBAC)
    )


def test_the_rules_of_no_namespace_are_a_bad_request() -> None:
    with pytest.raises(StatusError, match="no namespace on request"):
        reviews.self_subject_rules_review(_review("SelfSubjectRulesReview"), ANN, RBAC)


def test_one_can_ask_who_one_is() -> None:
    reviewed = reviews.self_subject_review({"kind": "SelfSubjectReview"}, ANN, now="n")

    assert reviewed["metadata"] == {"creationTimestamp": "n"}
    assert reviewed["status"]["userInfo"] == {
        "username": "ann",
        "uid": "7",
        "groups": ["dev"],
        "extra": {"team": ["x"]},
    }


# --- tokens


@pytest.fixture
def tokens() -> ServiceAccountTokens:
    return ServiceAccountTokens([KEY], _objects, now=lambda: NOW)


def test_a_token_review_returns_the_user_of_a_token(tokens: ServiceAccountTokens) -> None:
    authenticator = Authenticator(tokens={"t": ANN}, service_accounts=tokens)
    own = tokens.issue(ACCOUNT, seconds=600)

    known = reviews.token_review(_review("TokenReview", token="t"), authenticator)
    account = reviews.token_review(_review("TokenReview", token=own), authenticator)
    wrong = reviews.token_review(_review("TokenReview", token="x"), authenticator)

    assert known["status"]["user"]["username"] == "ann"
    assert known["status"]["authenticated"]
    assert account["status"]["user"]["username"] == "system:serviceaccount:shop:web"
    assert account["status"]["audiences"] == list(tokens.audiences)
    assert wrong["status"] == {"user": {}, "error": "invalid bearer token"}


def test_a_token_review_checks_the_audience(tokens: ServiceAccountTokens) -> None:
    authenticator = Authenticator(service_accounts=tokens)
    own = tokens.issue(ACCOUNT, seconds=600, audiences=["vault"])

    good = _review("TokenReview", token=own, audiences=["vault"])
    bad = _review("TokenReview", token=own)

    assert reviews.token_review(good, authenticator)["status"]["audiences"] == ["vault"]
    assert (
        "is invalid for the target audiences"
        in reviews.token_review(bad, authenticator)["status"]["error"]
    )


@pytest.mark.parametrize(("token", "namespace"), [("", ""), ("t", "shop")])
def test_a_token_review_without_token_or_in_a_namespace_is_a_bad_request(
    token: str, namespace: str
) -> None:
    with pytest.raises(StatusError) as error:
        reviews.token_review(
            _review("TokenReview", token=token), Authenticator(), namespace=namespace
        )

    assert error.value.code == 400


def _request(**spec: Any) -> dict[str, Any]:
    return {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "spec": spec}


def _issue(tokens: ServiceAccountTokens, request: dict[str, Any]) -> dict[str, Any]:
    return token_request(request, ACCOUNT, tokens, _objects, now=NOW)


def test_a_requested_token_is_good(tokens: ServiceAccountTokens) -> None:
    reviewed = _issue(tokens, _request())

    assert reviewed["spec"] == {
        "audiences": list(tokens.audiences),
        "expirationSeconds": 3600,
        "boundObjectRef": None,
    }
    assert reviewed["status"]["expirationTimestamp"] == "2024-01-02T04:04:05Z"
    assert reviewed["metadata"]["uid"] == "u1"
    assert tokens.authenticate_token(reviewed["status"]["token"]).user.uid == "u1"


def test_a_token_can_be_bound_to_a_pod_of_the_account(tokens: ServiceAccountTokens) -> None:
    reference = {"kind": "Pod", "apiVersion": "v1", "name": "web-0"}

    reviewed = _issue(tokens, _request(boundObjectRef=reference))

    user = tokens.authenticate_token(reviewed["status"]["token"]).user
    assert user.extra["authentication.kubernetes.io/pod-name"] == ("web-0",)
    assert user.extra["authentication.kubernetes.io/node-name"] == ("n",)


def _bound(kind: str, name: str, **more: str) -> dict[str, Any]:
    return _request(boundObjectRef={"kind": kind, "apiVersion": "v1", "name": name, **more})


@pytest.mark.parametrize(
    ("request_", "code", "message"),
    [
        (_request(expirationSeconds=599), 422, "may not specify a duration less than 10 minutes"),
        (_request(expirationSeconds=2**33), 422, "larger than 2\\^32 seconds"),
        (_bound("Pod", "gone"), 404, 'pods "gone" not found'),
        (_bound("Pod", "web-0", uid="x"), 409, "does not match the UID in record"),
        (_bound("Pod", "db-0"), 400, "different serviceaccount name"),
        (_bound("Service", "web"), 400, "cannot bind token to object of type /v1, Kind=Service"),
        ({"metadata": {"name": "db"}}, 422, "must match the service account name if specified"),
        ({"metadata": {"uid": "x"}}, 409, "does not match the UID of the service account"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused(
    tokens: ServiceAccountTokens, request_: dict[str, Any], code: int, message: str
) -> None:
    with pytest.raises(StatusError, match=message) as error:
        _issue(tokens, request_)

    assert error.value.code == code
