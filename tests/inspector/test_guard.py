"""Who may see the page."""

from __future__ import annotations

import pytest

from kubeloop.inspector.guard import Admitted, Guard, NewlyAdmitted, Refused, is_loopback
from kubeloop.machinery import InvalidValue


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8090", "127.0.0.1:8090", "127.8.9.1", "[::1]:8090", "[::1]"]
)
def test_names_of_this_machine_are_answered_to(host: str) -> None:
    assert Guard("127.0.0.1").judge(host=host, shown="", cookie="") == Admitted()


@pytest.mark.parametrize(
    "host", ["", "evil.example.com", "evil.example.com:8090", "localhost.evil.com", "10.0.0.7:80"]
)
def test_other_names_are_refused_because_they_may_be_rebound(host: str) -> None:
    verdict = Guard("127.0.0.1").judge(host=host, shown="", cookie="")

    assert isinstance(verdict, Refused)
    assert verdict.code == 421


def test_an_address_that_others_reach_has_a_token_of_its_own() -> None:
    first, second = Guard("0.0.0.0"), Guard("0.0.0.0")

    assert first.token
    assert first.token != second.token
    assert Guard("127.0.0.1").token is None


def test_a_token_in_the_address_becomes_a_cookie_and_the_cookie_admits() -> None:
    guard = Guard("0.0.0.0", "open-sesame")

    assert guard.judge(host="x", shown="open-sesame", cookie="") == NewlyAdmitted()
    assert guard.judge(host="x", shown="", cookie="open-sesame") == Admitted()


@pytest.mark.parametrize(("shown", "cookie"), [("", ""), ("guess", ""), ("", "guess"), ("ö", "é")])
def test_without_the_token_nothing_is_said(shown: str, cookie: str) -> None:
    verdict = Guard("127.0.0.1", "open-sesame").judge(host="localhost", shown=shown, cookie=cookie)

    assert isinstance(verdict, Refused)
    assert verdict.code == 401
    assert "open-sesame" not in verdict.reason


def test_an_empty_token_is_refused() -> None:
    with pytest.raises(InvalidValue, match="the token is empty"):
        Guard("127.0.0.1", " ")


def test_the_token_is_in_no_repr() -> None:
    assert "open-sesame" not in repr(Guard("0.0.0.0", "open-sesame"))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "example.com", "", "10.1.2.3"])
def test_only_this_machine_is_loopback(host: str) -> None:
    assert not is_loopback(host)
