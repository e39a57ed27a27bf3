"""SubjectAccessReview, TokenReview and the other reviews: evaluated, never stored.

Guarantees: the object that is passed in is not modified; a review has the decision that the
server itself would make.
See also: `rbac` (the decisions), `token_requests`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, cast

from kubeloop.selectors import parse_fields, parse_labels
from kubeloop.wire import InvalidArgument, Json, JsonObject

from .. import statuses
from ..identity import AllowAll, Attributes, Authorizer, User
from ..statuses import Cause
from ..values import causes
from .authn import Authenticator
from .rbac_rules import EVERYTHING
from .signing import BadToken

if TYPE_CHECKING:
    from . import rbac

__all__ = [
    "local_subject_access_review",
    "self_subject_access_review",
    "self_subject_review",
    "self_subject_rules_review",
    "subject_access_review",
    "token_review",
]

_GROUP: Final = "authorization.k8s.io"
_ONE_OF: Final = "exactly one of nonResourceAttributes or resourceAttributes must be specified"


def self_subject_access_review(
    obj: Mapping[str, Json], user: User, authorizer: Authorizer
) -> JsonObject:
    """Whether `user` may do what the review describes.

    Raises:
        StatusError: the review is invalid (422).
    """
    spec = obj.get("spec") or {}
    _check([*_spec_problems(spec), *_selector_problems(spec), *_metadata_problems(obj)])
    return _decided(obj, _attributes(user, spec), authorizer)


def subject_access_review(obj: Mapping[str, Json], authorizer: Authorizer) -> JsonObject:
    """Whether another user may do what the review describes.

    Raises:
        StatusError: the review is invalid (422).
    """
    spec = obj.get("spec") or {}
    _check(
        [
            *_spec_problems(spec),
            *_subject_problems(spec),
            *_selector_problems(spec),
            *_metadata_problems(obj),
        ]
    )
    return _decided(obj, _attributes(_subject(spec), spec), authorizer)


def local_subject_access_review(
    obj: Mapping[str, Json], namespace: str, authorizer: Authorizer
) -> JsonObject:
    """The same within one namespace, the one of the request.

    Raises:
        StatusError: the review is invalid or for another namespace (422, 400).
    """
    spec, own = obj.get("spec") or {}, (obj.get("metadata") or {}).get("namespace", "")
    if own and own != namespace:
        raise statuses.bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    found = [*_spec_problems(spec), *_subject_problems(spec), *_selector_problems(spec)]
    _check([*found, *_metadata_problems(obj), *_local_problems(spec, namespace)])
    obj = {**obj, "metadata": {**(obj.get("metadata") or {}), "namespace": namespace}}
    return _decided(obj, _attributes(_subject(spec), spec), authorizer)


def self_subject_rules_review(
    obj: Mapping[str, Json], user: User, authorizer: Authorizer
) -> JsonObject:
    """All rules of `user` in a namespace.

    Raises:
        StatusError: the namespace is missing (400).
    """
    namespace = (obj.get("spec") or {}).get("namespace", "")
    if not namespace:
        raise statuses.bad_request("no namespace on request")
    if isinstance(authorizer, AllowAll):
        rules, problem = list(EVERYTHING), ""
    else:
        rules, problem = cast("rbac.Authorizer", authorizer).rules_for(user, namespace)
    wire = [rule.wire() for rule in rules]
    status: JsonObject = {
        "resourceRules": [each for each in wire if "resources" in each],
        "nonResourceRules": [each for each in wire if "nonResourceURLs" in each],
        "incomplete": False,
    }
    if problem:
        status["evaluationError"] = problem
    # kube-apiserver responds with the status only, and an empty spec.
    return {**_head(obj), "metadata": {}, "spec": {}, "status": status}


def self_subject_review(obj: Mapping[str, Json], user: User, *, now: str) -> JsonObject:
    """The review with the attributes of `user`."""
    meta = {"creationTimestamp": now}
    return {**_head(obj), "metadata": meta, "status": {"userInfo": user.user_info()}}


def token_review(
    obj: Mapping[str, Json], authenticator: Authenticator, *, namespace: str = ""
) -> JsonObject:
    """The review with the user of its token.

    Raises:
        StatusError: no token, or a namespace (400).
    """
    if namespace:
        raise statuses.bad_request(f"namespace is not allowed on this type: {namespace}")
    spec = obj.get("spec") or {}
    token, audiences = spec.get("token", ""), spec.get("audiences") or ()
    if not token:
        raise statuses.bad_request("token is required for TokenReview in authentication")
    try:
        found = authenticator.authenticate_token(token, audiences)
    except BadToken as problem:
        # An invalid token is a result of the review, not an error of the request.
        status: JsonObject = {"user": {}, "error": str(problem)}
    else:
        status = {"authenticated": True, "user": found.user.user_info()}
        if found.audiences:
            status["audiences"] = list(found.audiences)
    return {**_head(obj), "metadata": obj.get("metadata") or {}, "spec": spec, "status": status}


# --- decisions


def _decided(obj: Mapping[str, Json], attributes: Attributes, authorizer: Authorizer) -> JsonObject:
    decision = authorizer.allows(attributes)
    status: JsonObject = {"allowed": decision.allowed}
    if decision.reason:
        status["reason"] = decision.reason
    problem = _selector_problem((obj.get("spec") or {}).get("resourceAttributes") or {})
    if problem:
        status["evaluationError"] = problem
    meta = obj.get("metadata") or {}
    return {**_head(obj), "metadata": meta, "spec": obj.get("spec") or {}, "status": status}


def _head(obj: Mapping[str, Json]) -> JsonObject:
    return {"kind": obj.get("kind", ""), "apiVersion": obj.get("apiVersion", "")}


def _attributes(user: User, spec: Mapping[str, Json]) -> Attributes:
    # ResourceAttributesFrom and NonResourceAttributesFrom.
    path = spec.get("nonResourceAttributes")
    if path is not None:
        return Attributes(user, path.get("verb", ""), path=path.get("path", "") or "/")
    fields = spec["resourceAttributes"]
    return Attributes(
        user,
        fields.get("verb", ""),
        group=fields.get("group", ""),
        version=fields.get("version", "") or "*",
        resource=fields.get("resource", ""),
        subresource=fields.get("subresource", ""),
        name=fields.get("name", ""),
        namespace=fields.get("namespace", ""),
    )


def _subject(spec: Mapping[str, Json]) -> User:
    extra = {key: tuple(values) for key, values in (spec.get("extra") or {}).items()}
    return User(spec.get("user", ""), spec.get("uid", ""), tuple(spec.get("groups") or ()), extra)


def _selector_problem(attributes: Mapping[str, Json]) -> str:
    """RBAC ignores selectors, but a selector that cannot be parsed is reported."""
    problems = []
    for key, parse in (("fieldSelector", parse_fields), ("labelSelector", parse_labels)):
        raw = (attributes.get(key) or {}).get("rawSelector", "")
        try:
            parse(raw)
        except InvalidArgument:
            problems.append(f"spec.resourceAttributes.{key} ignored due to parse error")
    return "; ".join(problems)


# --- validation


def _check(found: list[Cause]) -> None:
    # kube-apiserver takes the kind from an object that has none any more.
    if found:
        raise statuses.invalid(_GROUP, "", "", found)


def _spec_problems(spec: Mapping[str, Json]) -> list[Cause]:
    path, resource = spec.get("nonResourceAttributes"), spec.get("resourceAttributes")
    if (path is None) == (resource is None):
        return [causes.invalid("spec", path, _ONE_OF)]
    return []


def _selector_problems(spec: Mapping[str, Json]) -> list[Cause]:
    """A selector has requirements or a text; unknown operators of newer clients are accepted."""
    found = []
    for field in ("fieldSelector", "labelSelector"):
        selector = (spec.get("resourceAttributes") or {}).get(field)
        if selector is None:
            continue
        path, raw = f"spec.resourceAttributes.{field}", selector.get("rawSelector")
        requirements = selector.get("requirements") or []
        if raw and requirements:
            rule = "may not specified at the same time as requirements"
            found.append(causes.invalid(f"{path}.rawSelector", raw, rule))
        if not raw and not requirements:
            rule = "requirements or rawSelector is required"
            found.append(causes.required(f"{path}.requirements", rule))
        for index, each in enumerate(requirements):
            found += _requirement_problems(f"{path}.requirements[{index}]", each)
    return found


def _requirement_problems(path: str, requirement: Mapping[str, Json]) -> list[Cause]:
    operator, values = requirement.get("operator"), requirement.get("values")
    found = []
    if operator in {"In", "NotIn"} and not values:
        rule = "must be specified when `operator` is 'In' or 'NotIn'"
        found.append(causes.required(f"{path}.values", rule))
    if operator in {"Exists", "DoesNotExist"} and values:
        rule = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        found.append(causes.forbidden(f"{path}.values", rule))
    if not requirement.get("key"):
        found.append(causes.required(f"{path}.key", "must be specified"))
    return found


def _subject_problems(spec: Mapping[str, Json]) -> list[Cause]:
    if spec.get("user") or spec.get("groups"):
        return []
    return [causes.invalid("spec.user", "", "at least one of user or group must be specified")]


def _metadata_problems(obj: Mapping[str, Json]) -> list[Cause]:
    # Reviews are not stored, so metadata other than managed fields would have no meaning.
    ignored = {"managedFields", "namespace"}
    meta = {k: v for k, v in (obj.get("metadata") or {}).items() if v and k not in ignored}
    return [causes.invalid("metadata", meta, "must be empty")] if meta else []


def _local_problems(spec: Mapping[str, Json], namespace: str) -> list[Cause]:
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    found = []
    if resource is not None and resource.get("namespace", "") != namespace:
        field = "spec.resourceAttributes.namespace"
        other = resource.get("namespace", "")
        found.append(causes.invalid(field, other, "must match metadata.namespace"))
    if path is not None:
        field = "spec.nonResourceAttributes"
        found.append(causes.invalid(field, path, "disallowed on this kind of request"))
    return found
