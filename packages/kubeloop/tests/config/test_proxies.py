"""One choice of proxy for requests, watches and WebSockets."""

from __future__ import annotations

import pytest

from kubeloop.config import ConfigError, ProxyRules, proxy_for

BOTH = {"HTTP_PROXY": "http://plain", "HTTPS_PROXY": "http://safe:3128"}


def test_a_configured_proxy_wins_over_the_environment() -> None:
    """CFG-30, TRN-11, needs 32: also over NO_PROXY."""
    environ = {**BOTH, "NO_PROXY": "*"}

    assert proxy_for("https://h", proxy_url="socks5://p", environ=environ) == "socks5://p"


@pytest.mark.parametrize(
    ("url", "proxy"),
    [
        ("http://h", "http://plain"),
        ("ws://h", "http://plain"),
        ("https://h", "http://safe:3128"),
        ("wss://h", "http://safe:3128"),
        ("https://localhost:6443", None),
        ("https://127.0.0.9", None),
        ("https://[::1]", None),
    ],
)
def test_the_environment_has_a_proxy_by_scheme_and_none_for_this_machine(
    url: str, proxy: str | None
) -> None:
    """TRN-11, CFG-C12: an empty proxy-url means the environment."""
    assert proxy_for(url, proxy_url="", environ=BOTH) == proxy


def test_capitals_win_and_small_letters_count() -> None:
    rules = ProxyRules.from_environ({"HTTPS_PROXY": "http://A", "https_proxy": "http://b"})
    small = ProxyRules.from_environ({"https_proxy": "b:80", "no_proxy": "x"})

    assert rules.for_url("https://h") == "http://A"
    assert small.for_url("https://h") == "http://b:80"
    assert small.for_url("https://x") is None


def test_a_cgi_programs_http_proxy_is_not_trusted() -> None:
    environ = {"REQUEST_METHOD": "GET", **BOTH}

    assert proxy_for("http://h", environ=environ) is None


@pytest.mark.parametrize(
    ("no_proxy", "url", "direct"),
    [
        ("*", "https://h", True),
        ("example.com", "https://example.com", True),
        ("example.com", "https://api.example.com", True),
        ("example.com", "https://badexample.com", False),
        ("EXAMPLE.com", "https://Api.Example.Com.", True),
        (".example.com", "https://example.com", False),
        (".example.com", "https://api.example.com", True),
        ("*.example.com", "https://api.example.com", True),
        ("*.example.com", "https://example.com", False),
        ("example.com:6443", "https://example.com:6443", True),
        ("example.com:6443", "https://example.com", False),
        ("example.com:443", "https://example.com", True),
        ("10.0.0.0/8", "https://10.1.2.3:6443", True),
        ("10.0.0.0/8", "https://11.1.2.3", False),
        ("10.0.0.0/8", "https://ten.example.com", False),
        ("fd00::/8", "https://[fd12::1]:6443", True),
        ("10.0.0.1", "https://10.0.0.1", True),
        ("10.0.0.1:80", "https://10.0.0.1", False),
        ("fd00::1", "https://[fd00::1]", True),
        ("[fd00::1]:443", "https://[fd00::1]", True),
        ("a, b ,,", "https://b", True),
        ("10.0.0.0/99", "https://10.0.0.1", False),
        ("example.com:²", "https://example.com:2", False),
        ("[fe80::1]:²", "https://example.com:2", False),
    ],
)
def test_no_proxy_knows_names_addresses_networks_and_ports(
    no_proxy: str, url: str, direct: bool
) -> None:
    """TRN-11: what NO_PROXY may contain."""
    found = proxy_for(url, environ={**BOTH, "NO_PROXY": no_proxy})

    assert (found is None) is direct


@pytest.mark.parametrize(
    "proxy",
    ["ftp://u:s3cret@h", "http://u:s3cret@[", "http://", "http://u:s3cret@h:abc", "h:99999"],
)
def test_a_proxy_of_the_environment_that_is_none_is_an_error(proxy: str) -> None:
    with pytest.raises(ConfigError, match="correct HTTP_PROXY or HTTPS_PROXY") as caught:
        proxy_for("https://h", environ={"HTTPS_PROXY": proxy})

    assert "s3cret" not in str(caught.value)
    assert "s3cret" not in repr(ProxyRules.from_environ({"HTTPS_PROXY": proxy}))
