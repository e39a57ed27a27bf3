"""Reviews as bytes: requests, responses, and what is rejected."""

from __future__ import annotations

import base64
from typing import Any

import msgspec
import pytest

from kubeloop.errors import InvalidArgument
from kubeloop.patches import apply_json_patch
from kubeloop.runtime import AdmissionRequest, Denied
from kubeloop.runtime.admission import (
    ReviewRequest,
    allow_response,
    deny_response,
    objects_of,
    patch_between,
    read_review,
)
from kubeloop.runtime.conversion import Conversions
from kubeloop.wire import Model, Resource

from .websites import Website, WebsiteSpec

SITE = {
    "apiVersion": "example.com/v1",
    "kind": "Website",
    "metadata": {"name": "shop", "namespace": "default"},
    "spec": {"image": "nginx", "replicas": 3, "newerThanUs": {"a": 1}},
}


def a_review(**request: Any) -> bytes:
    review_request = {
        "uid": "42",
        "kind": {"group": "example.com", "version": "v1", "kind": "Website"},
        "resource": {"group": "example.com", "version": "v1", "resource": "websites"},
        "operation": "CREATE",
        "namespace": "default",
        "userInfo": {"username": "ada", "groups": ["dev"]},
        "object": SITE,
        **request,
    }
    return msgspec.json.encode(
        {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": review_request}
    )


def test_a_review_is_read_into_typed_objects() -> None:
    review_request = read_review(a_review(operation="UPDATE", oldObject=SITE, dryRun=True))

    site, old = objects_of(review_request, Website)
    request = AdmissionRequest(review_request, old)

    assert site.spec.replicas == 3
    assert old == site
    assert (request.operation, request.user.username, request.dry_run) == ("UPDATE", "ada", True)
    assert str(request.key) == "default/shop"
    assert request.resource.resource == "websites"


def test_the_object_of_a_delete_review_is_the_one_to_be_deleted() -> None:
    site, old = objects_of(
        read_review(a_review(operation="DELETE", object=None, oldObject=SITE)), Website
    )

    assert old is site


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (b"", "invalid"),
        (b"[1, 2]", "invalid"),
        (b"\xff", "invalid"),
        (
            b'{"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1beta1"}',
            "set admissionReviewVersions to v1",
        ),
        (b'{"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1"}', "no request"),
        (a_review(operation="DANCE"), "invalid"),
        (a_review(uid=None), "invalid"),
    ],
)
def test_an_invalid_review_is_rejected_with_a_reason(body: bytes, complaint: str) -> None:
    with pytest.raises(InvalidArgument, match=complaint):
        read_review(body)


@pytest.mark.parametrize(
    "obj", [None, {**SITE, "spec": {"replicas": "many"}}], ids=["nothing", "another shape"]
)
def test_an_object_that_does_not_decode_is_denied(obj: Any) -> None:
    with pytest.raises(Denied) as caught:
        objects_of(read_review(a_review(object=obj)), Website)

    assert caught.value.code == 400


def test_the_response_to_a_change_is_the_difference() -> None:
    review_request = read_review(a_review())
    site, _ = objects_of(review_request, Website)
    before = site.to_dict()
    site.spec.replicas = 5
    site.metadata.labels["tier"] = "front"

    response = msgspec.json.decode(allow_response("42", patch=patch_between(before, site, Website)))

    patch = msgspec.json.decode(base64.b64decode(response["response"]["patch"]))
    changed: Any = apply_json_patch(SITE, patch)
    assert response["response"]["patchType"] == "JSONPatch"
    assert changed["spec"] == {"image": "nginx", "replicas": 5, "newerThanUs": {"a": 1}}
    assert changed["metadata"]["labels"] == {"tier": "front"}


def test_no_change_is_no_patch() -> None:
    site = Website.from_dict(SITE)

    assert patch_between(site.to_dict(), site, Website) is None
    assert msgspec.json.decode(allow_response("42"))["response"] == {"uid": "42", "allowed": True}


@pytest.mark.parametrize(
    "spec", [{"image": "x"}, {"image": "x", "replicas": None}, {}, None], ids=repr
)
def test_a_change_of_a_default_applies_to_an_object_that_lacks_the_field(
    spec: Any,
) -> None:
    """The server refuses to replace what is not there."""
    sent = {**SITE, "spec": spec, "fromTheFuture": 1}
    site = Website.from_dict({**sent, "spec": spec or {}})
    before = site.to_dict()

    site.spec.replicas = 5
    patch = patch_between(before, site, Website, sent=sent)

    assert patch is not None
    patched: Any = apply_json_patch(sent, msgspec.json.decode(patch))
    assert patched["spec"]["replicas"] == 5
    assert patched["fromTheFuture"] == 1


def test_a_mutation_returns_the_object() -> None:
    with pytest.raises(InvalidArgument, match="mutate returned 5"):
        patch_between(SITE, 5, Website)


