"""Which requests to a local server may come from a web page."""

from __future__ import annotations

import pytest
from multidict import CIMultiDict

from kubeloop.kit import HostGuard, RequestRefused, foreign_origin, is_loopback

LOCAL = HostGuard("127.0.0.1")


def refused(guard: HostGuard, *headers: tuple[str, str], target: str = "/") -> int | None:
    found = guard.check(CIMultiDict(headers), target=target)
    return found.code if found is not None else None


@pytest.mark.parametrize(
    "host",
    [
        "localhost", "LOCALHOST:8090", "localhost.", "localhost.:80", "web.localhost:80",
        "127.0.0.1", "127.0.0.1:8090", "127.8.9.1", "[::1]", "[::1]:8090", "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]:80", "localhost:",
    ],
)  # fmt: skip
def test_loopback_names_are_accepted(host: str) -> None:
    assert refused(LOCAL, ("Host", host)) is None


@pytest.mark.parametrize(
    "host",
    [
        "", ":80", "evil.example.com", "evil.example.com:8090", "localhost.evil.com",
        "127.0.0.1.evil.com", "evillocalhost", "10.0.0.7:80", "[::2]", "::1", "[::1", "[::1]x",
        "[localhost]", "0.0.0.0", "localhost:80:80", "localhost:99999", "localhost:x",
        "evil@localhost", "localhost/evil", "localhost evil", "[::ffff:10.0.0.1]",
    ],
)  # fmt: skip
def test_other_names_are_refused_because_they_may_be_rebound(host: str) -> None:
    assert refused(LOCAL, ("Host", host)) == 403


def test_a_request_names_exactly_one_host() -> None:
    assert refused(LOCAL) == 400
    assert refused(LOCAL, ("Host", "localhost"), ("Host", "evil.example.com")) == 400
    assert refused(LOCAL, ("Host", "localhost"), ("host", "localhost")) == 400


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("http://localhost:80/api", None),
        ("/api?from=http://evil.example.com/", None),
        ("*", None),
        ("http://evil.example.com/api", 403),
        ("HTTP://evil.example.com?/localhost", 403),
        ("http://localhost@evil.example.com/", 403),
        ("http:///api", 403),
    ],
)
def test_the_host_of_an_absolute_target_counts_too(target: str, code: int | None) -> None:
    assert refused(LOCAL, ("Host", "localhost"), target=target) == code


@pytest.mark.parametrize(
    "origin", ["http://localhost:8001", "HTTP://LOCALHOST:8001", "http://localhost.:8001"]
)
def test_the_servers_own_pages_may_ask(origin: str) -> None:
    assert refused(LOCAL, ("Host", "localhost:8001"), ("Origin", origin)) is None


def test_an_origin_without_a_port_has_that_of_its_scheme() -> None:
    secure = HostGuard("127.0.0.1", secure=True)

    assert refused(LOCAL, ("Host", "localhost:80"), ("Origin", "http://localhost")) is None
    assert refused(LOCAL, ("Host", "localhost"), ("Origin", "http://localhost:80")) is None
    assert refused(secure, ("Host", "localhost"), ("Origin", "https://localhost:443")) is None


@pytest.mark.parametrize(
    "origin",
    [
        "null", "", "http://evil.example.com", "http://localhost", "http://localhost:3000",
        "https://localhost:8001", "http://127.0.0.1:8001", "http://a.localhost:8001",
        "ws://localhost:8001", "localhost:8001", "http://localhost:8001/", "file://",
        "http://localhost:8001 http://evil.example.com", "chrome-extension://abc",
    ],
)  # fmt: skip
def test_pages_of_other_origins_are_refused(origin: str) -> None:
    assert refused(LOCAL, ("Host", "localhost:8001"), ("Origin", origin)) == 403


def test_a_second_origin_does_not_hide_the_first() -> None:
    own, other = ("Origin", "http://localhost:1"), ("Origin", "http://evil.example.com")

    assert refused(LOCAL, ("Host", "localhost:1"), own, other) == 403
    assert refused(LOCAL, ("Host", "localhost:1"), other, own) == 403


@pytest.mark.parametrize(
    ("site", "code"),
    [("none", None), ("same-origin", None), ("same-site", 403), ("cross-site", 403), ("x", 403)],
)
def test_requests_without_an_origin_are_judged_by_their_site(site: str, code: int | None) -> None:
    assert refused(LOCAL, ("Host", "localhost"), ("Sec-Fetch-Site", site)) == code


def test_allowed_names_are_accepted_as_host_and_as_origin() -> None:
    guard = HostGuard("127.0.0.1", allow_hosts=["Dev.Example.com", "localhost:3000", "::2"])
    page = ("Sec-Fetch-Site", "cross-site"), ("Origin", "https://dev.example.com:8443")

    assert refused(guard, ("Host", "dev.example.com:8001")) is None
    assert refused(guard, ("Host", "[::2]:8001")) is None
    assert refused(guard, ("Host", "localhost:8001"), *page) is None
    assert refused(guard, ("Host", "localhost:8001"), ("Origin", "http://localhost:3000")) is None
    assert refused(guard, ("Host", "localhost:8001"), ("Origin", "http://localhost:3001")) == 403
    assert refused(guard, ("Host", "other.example.com")) == 403


@pytest.mark.parametrize("entry", ["", "http://x", "a b", "x:y", "*", "[::1"])
def test_a_malformed_allowed_host_is_rejected(entry: str) -> None:
    with pytest.raises(ValueError, match="is not a host"):
        HostGuard("127.0.0.1", allow_hosts=[entry])


def test_beyond_loopback_addresses_are_accepted_and_names_are_not() -> None:
    guard = HostGuard("0.0.0.0")

    assert refused(guard, ("Host", "10.0.0.7:8001")) is None
    assert refused(guard, ("Host", "[fd00::1]:8001")) is None
    assert refused(guard, ("Host", "localhost")) is None
    assert refused(guard, ("Host", "evil.example.com")) == 403


def test_the_name_that_a_server_listens_at_is_accepted() -> None:
    assert refused(HostGuard("box.example.com"), ("Host", "BOX.example.com:8001")) is None


def test_a_refusal_says_what_to_do_and_shows_no_control_characters() -> None:
    found = HostGuard("127.0.0.1", option="--allow-host").check(
        CIMultiDict({"Host": "evil\x1b[31m\u202e" + "x" * 500})
    )

    assert found is not None
    assert "--allow-host" in found.message
    assert found.message.isprintable()
    assert found.message.isascii()
    assert len(found.message) < 400


def test_many_hosts_do_not_fill_the_memory() -> None:
    guard = HostGuard("127.0.0.1")
    for number in range(1000):
        assert refused(guard, ("Host", f"a{number}.localhost")) is None

    assert len(guard._good) <= 64


def test_servers_that_accept_any_host_reject_foreign_origins() -> None:
    def check(**headers: str) -> RequestRefused | None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return foreign_origin(CIMultiDict({"Host": "10.0.0.7:8081", **named}))

    assert check() is None
    assert check(Origin="http://10.0.0.7:8081", Sec_Fetch_Site="same-origin") is None
    assert check(Sec_Fetch_Site="none") is None
    assert check(Origin="http://evil.example.com") is not None
    assert check(Origin="null") is not None
    assert check(Sec_Fetch_Site="cross-site") is not None


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "example.com", "", "10.1.2.3"])
def test_only_this_machine_is_loopback(host: str) -> None:
    assert not is_loopback(host)
