"""Signed tokens: only signatures of the given keys are accepted."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubeloop.wire import InvalidArgument
from kubeloop_testing.server.access.signing import BadToken, SigningKey, verify

KEY = SigningKey()
CLAIMS = {"sub": "ann", "exp": 1}


def _part(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def test_what_was_signed_is_read_back() -> None:
    assert verify(KEY.sign(CLAIMS), [KEY]) == CLAIMS


def test_a_key_kept_as_pem_is_the_same_key() -> None:
    again = SigningKey(KEY.pem)

    assert again.key_id == KEY.key_id
    assert verify(KEY.sign(CLAIMS), [again]) == CLAIMS


def test_another_key_is_not_accepted() -> None:
    with pytest.raises(BadToken):
        verify(SigningKey().sign(CLAIMS), [KEY])


@pytest.mark.parametrize("algorithm", ["none", "HS256", "RS256", ""])
def test_no_other_algorithm_is_accepted(algorithm: str) -> None:
    body = KEY.sign(CLAIMS).split(".")[1]
    token = f"{_part({'alg': algorithm, 'kid': KEY.key_id})}.{body}."

    with pytest.raises(BadToken):
        verify(token, [KEY])


def test_changed_claims_are_not_accepted() -> None:
    head, _, signature = KEY.sign(CLAIMS).split(".")

    with pytest.raises(BadToken):
        verify(f"{head}.{_part({'sub': 'eve'})}.{signature}", [KEY])


@settings(max_examples=50)
@given(st.text() | st.tuples(st.text(), st.text(), st.text()).map(".".join))
def test_any_text_is_a_token_or_a_bad_token(text: str) -> None:
    with pytest.raises(BadToken):
        verify(text, [KEY])


@pytest.mark.parametrize("pem", [b"x", b"-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----"])
def test_a_pem_that_is_no_key_is_an_error_of_ours(pem: bytes) -> None:
    with pytest.raises(InvalidArgument, match="signing key"):
        SigningKey(pem)


def test_the_public_key_is_shown_without_the_private_one() -> None:
    assert KEY.jwk()["kid"] == KEY.key_id
    assert "d" not in KEY.jwk()
    assert "PRIVATE" not in repr(KEY)
