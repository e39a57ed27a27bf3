# Generated from the OpenAPI document of Kubernetes 1.37 by tools/kubeloop_generate. Do not edit.

from __future__ import annotations

from ..kinds import Resource
from ..model import Model
from ..model import UNSET
from ..scalars import Time
from typing import ClassVar

__all__ = [
    "BoundObjectReference",
    "SelfSubjectReview",
    "SelfSubjectReviewStatus",
    "TokenRequest",
    "TokenRequestSpec",
    "TokenRequestStatus",
    "TokenReview",
    "TokenReviewSpec",
    "TokenReviewStatus",
    "UserInfo",
]


class BoundObjectReference(Model):
    api_version: str | None = None
    kind: str | None = None
    name: str | None = None
    uid: str | None = None


class SelfSubjectReview(Resource, group="authentication.k8s.io", version="v1", plural="selfsubjectreviews", namespaced=False):
    status: SelfSubjectReviewStatus = UNSET


class SelfSubjectReviewStatus(Model):
    __optional__: ClassVar[frozenset[str]] = frozenset(['user_info'])
    user_info: UserInfo = UNSET


class TokenRequest(Resource, group="authentication.k8s.io", version="v1"):
    spec: TokenRequestSpec = UNSET
    status: TokenRequestStatus = UNSET


class TokenRequestSpec(Model):
    attestations: dict[str, list[str]] = UNSET
    audiences: list[str] = UNSET
    bound_object_ref: BoundObjectReference | None = None
    expiration_seconds: int | None = None


class TokenRequestStatus(Model):
    __redacted__: ClassVar[frozenset[str]] = frozenset(['token'])
    expiration_timestamp: Time | None = None
    token: str | None = None


class TokenReview(Resource, group="authentication.k8s.io", version="v1", plural="tokenreviews", namespaced=False):
    spec: TokenReviewSpec = UNSET
    status: TokenReviewStatus = UNSET


class TokenReviewSpec(Model):
    __redacted__: ClassVar[frozenset[str]] = frozenset(['token'])
    audiences: list[str] = UNSET
    token: str = UNSET


class TokenReviewStatus(Model):
    __optional__: ClassVar[frozenset[str]] = frozenset(['user'])
    audiences: list[str] = UNSET
    authenticated: bool | None = None
    error: str | None = None
    user: UserInfo = UNSET


class UserInfo(Model):
    extra: dict[str, list[str]] = UNSET
    groups: list[str] = UNSET
    uid: str | None = None
    username: str | None = None
