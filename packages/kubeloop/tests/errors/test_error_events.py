"""The error of an ERROR event of a watch."""

from __future__ import annotations

import pytest

from kubeloop.errors import DecodeError, Expired, error_from_event


def test_a_status_becomes_the_error_of_its_reason() -> None:
    body = b'{"kind": "Status", "apiVersion": "v1", "code": 410, "reason": "Expired"}'

    error = error_from_event("watch pods", body)

    assert isinstance(error, Expired)
    assert str(error).startswith("watch pods: 410")


@pytest.mark.parametrize(
    "body",
    [b"{", b'"text"', b"[]", b'{"kind": "Pod", "apiVersion": "v1"}', b"\xff", b"[" * 5000],
    ids=["half", "text", "list", "another kind", "no UTF-8", "too deep"],
)
def test_anything_else_is_a_decode_error(body: bytes) -> None:
    with pytest.raises(DecodeError):
        error_from_event("watch pods", body)
