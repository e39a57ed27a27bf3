"""Who may see the page; which hosts and origins are a machine's own is tested in `kit`."""

from __future__ import annotations

import pytest
from multidict import CIMultiDict

from kubeloop.errors import InvalidArgument
from kubeloop.inspector.guard import Admitted, Guard, NewlyAdmitted, Refused, Verdict


def asked(guard: Guard, host: str = "localhost", *, shown: str = "", cookie: str = "") -> Verdict:
    return guard.judge(CIMultiDict({"Host": host}), shown=shown, cookie=cookie)


@pytest.mark.parametrize("host", ["localhost:8090", "127.0.0.1:8090", "[::1]:8090"])
def test_names_of_this_machine_are_answered_to(host: str) -> None:
    assert asked(Guard("127.0.0.1"), host) == Admitted()


def test_other_names_are_refused_because_they_may_be_rebound() -> None:
    verdict = asked(Guard("127.0.0.1"), "evil.example.com")

    assert isinstance(verdict, Refused)
    assert verdict.code == 403


def test_a_name_that_is_allowed_is_answered_to() -> None:
    assert asked(Guard("127.0.0.1", allow_hosts=["dev.example.com"]), "dev.example.com") == (
        Admitted()
    )


def test_an_allowed_host_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="allow_hosts: 'http://x' is not a host"):
        Guard("127.0.0.1", allow_hosts=["http://x"])


def test_an_address_other_than_loopback_gets_a_new_token() -> None:
    first, second = Guard("0.0.0.0"), Guard("0.0.0.0")

    assert first.token
    assert first.token != second.token
    assert Guard("127.0.0.1").token is None


def test_a_token_in_the_address_becomes_a_cookie_and_the_cookie_admits() -> None:
    guard = Guard("0.0.0.0", "open-sesame")

    assert asked(guard, "x", shown="open-sesame") == NewlyAdmitted()
    assert asked(guard, "x", cookie="open-sesame") == Admitted()


@pytest.mark.parametrize(("shown", "cookie"), [("", ""), ("guess", ""), ("", "guess"), ("ö", "é")])
def test_a_request_without_the_token_is_denied(shown: str, cookie: str) -> None:
    verdict = asked(Guard("127.0.0.1", "open-sesame"), shown=shown, cookie=cookie)

    assert isinstance(verdict, Refused)
    assert verdict.code == 401
    assert "open-sesame" not in verdict.reason


def test_an_empty_token_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="the token is empty"):
        Guard("127.0.0.1", " ")


def test_the_token_is_in_no_repr() -> None:
    assert "open-sesame" not in repr(Guard("0.0.0.0", "open-sesame"))
