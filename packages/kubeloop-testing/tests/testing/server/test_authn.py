"""Authentication of requests."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from multidict import CIMultiDict

from kubeloop.kit import SystemClock
from kubeloop_testing.server.access.authn import Authenticator, Subject
from kubeloop_testing.server.access.impersonation import impersonate
from kubeloop_testing.server.access.service_accounts import (
    ISSUER,
    BoundObject,
    ServiceAccountTokens,
)
from kubeloop_testing.server.access.signing import BadToken, SigningKey
from kubeloop_testing.server.core import AccessOptions, Core
from kubeloop_testing.server.faults import Faults
from kubeloop_testing.server.identity import Attributes, Decision, User
from kubeloop_testing.server.kubelet.programs import Programs
from kubeloop_testing.server.statuses import StatusError

ANN = User("ann", "7", ("dev",))
KEY = SigningKey()
NOW = datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)
ACCOUNT = {"metadata": {"namespace": "shop", "name": "web", "uid": "u1"}}
POD = {
    "metadata": {"namespace": "shop", "name": "web-0", "uid": "p1"},
    "spec": {"serviceAccountName": "web"},
}


class Stored:
    """Stored objects by plural."""

    def __init__(self, **objects: list[dict[str, Any]]) -> None:
        self.objects = objects

    def __call__(self, group: str, plural: str) -> Iterable[dict[str, Any]]:
        return self.objects.get(plural, [])


def _bearer(token: str) -> CIMultiDict[str]:
    return CIMultiDict({"authorization": f"Bearer {token}"})


NOTHING: CIMultiDict[str] = CIMultiDict()


# --- tokens, certificates, anonymous requests


def test_a_known_token_is_its_user_and_one_of_all_authenticated() -> None:
    user = Authenticator(tokens={"t": ANN}).authenticate(_bearer("t"))

    assert user == User("ann", "7", ("dev", "system:authenticated"))


@pytest.mark.parametrize("anonymous", [True, False])
def test_a_wrong_token_is_unauthorized_even_where_anonymous_requests_are_accepted(
    anonymous: bool,
) -> None:
    authenticator = Authenticator(tokens={"t": ANN}, anonymous=anonymous)

    with pytest.raises(StatusError) as error:
        authenticator.authenticate(_bearer("x"))

    assert error.value.status["code"] == 401
    assert error.value.status["message"] == "Unauthorized"


def test_an_anonymous_request_has_its_own_user_and_group() -> None:
    user = Authenticator(anonymous=True).authenticate(NOTHING)

    assert user == User("system:anonymous", "", ("system:unauthenticated",))


def test_anonymous_requests_are_rejected_where_they_are_not_accepted() -> None:
    with pytest.raises(StatusError) as error:
        Authenticator(tokens={"t": ANN}).authenticate(NOTHING)

    assert error.value.code == 401


def test_a_rotated_token_is_known_and_the_old_one_is_not() -> None:
    authenticator = Authenticator(tokens={"old": ANN})

    authenticator.replace_tokens({"new": ANN})

    assert authenticator.authenticate(_bearer("new")).name == "ann"
    with pytest.raises(StatusError):
        authenticator.authenticate(_bearer("old"))


@pytest.mark.parametrize("header", ["Bearer t", "bearer t", "BEARER t", "Bearer t extra"])
def test_the_scheme_is_read_in_any_case(header: str) -> None:
    headers = CIMultiDict({"Authorization": header})

    assert Authenticator(tokens={"t": ANN}).authenticate(headers).name == "ann"


@pytest.mark.parametrize("header", ["Basic dDp0", "Bearer", "Bearer ", ""])
def test_other_schemes_are_no_credentials(header: str) -> None:
    headers = CIMultiDict({"Authorization": header})

    user = Authenticator(tokens={"t": ANN}, anonymous=True).authenticate(headers)

    assert user.name == "system:anonymous"


def test_a_websocket_may_bring_its_token_among_the_protocols() -> None:
    encoded = base64.urlsafe_b64encode(b"t").rstrip(b"=").decode()
    protocols = f"v5.channel.k8s.io, base64url.bearer.authorization.k8s.io.{encoded}"
    headers = CIMultiDict({"Sec-WebSocket-Protocol": protocols})

    assert Authenticator(tokens={"t": ANN}).authenticate(headers).name == "ann"


def test_a_certificate_names_user_and_groups_and_comes_before_the_token() -> None:
    authenticator = Authenticator(client_ca=b"ca", tokens={"t": ANN})

    user = authenticator.authenticate(_bearer("wrong"), Subject("bob", ("ops",), "ab"))

    assert user.name == "bob"
    assert user.groups == ("ops", "system:authenticated")
    assert user.extra == {"authentication.kubernetes.io/credential-id": ("X509SHA256=ab",)}


def test_a_certificate_is_ignored_without_a_client_authority() -> None:
    user = Authenticator(anonymous=True).authenticate(NOTHING, Subject("bob"))

    assert user.name == "system:anonymous"


# --- service accounts


def _tokens(stored: Stored, *, now: datetime = NOW) -> ServiceAccountTokens:
    return ServiceAccountTokens([KEY], stored, now=lambda: now)


def test_a_service_account_token_is_the_account_and_its_groups() -> None:
    tokens = _tokens(Stored(serviceaccounts=[ACCOUNT]))
    authenticator = Authenticator(service_accounts=tokens)

    user = authenticator.authenticate(_bearer(tokens.issue(ACCOUNT, seconds=600)))

    assert user.name == "system:serviceaccount:shop:web"
    assert user.uid == "u1"
    assert user.groups == (
        "system:serviceaccounts",
        "system:serviceaccounts:shop",
        "system:authenticated",
    )
    [credential] = user.extra["authentication.kubernetes.io/credential-id"]
    assert credential.startswith("JTI=")


def test_a_bound_token_has_its_pod_and_node() -> None:
    tokens = _tokens(Stored(serviceaccounts=[ACCOUNT], pods=[POD]))
    bound = BoundObject("Pod", "web-0", "p1", ("node-7", "n1"))

    found = tokens.authenticate_token(tokens.issue(ACCOUNT, seconds=600, bound=bound))

    extra = {key.rpartition("/")[2]: value for key, value in found.user.extra.items()}
    assert extra["pod-name"] == ("web-0",)
    assert extra["pod-uid"] == ("p1",)
    assert extra["node-name"] == ("node-7",)
    assert extra["node-uid"] == ("n1",)


OTHER_POD = {"metadata": {**POD["metadata"], "uid": "p2"}}
DELETED_POD = {"metadata": {**POD["metadata"], "deletionTimestamp": "2024-01-02T03:00:00Z"}}
OTHER_ACCOUNT = {"metadata": {**ACCOUNT["metadata"], "uid": "u2"}}


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        (Stored(), "not found"),
        (Stored(serviceaccounts=[OTHER_ACCOUNT]), "does not match claim"),
        (Stored(serviceaccounts=[ACCOUNT]), "has been invalidated"),
        (Stored(serviceaccounts=[ACCOUNT], pods=[OTHER_POD]), "pod UID"),
        (Stored(serviceaccounts=[ACCOUNT], pods=[DELETED_POD]), "has been invalidated"),
    ],
)
def test_a_token_is_invalid_after_its_bound_object_is_deleted(stored: Stored, message: str) -> None:
    token = _tokens(Stored()).issue(ACCOUNT, seconds=600, bound=BoundObject("Pod", "web-0", "p1"))

    with pytest.raises(BadToken, match=message):
        _tokens(stored).authenticate_token(token)


def test_a_token_expires() -> None:
    stored = Stored(serviceaccounts=[ACCOUNT])
    token = _tokens(stored).issue(ACCOUNT, seconds=600)

    _tokens(stored, now=NOW + timedelta(seconds=650)).authenticate_token(token)  # clocks differ
    with pytest.raises(BadToken, match="service account token has expired"):
        _tokens(stored, now=NOW + timedelta(seconds=661)).authenticate_token(token)
    with pytest.raises(BadToken, match="not valid yet"):
        _tokens(stored, now=NOW - timedelta(seconds=61)).authenticate_token(token)


def test_a_token_for_others_is_refused_here() -> None:
    tokens = _tokens(Stored(serviceaccounts=[ACCOUNT]))
    token = tokens.issue(ACCOUNT, seconds=600, audiences=["vault"])

    assert tokens.authenticate_token(token, ["vault", "x"]).audiences == ("vault",)
    with pytest.raises(BadToken) as problem:
        tokens.authenticate_token(token)
    assert str(problem.value) == (
        f'token audiences ["vault"] is invalid for the target audiences ["{ISSUER}"]'
    )


def test_a_rotated_key_keeps_old_tokens_only_when_asked_to() -> None:
    tokens = _tokens(Stored(serviceaccounts=[ACCOUNT]))
    old = tokens.issue(ACCOUNT, seconds=600)

    tokens.rotate(SigningKey())
    tokens.authenticate_token(old)
    tokens.authenticate_token(tokens.issue(ACCOUNT, seconds=600))
    assert len(tokens.keys()["keys"]) == 2

    tokens.rotate(SigningKey(), keep_old=False)
    with pytest.raises(BadToken):
        tokens.authenticate_token(old)


# --- impersonation


class Allowing:
    """Allows a fixed set of resources, and records the requests."""

    def __init__(self, *resources: str) -> None:
        self.resources = resources
        self.requests: list[Attributes] = []

    def allows(self, attributes: Attributes, /) -> Decision:
        self.requests.append(attributes)
        return Decision(attributes.full_resource in self.resources, "because")


def test_without_the_headers_the_user_stays_who_they_are() -> None:
    assert impersonate(ANN, NOTHING, Allowing()) is ANN


def test_groups_uid_and_extras_are_impersonated() -> None:
    headers = CIMultiDict(
        [
            ("Impersonate-User", "bob"),
            ("Impersonate-Group", "ops"),
            ("Impersonate-Group", "dev"),
            ("Impersonate-Uid", "9"),
            ("Impersonate-Extra-Scopes", "a"),
            ("Impersonate-Extra-Scopes", "b"),
            ("Impersonate-Extra-example.com%2fteam", "x"),
        ]
    )
    authorizer = Allowing(
        "users", "groups", "uids", "userextras/scopes", "userextras/example.com/team"
    )

    user = impersonate(ANN, headers, authorizer)

    assert user == User(
        "bob",
        "9",
        ("ops", "dev", "system:authenticated"),
        {"scopes": ("a", "b"), "example.com/team": ("x",)},
    )
    assert {each.verb for each in authorizer.requests} == {"impersonate"}
    assert all(each.user is ANN for each in authorizer.requests)


def test_an_impersonated_service_account_has_its_groups() -> None:
    headers = CIMultiDict({"Impersonate-User": "system:serviceaccount:shop:web"})
    authorizer = Allowing("serviceaccounts")

    user = impersonate(ANN, headers, authorizer)

    assert user.groups == (
        "system:serviceaccounts",
        "system:serviceaccounts:shop",
        "system:authenticated",
    )
    assert (authorizer.requests[0].namespace, authorizer.requests[0].name) == ("shop", "web")


@pytest.mark.parametrize(
    ("name", "group", "groups"),
    [
        ("system:anonymous", "", ("system:unauthenticated",)),
        ("bob", "system:unauthenticated", ("system:unauthenticated",)),
        ("bob", "system:authenticated", ("system:authenticated",)),
        ("bob", "", ("system:authenticated",)),
    ],
)
def test_the_group_of_all_is_added_as_kube_adds_it(
    name: str, group: str, groups: tuple[str, ...]
) -> None:
    headers = CIMultiDict({"Impersonate-User": name})
    if group:
        headers.add("Impersonate-Group", group)

    assert impersonate(ANN, headers, Allowing("users", "groups")).groups == groups


def test_what_is_not_allowed_is_forbidden_with_the_reason() -> None:
    headers = CIMultiDict({"Impersonate-User": "bob", "Impersonate-Group": "system:masters"})

    with pytest.raises(StatusError) as error:
        impersonate(ANN, headers, Allowing("users"))

    assert error.value.code == 403
    assert error.value.status["message"] == (
        'groups "system:masters" is forbidden: User "ann" cannot impersonate resource "groups" '
        'in API group "" at the cluster scope: because'
    )


def test_groups_without_a_user_are_a_bad_request() -> None:
    with pytest.raises(StatusError) as error:
        impersonate(ANN, CIMultiDict({"Impersonate-Group": "ops"}), Allowing("groups"))

    assert error.value.code == 400
    assert error.value.status["message"] == (
        "requested [{Group  ops    }] without impersonating a user"
    )


def test_a_core_is_complete_when_it_is_constructed() -> None:
    access = AccessOptions(tokens={"t": ANN}, rbac=True)

    core = Core(
        clock=SystemClock(),
        faults=Faults(),
        programs=Programs(),
        history=10,
        queue=10,
        access=access,
    )

    assert core.security.authenticate(_bearer("t"), None).name == "ann"
    assert core.security.decides
