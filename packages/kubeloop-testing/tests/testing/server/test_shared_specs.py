"""Specs that many objects share."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kubeloop_testing.server.storage.store import entry_of
from kubeloop_testing.server.values.shared_specs import (
    MAX_SIZE,
    decode_shared,
    share,
    shared_text,
    text_of,
    with_shared_spec,
)
from tests.testing.server.conftest import Api
from tests.testing.server.server_objects import PODS, pod


def _spec(name: str) -> dict[str, Any]:
    return {"containers": [{"name": name, "image": "app"}]}


def test_equal_specs_become_one_object() -> None:
    one, two = share(_spec("equal")), share(_spec("equal"))

    assert one is two
    assert shared_text(one) == text_of(_spec("equal")) == msgspec.json.encode(one)


def test_a_large_spec_is_not_shared() -> None:
    large = {"x": "y" * MAX_SIZE}

    assert share(large) is large
    assert shared_text(large) is None


def test_the_number_of_shared_specs_is_bounded() -> None:
    first = share(_spec("first"))
    for number in range(2000):
        share(_spec(f"other-{number}"))

    assert shared_text(first) is None
    assert share(_spec("first")) == first


def test_an_object_with_a_shared_spec_is_encoded_as_any_other() -> None:
    obj = {"kind": "Pod", "metadata": {"name": "a"}, "spec": _spec("encoded"), "status": {}}

    plain, shared = entry_of(obj, 7), entry_of(with_shared_spec(obj), 7)

    assert shared_text(with_shared_spec(obj)["spec"]) is not None
    assert shared.tail == plain.tail


@pytest.mark.parametrize(
    ("body", "is_canonical"),
    [
        (b'{"kind":"Pod","spec":%b}\n', True),
        (b'{"kind": "Pod","spec":%b}', False),
        (b'{"kind":"Pod","kind":"Pod","spec":%b}', False),
        (b'{"metadata":{"name":"a","name":"b"},"spec":%b}', False),
        (b'{"spec":{},"spec":%b}', False),
    ],
)
def test_a_body_with_a_known_spec_is_decoded_with_it(body: bytes, is_canonical: bool) -> None:
    spec = share(_spec("known"))
    raw = body % text_of(spec)

    found = decode_shared(raw)

    assert found is not None
    assert found.obj == msgspec.json.decode(raw)
    assert found.obj["spec"] is spec
    assert found.is_canonical is is_canonical


@pytest.mark.parametrize("raw", [b"", b"null", b"[1]", b"{", b'{"spec":3}', b'{"spec":{}}x'])
def test_any_other_body_is_left_to_the_usual_decoder(raw: bytes) -> None:
    assert decode_shared(raw) is None


async def test_a_key_that_occurs_twice_is_reported_for_a_known_spec_too(api: Api) -> None:
    await api.create(PODS, pod("a"))
    body = msgspec.json.encode(pod("b"))
    twice = body.replace(b'"name":"b"', b'"name":"x","name":"b"', 1)
    headers = {"Content-Type": "application/json"}

    async with api.session.post(PODS, data=twice, headers=headers) as response:
        assert response.status == 201
        assert 'duplicate field \\"metadata.name\\"' in response.headers["Warning"]