def test_a_denial_has_a_reason() -> None:
    response = msgspec.json.decode(
        deny_response("42", "no", code=403, reason="Forbidden", warnings=["old"])
    )

    assert response["response"] == {
        "uid": "42",
        "allowed": False,
        "status": {"status": "Failure", "message": "no", "code": 403, "reason": "Forbidden"},
        "warnings": ["old"],
    }


# --- conversion


class OldSpec(Model):
    image: str = ""
    count: int = 1


class OldWebsite(
    Resource, group="example.com", version="v1beta1", kind="Website", plural="websites"
):
    spec: OldSpec


class OldestWebsite(
    Resource, group="example.com", version="v1alpha1", kind="Website", plural="websites"
):
    spec: OldSpec


def to_new(old: OldWebsite) -> Website:
    return Website(spec=WebsiteSpec(image=old.spec.image, replicas=old.spec.count))


def to_old(new: Website) -> OldWebsite:
    return OldWebsite(spec=OldSpec(image=new.spec.image, count=new.spec.replicas))


@pytest.fixture
def conversions() -> Conversions:
    known = Conversions()
    known.add(OldWebsite, Website, to_new)
    known.add(Website, OldWebsite, to_old)
    known.add(OldestWebsite, OldWebsite, lambda oldest: OldWebsite(spec=oldest.spec))
    return known


def an_old_site(version: str = "v1beta1") -> dict[str, Any]:
    metadata = {"name": "shop", "uid": "7", "labels": {"a": "b"}}
    return {
        "apiVersion": f"example.com/{version}",
        "kind": "Website",
        "metadata": metadata,
        "spec": {"image": "nginx", "count": 4},
    }


@pytest.mark.parametrize("version", ["v1beta1", "v1alpha1"], ids=["one step", "two steps"])
def test_a_converted_object_keeps_its_identity(conversions: Conversions, version: str) -> None:
    found = conversions.convert(an_old_site(version), "example.com/v1")

    assert found["apiVersion"] == "example.com/v1"
    assert found["spec"] == {"image": "nginx", "replicas": 4}
    assert found["metadata"] == {"name": "shop", "uid": "7", "labels": {"a": "b"}}


def test_an_object_in_the_desired_version_needs_no_function(conversions: Conversions) -> None:
    assert conversions.convert(an_old_site(), "example.com/v1beta1") == an_old_site()


def a_conversion_review(*objects: dict[str, Any], version: str = "example.com/v1") -> bytes:
    request = {"uid": "1", "desiredAPIVersion": version, "objects": objects}
    return msgspec.json.encode(
        {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": request}
    )


def test_the_response_has_all_objects_in_order(conversions: Conversions) -> None:
    response = msgspec.json.decode(
        conversions.respond(a_conversion_review(an_old_site(), an_old_site("v1alpha1")))
    )

    assert response["response"]["result"] == {"status": "Success"}
    assert [each["apiVersion"] for each in response["response"]["convertedObjects"]] == [
        "example.com/v1"
    ] * 2


def test_an_object_without_a_conversion_fails_the_review(conversions: Conversions) -> None:
    response = msgspec.json.decode(
        conversions.respond(a_conversion_review(an_old_site(), version="example.com/v9"))
    )

    assert response["response"]["result"]["status"] == "Failure"
    assert "from example.com/v1beta1 to example.com/v9" in response["response"]["result"]["message"]


@pytest.mark.parametrize(
    "body", [b"{", b"{}", a_conversion_review().replace(b"ConversionReview", b"AdmissionReview")]
)
def test_an_invalid_conversion_review_is_rejected(conversions: Conversions, body: bytes) -> None:
    with pytest.raises(InvalidArgument, match="conversion review"):
        conversions.respond(body)


def test_a_wrong_result_of_a_conversion_is_reported_with_the_key() -> None:
    known = Conversions()
    known.add(OldWebsite, Website, lambda old: old)

    response = msgspec.json.decode(known.respond(a_conversion_review(an_old_site())))

    assert "shop: the function returned" in response["response"]["result"]["message"]
    assert (known.converted, known.failed) == (0, 1)


def test_a_failed_conversion_is_reported_with_the_key_and_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    known = Conversions()

    def convert(old: OldWebsite) -> Website:
        raise ValueError("no such field")

    known.add(OldWebsite, Website, convert)
    response = msgspec.json.decode(known.respond(a_conversion_review(an_old_site())))

    assert response["response"]["result"]["message"] == "shop: no such field"
    assert "shop: conversion to example.com/v1 failed" in caplog.text


def test_two_kinds_are_not_converted() -> None:
    class Other(Resource, group="example.com", version="v1", plural="others"):
        """Another kind."""

    with pytest.raises(InvalidArgument, match="not two versions of one kind"):
        Conversions().add(Website, Other, lambda site: site)


def test_a_review_request_has_empty_defaults() -> None:
    assert read_review(a_review(object=None)).object is None
    assert isinstance(read_review(a_review()), ReviewRequest)
