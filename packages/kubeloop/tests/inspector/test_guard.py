"""Which requests may see the page; `kit` tests hosts and origins."""

from __future__ import annotations

import pytest
from multidict import CIMultiDict

from kubeloop.errors import InvalidArgument
from kubeloop.inspector.guard import Allowed, Denied, Guard, TokenAccepted, Verdict


def check(guard: Guard, host: str = "localhost", *, token: str = "", cookie: str = "") -> Verdict:
    return guard.check(CIMultiDict({"Host": host}), token=token, cookie=cookie)


@pytest.mark.parametrize("host", ["localhost:8090", "127.0.0.1:8090", "[::1]:8090"])
def test_loopback_names_are_allowed(host: str) -> None:
    assert check(Guard("127.0.0.1"), host) == Allowed()


def test_other_names_are_denied_because_of_dns_rebinding() -> None:
    verdict = check(Guard("127.0.0.1"), "evil.example.com")

    assert isinstance(verdict, Denied)
    assert verdict.code == 403


def test_a_name_in_allow_hosts_is_allowed() -> None:
    assert check(Guard("127.0.0.1", allow_hosts=["dev.example.com"]), "dev.example.com") == (
        Allowed()
    )


def test_an_invalid_allowed_host_is_rejected() -> None:
    with pytest.raises(InvalidArgument, match="allow_hosts: 'http://x' is not a host"):
        Guard("127.0.0.1", allow_hosts=["http://x"])


def test_an_address_other_than_loopback_gets_a_new_token() -> None:
    first, second = Guard("0.0.0.0"), Guard("0.0.0.0")

    assert first.token
    assert first.token != second.token
    assert Guard("127.0.0.1").token is None


def test_a_token_in_the_url_is_accepted_and_the_cookie_allows_requests() -> None:
    guard = Guard("0.0.0.0", "open-sesame")

    assert check(guard, "x", token="open-sesame") == TokenAccepted()
    assert check(guard, "x", cookie="open-sesame") == Allowed()


@pytest.mark.parametrize(("token", "cookie"), [("", ""), ("guess", ""), ("", "guess"), ("ö", "é")])
def test_a_request_without_the_token_is_denied(token: str, cookie: str) -> None:
    verdict = check(Guard("127.0.0.1", "open-sesame"), token=token, cookie=cookie)

    assert isinstance(verdict, Denied)
    assert verdict.code == 401
    assert "open-sesame" not in verdict.reason


def test_an_empty_token_is_rejected() -> None:
    with pytest.raises(InvalidArgument, match="the token is empty"):
        Guard("127.0.0.1", " ")


def test_the_token_is_not_in_the_repr() -> None:
    assert "open-sesame" not in repr(Guard("0.0.0.0", "open-sesame"))
